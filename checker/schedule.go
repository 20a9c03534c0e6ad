package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// schedule is everything that a seed decides: who produces and consumes, and
// which trouble comes when. It is a function of the seed and the kinds alone.
type schedule struct {
	Seed       uint64
	Exact      bool // see exactKinds
	Partitions int
	Producers  []producerPlan
	Consumers  []consumerPlan
	Length     time.Duration // of the part with faults
	Steps      []step        // in order of At
}

type producerKind string

const (
	idempotent producerKind = "idempotent" // franz-go with its defaults: 5 requests in flight, sends again without end
	plain      producerKind = "plain"      // franz-go without idempotence, and without sending again
	byHand     producerKind = "by-hand"    // protocol written here: idempotent, pipelined, batches cut as planned
)

type producerPlan struct {
	Name    string
	Kind    producerKind
	Linger  time.Duration
	Timeout time.Duration // timeout_ms: the gateway answers in 0.8 of it
	Pace    time.Duration // between bursts
	Burst   int           // most records of a burst
	Large   bool          // some values of 100 KB
	Codec   int           // index in codecs
	Foreign bool          // by hand: an id that no gateway issued, whose sequence is about to wrap
}

type consumerPlan struct {
	Name  string
	Group string // "" is assigned: all partitions, no group
	// Away is the time at which a group member leaves for good; 0 for one that
	// stays.
	Away time.Duration
}

// step is one change during a run.
type step struct {
	At     time.Duration
	Kind   string        // one of events, or setFaults
	Down   time.Duration // of kills and restarts: until the next process starts
	Target int           // of scalings: the number of active partitions
	Faults faultPlan     // of setFaults: in force until the next one
}

const setFaults = "faults"

// faultPlan and fault are the bodies of the DIS's control endpoint.
type faultPlan struct {
	Seed   uint64  `json:"seed"`
	Faults []fault `json:"faults"`
}

type fault struct {
	Kind        string   `json:"kind"`
	Operations  []string `json:"operations,omitempty"`
	Probability float64  `json:"probability,omitempty"`
	Count       int      `json:"count,omitempty"`
	Latency     string   `json:"latency,omitempty"`
	From        int      `json:"from,omitempty"`
	By          int64    `json:"by,omitempty"`
	Hits        int      `json:"hits,omitempty"`
}

// newSchedule makes the schedule of a seed. Every fourth seed is exact, if the
// kinds allow for one. Another fourth leaves the gateway alone, so that its counts
// are complete, and lets no write fail that leaves nothing to be repeated.
func newSchedule(seed uint64, kinds []string) schedule {
	r := rand.New(rand.NewPCG(seed, 0x6b616661))
	s := schedule{Seed: seed, Partitions: 1 + r.IntN(5), Length: 5*time.Second + time.Duration(r.IntN(3000))*time.Millisecond}
	kinds = inOrder(kinds)
	if exact := intersect(kinds, exactKinds); seed%4 == 0 && slices.Contains(exact, "lost-reply") {
		s.Exact, kinds = true, exact
	} else if seed%4 == 1 {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == killGateway || k == restartGateway })
	}
	s.planProducers(r)
	s.planConsumers(r)
	s.planFaults(r, intersect(kinds, disFaults))
	s.planEvents(r, intersect(kinds, events))
	slices.SortStableFunc(s.Steps, func(a, b step) int { return int(a.At - b.At) })
	return s
}

func intersect(some, others []string) []string {
	var both []string
	for _, one := range some {
		if slices.Contains(others, one) {
			both = append(both, one)
		}
	}
	return both
}

func (s *schedule) planProducers(r *rand.Rand) {
	kinds := []producerKind{idempotent, plain, byHand}
	kinds = append(kinds, kinds[r.IntN(3)])
	for i, kind := range kinds {
		s.Producers = append(s.Producers, producerPlan{
			Name: fmt.Sprintf("p%d", i), Kind: kind,
			Linger:  time.Duration(r.IntN(3)*5) * time.Millisecond,
			Timeout: []time.Duration{400 * time.Millisecond, time.Second, 10 * time.Second}[r.IntN(3)],
			Pace:    time.Duration(4+r.IntN(30)) * time.Millisecond,
			Burst:   1 + r.IntN(60),
			Large:   r.IntN(8) == 0,
			Codec:   r.IntN(len(codecs)),
			Foreign: kind == byHand && r.IntN(2) == 0,
		})
	}
}

