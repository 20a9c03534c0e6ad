package status

import (
	"context"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
)

const (
	// rateEvery is the time between two samples of the traffic, rateWindow the time
	// over which rates are taken.
	rateEvery  = 2 * time.Second
	rateWindow = 10 * time.Second
)

// rates turns counters into rates. It samples all the time, so that whoever looks
// for the first time sees rates, too.
type rates struct {
	traffic Traffic

	mu      sync.Mutex
	samples []sample // the oldest first, over rateWindow
}

type sample struct {
	at     time.Time
	topics map[string]gateway.TopicTraffic
}

// run samples until ctx ends.
func (r *rates) run(ctx context.Context) {
	tick := time.NewTicker(rateEvery)
	defer tick.Stop()
	for {
		r.take(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *rates) take(now time.Time) {
	counted := r.traffic.Topics()
	latest := sample{now, make(map[string]gateway.TopicTraffic, len(counted))}
	for _, t := range counted {
		latest.topics[t.Topic] = t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.samples) > 0 && now.Sub(r.samples[0].at) > rateWindow {
		r.samples = r.samples[1:]
	}
	r.samples = append(r.samples, latest)
}

// flow is what a topic carries.
type flow struct{ in, out Rate }

// flows gives that of each topic that carried something in the window.
func (r *rates) flows() map[string]flow {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) < 2 {
		return nil
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	seconds := last.at.Sub(first.at).Seconds()
	found := make(map[string]flow, len(last.topics))
	for topic, now := range last.topics {
		// A topic that was not there carried nothing: its counts began with 0.
		if before := first.topics[topic]; now != before {
			found[topic] = flow{
				in:  Rate{rate(now.StoredRecords, before.StoredRecords, seconds), rate(now.StoredBytes, before.StoredBytes, seconds)},
				out: Rate{rate(now.FetchedRecords, before.FetchedRecords, seconds), rate(now.FetchedBytes, before.FetchedBytes, seconds)},
			}
		}
	}
	return found
}

// rate is 0 for a counter that began anew, as that of a topic that was deleted and
// created again.
func rate(now, before int64, seconds float64) float64 {
	return float64(max(now-before, 0)) / seconds
}
