package gateway

import (
	"context"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// readyTopics is a catalog that has its list ready.
type readyTopics struct {
	Catalog
	all []*translate.Topic
}

func (l readyTopics) Topics(context.Context) ([]*translate.Topic, error) { return l.all, nil }

// BenchmarkMetadataOfAllTopics makes and encodes the reply for 1,000 topics of 3
// partitions each, which clients ask for again and again.
func BenchmarkMetadataOfAllTopics(b *testing.B) {
	var catalog readyTopics
	for i := range 1000 {
		catalog.all = append(catalog.all, topicOf(fmt.Sprintf("topic-%04d", i), 3))
	}
	resp := kmsg.NewPtrMetadataResponse()
	resp.Version = 12
	var frame []byte
	b.ReportAllocs()
	for b.Loop() {
		topics, err := allTopics(b.Context(), catalog, func() bool { return false })
		if err != nil {
			b.Fatal(err)
		}
		resp.Topics = topics
		frame = resp.AppendTo(frame[:0])
	}
	b.ReportMetric(float64(len(frame)), "reply-bytes")
}
