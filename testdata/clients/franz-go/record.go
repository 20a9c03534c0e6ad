package main

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/testdata/clients/records"
)

func toFranz(topic string, r records.Record) *kgo.Record {
	record := &kgo.Record{Topic: topic, Partition: r.Partition, Timestamp: time.UnixMilli(r.Timestamp), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		record.Headers = append(record.Headers, kgo.RecordHeader(h))
	}
	return record
}

func fromFranz(r *kgo.Record) records.Record {
	record := records.Record{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset,
		Timestamp: r.Timestamp.UnixMilli(), Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		record.Headers = append(record.Headers, records.Header(h))
	}
	return record
}
