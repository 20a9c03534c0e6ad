package oracle

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of the requests that helpers build, the newest that name topics.
const (
	produceVersion     = 12
	fetchVersion       = 12
	listOffsetsVersion = 6
	metadataVersion    = 12
)

// Topic creates a topic of this scenario, with pairs of a configuration key and
// value, and waits until all partitions can be used. It writes nothing down.
func (r *Run) Topic(name string, partitions int, configs ...string) {
	c := r.Conn("setup")
	defer c.Close()
	resp := c.Ask("", r.CreateTopicsRequest(name, partitions, configs...)).(*kmsg.CreateTopicsResponse)
	if code := resp.Topics[0].ErrorCode; code != 0 {
		r.Fatalf("creating topic %s: %s", name, codeName(code))
	}
	id := resp.Topics[0].TopicID
	r.names.call(kindTopic, string(id[:]), "id("+name+")")
	r.Usable(name, partitions)
}

// Usable waits until all partitions of a topic can be read and written.
func (r *Run) Usable(name string, partitions int) {
	c := r.Conn("setup")
	defer c.Close()
	for p := range partitions {
		r.Eventually(fmt.Sprintf("partition %s/%d to be there", name, p), func() bool {
			resp := c.Ask("", r.ListOffsetsRequest(name, int32(p), -1)).(*kmsg.ListOffsetsResponse)
			return resp.Topics[0].Partitions[0].ErrorCode == 0
		})
	}
}

// CreateTopicsRequest is version 7 for a topic of this scenario.
func (r *Run) CreateTopicsRequest(name string, partitions int, configs ...string) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, int32(patience.Milliseconds())
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = r.Name(name), int32(partitions), 1
	for i := 0; i+1 < len(configs); i += 2 {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = configs[i], &configs[i+1]
		topic.Configs = append(topic.Configs, config)
	}
	req.Topics = append(req.Topics, topic)
	return req
}

// MetadataRequest asks for topics of this scenario, and does not create them.
func (r *Run) MetadataRequest(names ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = metadataVersion
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(r.Name(name))
		req.Topics = append(req.Topics, topic)
	}
	return req
}

// TopicID asks for the id of a topic.
func (r *Run) TopicID(name string) [16]byte {
	c := r.Conn("setup")
	defer c.Close()
	resp := c.Ask("", r.MetadataRequest(name)).(*kmsg.MetadataResponse)
	if code := resp.Topics[0].ErrorCode; code != 0 {
		r.Fatalf("asking for topic %s: %s", name, codeName(code))
	}
	return resp.Topics[0].TopicID
}

// ProduceRequest is version 12 with acks=all for one partition of a topic of this
// scenario.
func (r *Run) ProduceRequest(topic string, partition int32, records []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = produceVersion, -1, 20_000
	AddPartition(req, r.Name(topic), partition, records)
	return req
}

// AddPartition adds one to a Produce request, whose topic name is taken as it is.
func AddPartition(req *kmsg.ProduceRequest, topic string, partition int32, records []byte) {
	part := kmsg.NewProduceRequestTopicPartition()
	part.Partition, part.Records = partition, records
	if n := len(req.Topics); n > 0 && req.Topics[n-1].Topic == topic {
		req.Topics[n-1].Partitions = append(req.Topics[n-1].Partitions, part)
		return
	}
	t := kmsg.NewProduceRequestTopic()
	t.Topic = topic
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
}

// Produce writes one batch, which becomes a step.
func (c *Conn) Produce(label, topic string, partition int32, batch Batch, edit ...func(*kmsg.ProduceRequest)) {
	req := c.r.ProduceRequest(topic, partition, batch.Bytes())
	for _, change := range edit {
		change(req)
	}
	c.Ask(label, req)
}

// Attempt writes one batch to an empty partition and shows in one step the answer
// and all that the partition then holds.
func (c *Conn) Attempt(label, topic string, partition int32, batch Batch, edit ...func(*kmsg.ProduceRequest)) {
	req := c.r.ProduceRequest(topic, partition, batch.Bytes())
	for _, change := range edit {
		change(req)
	}
	p := c.Begin("", req)
	answer := p.show(p.settle(p.await()))
	c.r.step(label, append(answer, c.all(topic, partition)...))
}

// Fill writes a batch that must be accepted; it is no step.
func (c *Conn) Fill(topic string, partition int32, batch Batch) {
	resp := c.Ask("", c.r.ProduceRequest(topic, partition, batch.Bytes())).(*kmsg.ProduceResponse)
	if code := resp.Topics[0].Partitions[0].ErrorCode; code != 0 {
		c.r.Fatalf("filling %s/%d: %s", topic, partition, codeName(code))
	}
}

// FetchRequest is version 12 for one partition of a topic of this scenario, which
// waits for a byte for at most 500 ms.
func (r *Run) FetchRequest(topic string, partition int32, offset int64) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version = fetchVersion
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 500, 1, 50<<20
	req.SessionEpoch = -1
	t := kmsg.NewFetchRequestTopic()
	t.Topic = r.Name(topic)
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes = partition, offset, 50<<20
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	return req
}

// Fetch asks once for what is at an offset, which becomes a step. Records before
// it, which belong to the same batch, are left out as clients do.
func (c *Conn) Fetch(label, topic string, partition int32, offset int64, edit ...func(*kmsg.FetchRequest)) {
	req := c.r.FetchRequest(topic, partition, offset)
	for _, change := range edit {
		change(req)
	}
	p := c.Begin(label, req)
	p.from = offset
	p.Wait()
}

// FetchAll reads a partition from offset 0 to its end, in as many requests as it
// takes, and writes the records down as one step.
func (c *Conn) FetchAll(label, topic string, partition int32) {
	c.r.step(label, c.all(topic, partition))
}

func (c *Conn) all(topic string, partition int32) []string {
	latest, ok := c.Ask("", c.r.ListOffsetsRequest(topic, partition, -1)).(*kmsg.ListOffsetsResponse)
	if !ok || latest.Topics[0].Partitions[0].ErrorCode != 0 {
		c.r.Fatalf("asking for the end of %s/%d: %+v", topic, partition, latest)
	}
	end := latest.Topics[0].Partitions[0].Offset
	d := describer{r: c.r}
	for d.from < end {
		resp, ok := c.Ask("", c.r.FetchRequest(topic, partition, d.from)).(*kmsg.FetchResponse)
		if !ok || resp.Topics[0].Partitions[0].ErrorCode != 0 {
			c.r.Fatalf("fetching %s/%d at %d: %+v", topic, partition, d.from, resp)
		}
		raw := resp.Topics[0].Partitions[0].RecordBatches
		d.records(0, raw)
		for _, b := range c.r.batches(raw) {
			d.from = b.FirstOffset + int64(b.LastOffsetDelta) + 1
		}
	}
	d.line(0, fmt.Sprintf("end %d", end))
	return d.lines
}

// ListOffsetsRequest is version 6 for one partition of a topic of this scenario.
func (r *Run) ListOffsetsRequest(topic string, partition int32, timestamp int64) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = listOffsetsVersion, -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = r.Name(topic)
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp = partition, timestamp
	t.Partitions = append(t.Partitions, part)
	req.Topics = append(req.Topics, t)
	return req
}

// ListOffsets looks an offset up, which becomes a step.
func (c *Conn) ListOffsets(label, topic string, partition int32, timestamp int64, edit ...func(*kmsg.ListOffsetsRequest)) {
	req := c.r.ListOffsetsRequest(topic, partition, timestamp)
	for _, change := range edit {
		change(req)
	}
	c.Ask(label, req)
}
