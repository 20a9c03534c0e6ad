package status

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// Config says where the state comes from. Every field must be set; nothing here may
// wait for DIS.
type Config struct {
	Version, Commit string
	// NotReady is why the gateway is not ready, "" when it is. Degraded says what
	// DIS refuses of one that is.
	NotReady func() string
	Degraded func() []string
	Server   Server
	Topics   Topics
	Groups   Groups
	Lag      Lags
	Traffic  Traffic
	Errors   *Errors
}

// Server is the Kafka side.
type Server interface {
	Clients(most int) (shown []gateway.ClientInfo, total int)
	Listeners() []gateway.ListenerInfo
}

// Topics are the topics in memory.
type Topics interface {
	Known() []*translate.Topic
}

// Groups are the groups in memory.
type Groups interface {
	Overview() []groupcoord.Overview
}

// Lags tell how far groups are behind.
type Lags interface {
	Groups() map[string]gateway.GroupLag
}

// Traffic is what each topic has carried since the start.
type Traffic interface {
	Topics() []gateway.TopicTraffic
}

var (
	_ Server = (*gateway.Server)(nil)
	_ Topics = (*topics.Catalog)(nil)
	_ Groups = (*groupcoord.Coordinator)(nil)
	_ Lags   = (*gateway.Lag)(nil)

	_ Traffic = (*gateway.Traffic)(nil)
)

// Status gathers the state of the gateway. It is safe for concurrent use.
type Status struct {
	cfg     Config
	started time.Time
	rates   rates

	mu     sync.Mutex
	latest *Snapshot

	// page is the latest one that was made, and what it shows.
	page struct {
		sync.Mutex
		of      *Snapshot
		content []byte
		err     error
	}
}

// New starts nothing; Run keeps the rates.
func New(cfg Config) *Status {
	return &Status{cfg: cfg, started: time.Now(), rates: rates{traffic: cfg.Traffic}}
}

// Run measures the rates of the topics until ctx ends.
func (s *Status) Run(ctx context.Context) { s.rates.run(ctx) }

// freshFor is how long a snapshot is shown to others who ask.
const freshFor = time.Second

// Snapshot is the state of now, or of up to a second ago. It must not be changed.
func (s *Status) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.latest == nil || now.Sub(s.latest.At) >= freshFor {
		s.latest = s.gather(now)
	}
	return s.latest
}

func (s *Status) gather(now time.Time) *Snapshot {
	notReady := s.cfg.NotReady()
	return &Snapshot{
		At: now, Version: s.cfg.Version, Commit: s.cfg.Commit,
		Started: s.started, UptimeSeconds: int64(now.Sub(s.started).Seconds()),
		Ready: notReady == "", NotReady: message(notReady), Degraded: s.degraded(),
		Listeners: s.listeners(), Clients: s.clients(), Topics: s.topics(), Groups: s.groups(), Errors: s.cfg.Errors.list(),
	}
}

func (s *Status) degraded() []string {
	found := []string{}
	for _, what := range s.cfg.Degraded() {
		found = append(found, message(what))
	}
	return found
}

func (s *Status) listeners() []Listener {
	found := []Listener{}
	for _, l := range s.cfg.Server.Listeners() {
		found = append(found, Listener(l))
	}
	return found
}

func (s *Status) clients() List[Client] {
	shown, total := s.cfg.Server.Clients(maxShown)
	clients := make([]Client, len(shown))
	for i, c := range shown {
		c.ClientID, c.Software, c.Version = name(c.ClientID), name(c.Software), name(c.Version)
		clients[i] = Client(c)
	}
	// A list that changes its order all the time cannot be read.
	slices.SortFunc(clients, func(a, b Client) int { return cmp.Compare(a.Connection, b.Connection) })
	return listOf(clients, total)
}

func (s *Status) topics() List[Topic] {
	known, flows := s.cfg.Topics.Known(), s.rates.flows()
	all := make([]Topic, len(known))
	for i, t := range known {
		carried := flows[t.Name]
		all[i] = Topic{Name: name(t.Name), Partitions: len(t.Partitions), In: carried.in, Out: carried.out}
	}
	slices.SortFunc(all, func(a, b Topic) int {
		return cmp.Or(cmp.Compare(b.In.Bytes+b.Out.Bytes, a.In.Bytes+a.Out.Bytes), cmp.Compare(a.Name, b.Name))
	})
	busiest := listOf(all, len(all))
	slices.SortFunc(busiest.Items, func(a, b Topic) int { return cmp.Compare(a.Name, b.Name) })
	return busiest
}

// groups joins the groups in memory with those that are known by their lag.
func (s *Status) groups() List[Group] {
	lags := s.cfg.Lag.Groups()
	var all []Group
	for _, g := range s.cfg.Groups.Overview() {
		all = append(all, Group{Name: name(g.Name), State: g.State, Type: g.Type, Members: g.Members, Lag: lagOf(lags[g.Name])})
		delete(lags, g.Name)
	}
	for group, lag := range lags {
		all = append(all, Group{Name: name(group), State: "Empty", Lag: lagOf(lag)})
	}
	slices.SortFunc(all, func(a, b Group) int { return cmp.Or(cmp.Compare(b.behind(), a.behind()), cmp.Compare(a.Name, b.Name)) })
	return listOf(all, len(all))
}

// lagOf is nil where nothing is known.
func lagOf(l gateway.GroupLag) *Lag {
	if l.Partitions == l.Unknown {
		return nil
	}
	return &Lag{
		Records: l.Records, Partitions: l.Partitions, Unknown: l.Unknown,
		WorstTopic: name(l.Worst.Topic), WorstPartition: l.Worst.Partition, WorstRecords: l.WorstRecords,
	}
}

// behind is the lag, less than none where it is not known.
func (g *Group) behind() int64 {
	if g.Lag == nil {
		return -1
	}
	return g.Lag.Records
}
