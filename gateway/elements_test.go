package gateway

import (
	"context"
	"encoding/binary"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Every array of a request counts, so that a new one cannot be forgotten: with
// one entry in each, the count is the number of arrays of structs and names.
func TestElementsCountsEveryArray(t *testing.T) {
	for _, a := range apiTable(Config{}, Parts{}) {
		req := a.key.Request()
		want := fillArrays(reflect.ValueOf(req).Elem())
		if got := elements(req); got != want {
			t.Errorf("%s: %d elements, want %d", a.name, got, want)
		}
	}
}

// fillArrays puts one entry into each array and counts them; bytes are no array.
func fillArrays(v reflect.Value) (count int) {
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Kind() != reflect.Slice || field.Type().Elem().Kind() == reflect.Uint8 {
			continue
		}
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		count++
		if entry := field.Index(0); entry.Kind() == reflect.Struct {
			count += fillArrays(entry)
		}
	}
	return count
}

func TestRequestsThatNameTooMuchAreRefused(t *testing.T) {
	metadata := metadataFor(9)
	metadata.Topics = make([]kmsg.MetadataRequestTopic, maxElements+1)
	for i := range metadata.Topics {
		metadata.Topics[i].Topic = kmsg.StringPtr("t")
	}
	join := smallRequest(kmsg.JoinGroup, 5).(*kmsg.JoinGroupRequest)
	join.Protocols = make([]kmsg.JoinGroupRequestProtocol, maxProtocols+1)
	for _, c := range []struct {
		req  kmsg.Request
		says string
	}{
		{metadata, "Metadata request with 20001 elements or more; the limit is 20000"},
		{join, "JoinGroup request with 101 elements or more; the limit is 100"},
		{produceOfEmpty(7, maxElements), "Produce request with 20001 elements or more; the limit is 20000"},
		{produceOfEmpty(9, maxElements), "Produce request with 20001 elements or more; the limit is 20000"},
	} {
		b := newBench(t)
		bad := dial(t, b.listen())
		bad.nc.Write(bad.encode(c.req)) // the server may close before it has read all
		bad.closed()
		if lines := b.lines.all(); len(lines) != 1 || !strings.Contains(lines[0], c.says) {
			t.Errorf("log %q, want %q", lines, c.says)
		}
	}
	b := newBench(t)
	metadata.Topics = metadata.Topics[:maxElements]
	if got := len(dial(t, b.listen()).ask(metadata).(*kmsg.MetadataResponse).Topics); got == 0 {
		t.Error("a request at the limit is not answered")
	}
}

func produceOfEmpty(version int16, partitions int) *kmsg.ProduceRequest {
	req := &kmsg.ProduceRequest{Version: version, Acks: 1, Topics: []kmsg.ProduceRequestTopic{{Topic: "t"}}}
	req.Topics[0].Partitions = make([]kmsg.ProduceRequestTopicPartition, partitions)
	return req
}

func TestProduceElements(t *testing.T) {
	for version := range int16(14) {
		req := produceOfEmpty(version, 3)
		req.TransactionID = kmsg.StringPtr("some")
		for i := range req.Topics[0].Partitions {
			req.Topics[0].Partitions[i].Records = make([]byte, 100*i)
		}
		req.Topics = append(req.Topics, req.Topics[0], kmsg.ProduceRequestTopic{Topic: "none"})
		body := req.AppendTo(nil)
		if got := produceElements(body, version); got != 9 {
			t.Errorf("version %d: %d elements, want 9", version, got)
		}
		for cut := range body {
			if got := produceElements(body[:cut], version); got > 9 {
				t.Fatalf("version %d, cut to %d bytes: %d elements", version, cut, got)
			}
		}
	}
}

// A Produce frame of nothing but empty topics is refused before it is decoded.
func TestProduceIsCountedBeforeItIsDecoded(t *testing.T) {
	const topics = 1 << 20
	body := append([]byte{0, 0, 1, 0, 0, 0, 0}, binary.AppendUvarint(nil, topics+1)...)
	for range topics {
		body = append(body, 1, 1, 0)
	}
	body = append(body, 0)
	rest := append([]byte{0, 0, 0, 1, 0xff, 0xff, 0}, body...)
	var produce *api
	for _, a := range apiTable(Config{}, Parts{}) {
		if a.key == kmsg.Produce {
			produce = a
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := produce.decode(prefix{key: 0, version: 9}, rest)
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("it was accepted")
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
		t.Errorf("%d bytes were spent on %d", spent, len(rest))
	}
}

// A client that asks and never reads has few replies in memory.
func TestFewLookupsOfAConnectionAreOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var lookups atomic.Int64
		b.catalog.lookup = func(context.Context, string) error {
			lookups.Add(1)
			return nil
		}
		c := b.pipe()
		requests := []kmsg.Request{metadataFor(9, "t"), smallRequest(kmsg.OffsetFetch, 5), smallRequest(kmsg.DescribeGroups, 0), smallRequest(kmsg.ListGroups, 0)}
		const rounds = 10
		go func() {
			for range rounds {
				for _, req := range requests {
					if _, err := c.nc.Write(c.encode(req)); err != nil {
						return
					}
				}
			}
		}()
		synctest.Wait()
		if asked := int(lookups.Load()) + b.groups.joins(); asked != maxLookupsOpen {
			t.Errorf("%d requests were begun with no reply read, want %d", asked, maxLookupsOpen)
		}
		for i := range int32(rounds * len(requests)) {
			c.receive(i+1, requests[int(i)%len(requests)])
		}
	})
}

// While DIS does not answer, requests behind many others give up in time, too.
func TestTimeInTheQueueCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.catalog.lookup = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		c := b.pipe()
		req := metadataFor(9, "t")
		began := time.Now()
		for range 2 * maxLookupsOpen {
			c.send(req)
		}
		for i := range int32(2 * maxLookupsOpen) {
			c.receive(i+1, req)
		}
		if took := time.Since(began); took != longestWait+shortestTry {
			t.Errorf("answered after %s", took)
		}
	})
}
