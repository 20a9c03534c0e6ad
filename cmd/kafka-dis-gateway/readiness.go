package main

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// How often DIS is asked until it answers.
const (
	probePause   = time.Second
	probeTimeout = 5 * time.Second
)

// readiness is why the gateway should not get clients.
type readiness struct {
	mu       sync.Mutex
	reason   string // "" once DIS has answered
	draining func() bool
}

func newReadiness(draining func() bool) *readiness {
	return &readiness{reason: "DIS has not answered yet", draining: draining}
}

// why is the reason for not being ready, "" when ready.
func (r *readiness) why() string {
	if r.draining() {
		return "draining: the gateway was told to stop"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason
}

// watch asks DIS until it answers once: from then on the settings are known to
// be right, and clients are better served with errors that name the trouble
// than with no gateway.
func (r *readiness) watch(ctx context.Context, ask func(context.Context) error, logger zerolog.Logger) {
	var logged trouble
	for failures := 0; ; failures++ {
		attempt, cancel := context.WithTimeout(ctx, probeTimeout)
		err := ask(attempt)
		cancel()
		if ctx.Err() != nil {
			return
		}
		r.set(err)
		switch {
		case err == nil && failures > 0:
			logger.Info().Int("failed_attempts", failures).Msg("DIS answers, the gateway is ready")
			return
		case err == nil:
			return
		}
		if now := explain(err); !now.like(logged) { // it may stay so for a night
			logger.Warn().Err(err).Str("remedy", now.do).Msg(now.what + "; the gateway serves on and asks again every second")
			logged = now
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(probePause):
		}
	}
}

func (r *readiness) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reason = ""
	if err != nil {
		r.reason = explain(err).String()
	}
}
