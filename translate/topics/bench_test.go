package topics

import (
	"fmt"
	"testing"
)

// thousand is a catalog that knows 1,000 streams of 3 partitions each.
func thousand(b *testing.B) *Catalog {
	b.Helper()
	f := newFake()
	f.slow(0)
	for i := range 1000 {
		f.set(fmt.Sprintf("stream-%04d", i), 3)
	}
	c := New(Config{ProjectID: "p"}, f)
	b.Cleanup(c.Close)
	if all, err := c.Topics(b.Context()); err != nil || len(all) != 1000 {
		b.Fatalf("%d topics, %v", len(all), err)
	}
	return c
}

// BenchmarkTopics is what a client's look at all topics costs the catalog.
func BenchmarkTopics(b *testing.B) {
	c := thousand(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Topics(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTopic is one lookup, of which each produce and fetch makes some.
func BenchmarkTopic(b *testing.B) {
	c := thousand(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Topic(b.Context(), "stream-0500"); err != nil {
			b.Fatal(err)
		}
	}
}
