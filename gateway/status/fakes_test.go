package status

import (
	"fmt"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// fake is a gateway of which everything is said.
type fake struct {
	notReady  string
	degraded  []string
	clients   []gateway.ClientInfo
	listeners []gateway.ListenerInfo
	topics    []*translate.Topic
	groups    []groupcoord.Overview
	lags      map[string]gateway.GroupLag
	traffic   []gateway.TopicTraffic
	errors    Errors
	gathered  int

	mu sync.Mutex // guards traffic once the status runs
}

// carries changes the traffic of all topics.
func (f *fake) carries(traffic ...gateway.TopicTraffic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.traffic = traffic
}

func (f *fake) status() *Status {
	return New(Config{
		Version: "1.2.3", Commit: "abc", NotReady: func() string { f.gathered++; return f.notReady },
		Degraded: func() []string { return f.degraded },
		Server:   f, Topics: f, Groups: f, Lag: fakeLag{f}, Traffic: fakeTraffic{f}, Errors: &f.errors,
	})
}

func (f *fake) Clients(most int) ([]gateway.ClientInfo, int) {
	return f.clients[:min(most, len(f.clients))], len(f.clients)
}
func (f *fake) Listeners() []gateway.ListenerInfo { return f.listeners }
func (f *fake) Known() []*translate.Topic         { return f.topics }
func (f *fake) Overview() []groupcoord.Overview   { return f.groups }

type fakeLag struct{ *fake }

func (f fakeLag) Groups() map[string]gateway.GroupLag {
	lags := map[string]gateway.GroupLag{}
	for group, lag := range f.lags {
		lags[group] = lag
	}
	return lags
}

type fakeTraffic struct{ *fake }

func (f fakeTraffic) Topics() []gateway.TopicTraffic {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.traffic
}

// crowded is a gateway with so many of everything.
func crowded(n int) *fake {
	f := &fake{lags: map[string]gateway.GroupLag{}}
	for i := range n {
		name := fmt.Sprintf("name-%05d", i)
		f.clients = append(f.clients, gateway.ClientInfo{Connection: int64(i + 1), Address: "192.0.2.1:1234", ClientID: name, Since: time.Now()})
		f.topics = append(f.topics, &translate.Topic{Name: name, Partitions: make([]translate.Partition, 3)})
		f.groups = append(f.groups, groupcoord.Overview{Name: name, State: "Stable", Type: "classic", Members: 2})
		f.traffic = append(f.traffic, gateway.TopicTraffic{Topic: name, StoredRecords: int64(i)})
		f.lags[name] = gateway.GroupLag{
			Partitions: 3, Records: int64(i), WorstRecords: int64(i), Worst: groupcoord.TopicPartition{Topic: name, Partition: 2},
		}
	}
	return f
}
