package e2e

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// disCalls is the number of calls to DIS that the gateway has made, of one
// operation or, without one, of all.
func (s *serving) disCalls(t testing.TB, operation string) (calls int) {
	t.Helper()
	_, page := s.ask(t, "/metrics")
	for line := range strings.SplitSeq(page, "\n") {
		name, value, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(name, "kdg_dis_request_seconds_count{") ||
			operation != "" && !strings.Contains(name, `operation="`+operation+`"`) {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatalf("metric %q: %v", line, err)
		}
		calls += n
	}
	return calls
}

// createStreams makes streams with the names prefix0, prefix1, ...
func createStreams(t testing.TB, client *dis.Client, prefix string, streams, partitions int) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	for i := range streams {
		group.Go(func() error {
			name := fmt.Sprint(prefix, i)
			if err := client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: name, PartitionCount: partitions}); err != nil {
				return err
			}
			for {
				if described, err := client.DescribeStream(t.Context(), name); err != nil || described.Status == wire.StreamRunning {
					return err
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("creating streams: %v", err)
	}
}

// putOne stores a record with the project's DIS client, past the gateway.
func putOne(t testing.TB, client *dis.Client, stream string, partition int, value string) {
	t.Helper()
	answer, err := client.PutRecords(t.Context(), &wire.PutRecordsRequest{StreamName: stream, Records: []wire.PutRecord{
		{PartitionID: wire.Text(strconv.Itoa(partition)), Data: []byte(value)},
	}})
	if err != nil || answer.FailedRecordCount != 0 {
		t.Fatalf("%+v, %v", answer, err)
	}
}

// TestIdleConsumersCostFewCalls: 200 consumers that wait on 2,000 partitions make
// no more calls to DIS than --idle-polls allows, and miss nothing that others write.
func TestIdleConsumersCostFewCalls(t *testing.T) {
	t.Parallel()
	const streams, partitions, budget, seconds = 200, 10, 100, 10
	s := startServe(t, "--idle-polls", strconv.Itoa(budget))
	client := newDISClient(t, &dev{dis: s.endpoint})
	createStreams(t, client, "quiet", streams, partitions)
	s.waitReady(t)

	type arrival struct {
		stream int
		record *kgo.Record
	}
	arrivals := make(chan arrival, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var consumers errgroup.Group
	for i := range streams {
		consumer := newFranz(t, s.kafka, kgo.ConsumeTopics(fmt.Sprint("quiet", i)), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
		consumers.Go(func() error {
			for ctx.Err() == nil {
				fetches := consumer.PollFetches(ctx)
				if err := fetches.Err0(); err != nil {
					return nil // the end of the test
				}
				for _, failure := range fetches.Errors() {
					t.Errorf("polling: %v", failure.Err)
				}
				fetches.EachRecord(func(r *kgo.Record) { arrivals <- arrival{i, r} })
			}
			return nil
		})
	}
	defer func() {
		cancel()
		_ = consumers.Wait() // its functions return no error
	}()

	// Starting to consume is work: metadata, offsets, and the ends of every stream.
	eventually(t, 2*time.Minute, "the consumers to wait", func() string {
		before := s.disCalls(t, "")
		time.Sleep(2 * time.Second)
		if calls := s.disCalls(t, "") - before; calls > 2*budget {
			return fmt.Sprintf("%d calls in 2 seconds", calls)
		}
		return ""
	})
	before, began := s.disCalls(t, ""), time.Now()
	time.Sleep(seconds * time.Second)
	calls, took := s.disCalls(t, "")-before, time.Since(began)
	t.Logf("%d calls in %v", calls, took)
	if limit := int(budget * took.Seconds()); calls > limit || calls < limit/4 {
		t.Errorf("%d calls to DIS in %v, want at most %d and not many fewer", calls, took, limit)
	}

	receive := func(want string, stream, partition int) {
		t.Helper()
		select {
		case got := <-arrivals:
			if got.stream != stream || int(got.record.Partition) != partition || string(got.record.Value) != want {
				t.Errorf("consumer %d got %q of partition %d, want %q of %d and %d", got.stream, got.record.Value, got.record.Partition, want, stream, partition)
			}
		case <-time.After(clientTimeout):
			t.Fatalf("%q did not arrive", want)
		}
	}
	for i := range 5 {
		putOne(t, client, fmt.Sprint("quiet", i*37), i, fmt.Sprint("foreign ", i))
		stored := time.Now()
		receive(fmt.Sprint("foreign ", i), i*37, i)
		t.Logf("a record of another program arrived %v after it was stored", time.Since(stored))
	}
	producer := newFranz(t, s.kafka, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for i := range 5 {
		if err := producer.ProduceSync(ctx, &kgo.Record{Topic: fmt.Sprint("quiet", 10+i*37), Partition: int32(i), Value: []byte("own")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		stored := time.Now()
		receive("own", 10+i*37, i)
		t.Logf("a record produced here arrived %v after it was acknowledged", time.Since(stored))
	}
}
