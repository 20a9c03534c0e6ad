package offsets_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// BenchmarkCommitOfAThousandPartitions commits 1000 partitions with one request,
// over HTTP to a DIS that takes 10 ms more for each call. It shows the calls that
// one request costs.
func BenchmarkCommitOfAThousandPartitions(b *testing.B) {
	var calls atomic.Int64
	slow := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			if strings.HasSuffix(r.URL.Path, "/checkpoints") {
				time.Sleep(10 * time.Millisecond)
			}
			next.ServeHTTP(w, r)
		})
	}
	client := connectThrough(b, slow)
	const partitions = 1000
	if err := client.CreateStream(b.Context(), wire.CreateStreamRequest{StreamName: "wide", PartitionCount: partitions}); err != nil {
		b.Fatal(err)
	}
	topic, err := describing{client}.Topic(b.Context(), "wide")
	if err != nil {
		b.Fatal(err)
	}
	s := offsets.New(offsets.Config{}, client, oneTopic{topic})
	commits := make([]offsets.OffsetCommit, partitions)
	for i := range commits {
		commits[i] = commit("wide", int32(i), 0, "")
	}
	store := func() {
		for _, got := range s.Commit(b.Context(), "g", commits) {
			if got.Code != 0 {
				b.Fatalf("%+v", got)
			}
		}
	}
	store() // the app is there from now on
	calls.Store(0)
	for b.Loop() {
		store()
	}
	b.ReportMetric(float64(calls.Load())/float64(b.N), "calls/op")
}

// oneTopic is a catalog that knows a topic by heart, as the gateway's mostly does.
type oneTopic struct{ topic *translate.Topic }

func (o oneTopic) Topic(context.Context, string) (*translate.Topic, error) { return o.topic, nil }