func (s *schedule) planConsumers(r *rand.Rand) {
	s.Consumers = []consumerPlan{{Name: "a0"}, {Name: "a1"}, {Name: "g0", Group: "g"}, {Name: "g1", Group: "g"}}
	if r.IntN(2) == 0 {
		s.Consumers[3].Away = s.at(r)
	}
}

func (s *schedule) at(r *rand.Rand) time.Duration {
	return time.Duration(r.Int64N(int64(s.Length))).Round(time.Millisecond)
}

// planFaults divides the run into parts of about a second, each with up to three
// kinds of DIS faults.
func (s *schedule) planFaults(r *rand.Rand, kinds []string) {
	for at := time.Duration(0); at < s.Length; at += time.Duration(700+r.IntN(700)) * time.Millisecond {
		plan := faultPlan{Seed: r.Uint64N(1 << 50)}
		shuffled := slices.Clone(kinds)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for _, kind := range shuffled[:min(len(shuffled), 1+r.IntN(3))] {
			f := newFault(r, kind)
			if kind == "error-5xx" && (s.Exact || s.Seed%4 == 1) {
				f.Operations = reads
			}
			plan.Faults = append(plan.Faults, f)
		}
		s.Steps = append(s.Steps, step{At: at, Kind: setFaults, Faults: plan})
	}
}

func newFault(r *rand.Rand, kind string) fault {
	f := fault{Kind: kind, Probability: 0.1 + 0.4*float64(r.IntN(100))/100}
	switch kind {
	case "latency":
		f.Latency = (time.Duration(5+r.IntN(300)) * time.Millisecond).String()
	case "throttle-suffix":
		f.From = r.IntN(20)
	case "sequence-gaps", "stale-end":
		f.By = 1 + r.Int64N(50)
	case "error-5xx", "lost-reply":
		if r.IntN(2) == 0 {
			f.Operations = []string{"PutRecords"}
		}
	}
	return f
}

// planEvents puts about one event into every second.
func (s *schedule) planEvents(r *rand.Rand, kinds []string) {
	if len(kinds) == 0 {
		return
	}
	active := s.Partitions
	for at := 300 * time.Millisecond; at < s.Length; at += time.Duration(600+r.IntN(1200)) * time.Millisecond {
		next := step{At: at, Kind: kinds[r.IntN(len(kinds))]}
		switch next.Kind {
		case killDIS, restartDIS, killGateway, restartGateway:
			next.Down = time.Duration(20+r.IntN(800)) * time.Millisecond
		case scaleUp:
			active = min(8, active+1+r.IntN(2))
			next.Target = active
		case scaleDown:
			active = max(1, active-1-r.IntN(2))
			next.Target = active
		}
		s.Steps = append(s.Steps, next)
	}
}

// has reports whether a kind of event is planned.
func (s *schedule) has(kinds ...string) bool {
	return slices.ContainsFunc(s.Steps, func(p step) bool { return slices.Contains(kinds, p.Kind) })
}

// String is the schedule for people.
func (s *schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule of seed %d: %d partitions, %v with faults, repeats exact: %t\n", s.Seed, s.Partitions, s.Length, s.Exact)
	for _, p := range s.Producers {
		fmt.Fprintf(&b, "  producer %+v\n", p)
	}
	for _, c := range s.Consumers {
		fmt.Fprintf(&b, "  consumer %+v\n", c)
	}
	for _, p := range s.Steps {
		fmt.Fprintf(&b, "  %7.3fs %s\n", p.At.Seconds(), p.describe())
	}
	return b.String()
}

func (p *step) describe() string {
	switch {
	case p.Kind == setFaults:
		var all []string
		for _, f := range p.Faults.Faults {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s(%.2f %s%s)", f.Kind, f.Probability, f.details(), strings.Join(f.Operations, "+"))))
		}
		return "faults " + strings.Join(all, " ")
	case p.Down > 0:
		return fmt.Sprintf("%s, down for %v", p.Kind, p.Down)
	case p.Target > 0:
		return fmt.Sprintf("%s to %d", p.Kind, p.Target)
	}
	return p.Kind
}

func (f *fault) details() string {
	switch {
	case f.Latency != "":
		return f.Latency + " "
	case f.From > 0:
		return fmt.Sprintf("from %d ", f.From)
	case f.By > 0:
		return fmt.Sprintf("by %d ", f.By)
	}
	return ""
}
