package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// refusals notices what DIS refuses of a gateway that it otherwise answers: every
// write to a stream, say, while streams are listed and read.
//
// Such a gateway is ready all the same. Not being ready takes a pod out of service,
// which is right when nothing works, and another place might do better. Here a part
// works that would be lost with it: consumers go on, groups keep their members, and
// the pods beside it, which use the same keys, would all leave at the same moment and
// with them whatever else their applications do. Nor would it help: a permission does
// not come back by waiting elsewhere, and clients get the reason as the error of
// their writes. So it is shown, logged and counted, for a person and an alert rule,
// and /readyz says so beside its 200.
//
// While DIS is away, or refuses the gateway as a whole, nothing of the kind can be
// told: every call fails then, whatever it is for, and the gateway says that it is
// not ready.
type refusals struct {
	// explain says what to do about a failure.
	explain func(error) (what, do string)
	// present reports whether DIS answers the gateway as a whole.
	present func() bool
	log     zerolog.Logger

	mu    sync.Mutex
	known map[calls]*refusal
}

// kind is what calls are for.
type kind string

// The kinds that are watched.
const (
	writes  kind = "writes"
	reads   kind = "reads"
	commits kind = "commits"
)

// kinds are all of them, in the order in which they are told.
var kinds = []kind{writes, reads, commits}

var kindOf = map[string]kind{"PutRecords": writes, "GetRecords": reads, "GetCursor": reads, "CommitCheckpoint": commits}

var verbs = map[kind]string{writes: "write to", reads: "read of", commits: "commit for"}

// calls are those that share a fate.
type calls struct {
	kind   kind
	stream string
}

// refusal is a series of calls of which none succeeded.
type refusal struct {
	since, last time.Time
	count       int
	reason      string // without DIS's request id
	remedy      string
	told        bool
}

const (
	// refusedFor and refusedCalls are for how long, and how many times in a row,
	// calls must have failed: a lost answer or a moment of trouble is no refusal.
	refusedFor   = 30 * time.Second
	refusedCalls = 3
	// forgottenAfter is when a refusal ends that nobody runs into any more.
	forgottenAfter = 10 * time.Minute
	// maxRefusals bounds what is remembered, maxNamed what is named of it.
	maxRefusals = 1000
	maxNamed    = 3
)

func newRefusals(explain func(error) (what, do string), present func() bool, log zerolog.Logger) *refusals {
	return &refusals{explain: explain, present: present, log: log, known: map[calls]*refusal{}}
}

// observe takes note of a call.
func (r *refusals) observe(call dis.Call) {
	kind, watched := kindOf[call.Operation]
	if !watched {
		return
	}
	said, failure := ofStream(call)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := calls{kind, call.Stream}
	switch {
	case said == taken:
		r.end(key)
	case said == refused && !r.away():
		r.note(key, failure)
	}
}

// away reports whether DIS is away. Series that began meanwhile, or shortly before it
// was noticed, are forgotten: they say nothing of the time after.
func (r *refusals) away() bool {
	if r.present() {
		return false
	}
	maps.DeleteFunc(r.known, func(_ calls, k *refusal) bool { return !k.told })
	return true
}

func (r *refusals) note(key calls, failure *dis.Error) {
	now := time.Now()
	known := r.known[key]
	if known == nil {
		if len(r.known) >= maxRefusals {
			return
		}
		known = &refusal{since: now}
		r.known[key] = known
	}
	known.last = now
	if reason := failure.Error(); reason != known.reason {
		known.reason = reason
		_, known.remedy = r.explain(failure)
	}
	known.count++
	if known.lasts(now) && !known.told {
		known.told = true
		r.log.Warn().Str("stream", key.stream).Str("calls", string(key.kind)).Str("reason", known.reason).Str("remedy", known.remedy).
			Msg("DIS has refused every such call for " + refusedFor.String() + "; the gateway stays ready for what works")
	}
}

func (r *refusals) end(key calls) {
	known := r.known[key]
	if known == nil {
		return
	}
	delete(r.known, key)
	if known.told {
		r.log.Info().Str("stream", key.stream).Str("calls", string(key.kind)).Int("refused", known.count).
			Str("after", time.Since(known.since).Round(time.Second).String()).Msg("DIS takes such calls again")
	}
}

func (k *refusal) lasts(now time.Time) bool {
	return k.count >= refusedCalls && now.Sub(k.since) >= refusedFor
}

// current gives what is refused at the moment, the streams of each kind in order;
// nothing while DIS is away.
func (r *refusals) current() (streams map[kind][]string, of map[calls]refusal) {
	now := time.Now()
	streams, of = map[kind][]string{}, map[calls]refusal{}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away() {
		return streams, of
	}
	maps.DeleteFunc(r.known, func(_ calls, k *refusal) bool { return now.Sub(k.last) > forgottenAfter })
	for key, k := range r.known {
		if k.lasts(now) {
			streams[key.kind] = append(streams[key.kind], key.stream)
			of[key] = *k
		}
	}
	for _, names := range streams {
		slices.Sort(names)
	}
	return streams, of
}

// streams is the number of streams of which DIS refuses every call of a kind.
func (r *refusals) streams() map[string]int {
	counts := map[string]int{}
	refused, _ := r.current()
	for _, kind := range kinds {
		counts[string(kind)] = len(refused[kind])
	}
	return counts
}

// sentences say what DIS refuses, one for each kind.
func (r *refusals) sentences() (all []string) {
	streams, of := r.current()
	for _, kind := range kinds {
		names := streams[kind]
		if len(names) == 0 {
			continue
		}
		first := of[calls{kind, names[0]}]
		text := fmt.Sprintf("DIS has refused every %s %s for %s: %s", verbs[kind], enumerate(names),
			time.Since(first.since).Round(time.Second), first.reason)
		if first.remedy != "" {
			text += ": " + first.remedy
		}
		all = append(all, text)
	}
	return all
}

func enumerate(names []string) string {
	shown := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		shown += fmt.Sprintf(" and %d more streams", more)
	}
	return shown
}
