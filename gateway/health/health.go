package health

import (
	"context"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// Config connects the health of a gateway with its parts. Every field must be set.
type Config struct {
	// Ask makes a call of DIS that fails when anything is wrong that concerns all calls.
	// Observe is to see it as well.
	Ask func(context.Context) error
	// Draining reports whether the gateway was told to stop.
	Draining func() bool
	// Explain says of a failure what the trouble is, one of few texts, and what to do
	// about it, by the names of settings.
	Explain func(error) (what, do string)
	Logger  zerolog.Logger
}

// Health is that of one gateway. It is safe for concurrent use.
type Health struct {
	draining  func() bool
	outage    *outage
	readiness *readiness
	refusals  *refusals
}

// New is the health of a gateway that DIS has not answered yet.
func New(cfg Config) *Health {
	h := &Health{draining: cfg.Draining, outage: newOutage(), readiness: newReadiness(cfg.Ask, cfg.Explain, cfg.Logger)}
	h.refusals = newRefusals(cfg.Explain, h.readiness.disUp, cfg.Logger)
	return h
}

// Observe takes note of a call of DIS that has ended. It has to see every one.
func (h *Health) Observe(call dis.Call) {
	h.outage.observe(call)
	h.refusals.observe(call)
}

// Watch asks DIS until it answers, and again when it seems to be away, until ctx ends.
func (h *Health) Watch(ctx context.Context) { h.readiness.watch(ctx, h.outage) }

// NotReady is why the gateway should not get clients, "" when it should.
func (h *Health) NotReady() string {
	if h.draining() {
		return "draining: the gateway was told to stop"
	}
	return h.readiness.reason()
}

// Degraded says in a sentence for each kind of call what DIS refuses of a gateway that
// it answers otherwise; nothing when all is well, or when DIS is away.
func (h *Health) Degraded() []string { return h.refusals.sentences() }

// RefusedStreams is the number of streams of which DIS refuses every call of a kind, by
// kind: writes, reads, commits. All are in the map.
func (h *Health) RefusedStreams() map[string]int { return h.refusals.streams() }

// State is the health in numbers, for metrics.
type State struct {
	// Ready is what NotReady says; DISUp leaves a drain out of account.
	Ready, DISUp bool
	// Outages is how many began after DIS had answered.
	Outages int64
}

// State gives what NotReady explains.
func (h *Health) State() State {
	up, outages := h.readiness.state()
	return State{Ready: up && !h.draining(), DISUp: up, Outages: outages}
}
