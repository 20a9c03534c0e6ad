package gosdkv3

import (
	"strings"
	"testing"

	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

func TestPartitionQuota(t *testing.T) {
	t.Parallel()
	c := connect(t, &limited)
	createStream(t, c, "s", 50)
	refuse(t, "DIS.4308", "", c.CreateStream, newStream("one-more", 1))
	refuse(t, "DIS.4308", "", c.UpdatePartitionCount, rescale("s", 51))
	advanced := newStream("advanced", 11)
	advanced.Body.StreamType = new(model.GetCreateStreamReqStreamTypeEnum().ADVANCED)
	refuse(t, "DIS.4308", "", c.CreateStream, advanced)
	advanced.Body.PartitionCount = 10
	succeed(t, 201, c.CreateStream, advanced)
	succeed(t, 200, c.UpdatePartitionCount, rescale("s", 49))
	createStream(t, c, "one-more", 1)
}

// What a partition cannot take is refused record by record, inside a 200.
func TestWritesThrottled(t *testing.T) {
	t.Parallel()
	c := connect(t, &limited)
	createStream(t, c, "s", 2)
	var entries []model.PutRecordsRequestEntry
	for range 1500 {
		entries = append(entries, entryTo("0", "x"))
	}
	entries = append(entries, entryTo("1", "x"))
	answer := succeed(t, 200, c.SendRecords, send("s", entries...))
	codes := map[string]int32{}
	for _, place := range places(answer) {
		if strings.HasPrefix(place, "DIS.") {
			codes[place]++
		}
	}
	if *answer.FailedRecordCount < 400 || codes["DIS.4303"] != *answer.FailedRecordCount {
		t.Errorf("%d records failed, by code: %v", *answer.FailedRecordCount, codes)
	}
	equal(t, "the record for the other partition", places(answer)[1500], "shardId-0000000001:0")

	throttled := model.GetShowStreamMetricsRequestLabelEnum().TRAFFIC_CONTROL_PUT
	if total(t, succeed(t, 200, c.ShowStreamMetrics, streamMetric("s", throttled)).Metrics) == 0 {
		t.Error("the metrics know of no throttling")
	}
}

// What a partition cannot give is refused as a whole.
func TestReadsThrottled(t *testing.T) {
	t.Parallel()
	c := connect(t, &limited)
	createStream(t, c, "s", 1)
	put(t, c, "s", strings.Repeat("x", 1<<20))
	request := get(cursor(t, c, "s", "0", cursorTypes.TRIM_HORIZON))
	for range 50 {
		if _, err := c.ConsumeRecords(request); err != nil {
			checkRefusal(t, "ConsumeRecords", err, 400, "DIS.4303", "")
			return
		}
	}
	t.Error("50 MB were read from a partition that gives 2 MB in a second")
}
