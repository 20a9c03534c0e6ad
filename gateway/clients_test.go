package gateway

import (
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
)

// TestClients: who is connected, what it calls itself and asked last; the numbers of
// connections are not used again; what a client may make long is cut.
func TestClients(t *testing.T) {
	b := newBench(t)
	address := b.listen()
	first := dial(t, address)
	first.ask(apiVersions(3))
	first.ask(metadataFor(9, "t"))
	silent := dial(t, address)
	var shown []ClientInfo
	for range 1000 { // the server accepts when it gets to it
		var total int
		if shown, total = b.server.Clients(10); total == 2 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if len(shown) != 2 {
		t.Fatalf("%d clients: %+v", len(shown), shown)
	}
	busy, idle := shown[0], shown[1]
	if busy.Connection != 1 || busy.Address != first.nc.LocalAddr().String() || busy.ClientID != "tester" || busy.Software != "tester" || busy.Version != "1" ||
		busy.Requests != 2 || busy.LastAPI != "Metadata" || busy.Since.IsZero() || busy.LastAt.Before(busy.Since) {
		t.Errorf("the first: %+v", busy)
	}
	if idle.Connection != 2 || idle.Address != silent.nc.LocalAddr().String() || idle.Requests != 0 || idle.LastAPI != "" || !idle.LastAt.IsZero() {
		t.Errorf("the one that has asked nothing: %+v", idle)
	}
	if shown, total := b.server.Clients(1); len(shown) != 1 || total != 2 || shown[0].Connection != 1 {
		t.Errorf("of two, one: %d of %d, %+v", len(shown), total, shown)
	}
	if got := cut(strings.Repeat("x", 5*longestName)); len(got) != longestName {
		t.Errorf("a long name is %d bytes", len(got))
	}
}

// TestListeners: the open addresses, and what clients are told of them.
func TestListeners(t *testing.T) {
	b := newBench(t, func(c *Config) {
		c.Listeners = []Listener{
			{Host: "127.0.0.1", Auth: AuthNone},
			{Host: "127.0.0.1", Auth: AuthNone, AdvertiseHost: "kafka.example", AdvertisePort: 9093},
			{Host: "127.0.0.1", Auth: AuthNone, AdvertiseAuto: true},
		}
	})
	b.listen()
	got := b.server.Listeners()
	if len(got) != 3 || got[0].Advertised != got[0].Address || got[0].Auth != AuthNone || got[1].Advertised != "kafka.example:9093" || got[2].Advertised != "" {
		t.Errorf("%+v", got)
	}
	for i, address := range b.server.Addrs() {
		if got[i].Address != address.String() {
			t.Errorf("%s is called %s", address, got[i].Address)
		}
	}
}

// TestLagOfGroups adds up the partitions of a group, names the worst, and says of how
// many the end is not known.
func TestLagOfGroups(t *testing.T) {
	ends := map[int32]int64{0: 100, 1: 50, 2: 10}
	lag := NewLag(func(_ string, partition int32) (int64, bool) {
		end, known := ends[partition]
		return end, known
	})
	committed := func(partition int32, offset int64) groupcoord.CommittedOffset {
		return groupcoord.CommittedOffset{TopicPartition: groupcoord.TopicPartition{Topic: "t", Partition: partition}, Offset: offset}
	}
	lag.note("behind", []groupcoord.CommittedOffset{committed(0, 90), committed(1, 10), committed(2, 12), committed(7, 1)})
	lag.note("blind", []groupcoord.CommittedOffset{committed(8, 1)})
	got := lag.Groups()
	want := GroupLag{Partitions: 4, Unknown: 1, Records: 50, Worst: groupcoord.TopicPartition{Topic: "t", Partition: 1}, WorstRecords: 40}
	if got["behind"] != want {
		t.Errorf("%+v, want %+v", got["behind"], want)
	}
	if blind := got["blind"]; blind != (GroupLag{Partitions: 1, Unknown: 1}) || len(got) != 2 {
		t.Errorf("%+v of %d", blind, len(got))
	}
}
