package main

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/cmd/kafka-dis-gateway/doctor"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// How often DIS is asked until it answers. DIS blocks an address for half an hour that
// it has to refuse too often (DIS.4309), and right keys would then come too late: while
// it refuses the keys the pause doubles, up to maxRefusedPause.
const (
	probePause      = time.Second
	maxRefusedPause = 10 * time.Second
	probeTimeout    = 5 * time.Second
)

// readiness is why the gateway should not get clients.
type readiness struct {
	draining func() bool

	mu      sync.Mutex
	reason  string // "" while DIS answers
	outages int64
}

// healthState is the readiness as the metrics have it.
type healthState struct {
	ready, disUp bool
	outages      int64 // that began after DIS had answered
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

func (r *readiness) state() healthState {
	draining := r.draining()
	r.mu.Lock()
	defer r.mu.Unlock()
	up := r.reason == ""
	return healthState{ready: up && !draining, disUp: up, outages: r.outages}
}

// watch asks DIS until it answers, and again whenever an outage is noticed and when
// nobody else asks. Each outage has a line for its begin and one for its end.
func (r *readiness) watch(ctx context.Context, ask func(context.Context) error, away *outage, logger zerolog.Logger) {
	for {
		r.untilAnswered(ctx, ask, logger)
		away.ended()
		if !away.await(ctx) {
			return
		}
	}
}

// untilAnswered asks DIS until it answers. The gateway serves on meanwhile: clients
// that have it are better served with errors that name the trouble than with none.
func (r *readiness) untilAnswered(ctx context.Context, ask func(context.Context) error, logger zerolog.Logger) {
	var logged doctor.Trouble
	begin, pause := time.Now(), probePause
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
			logger.Info().Int("failed_attempts", failures).Str("after", time.Since(begin).Round(time.Millisecond).String()).Msg("DIS answers, the gateway is ready")
			return
		case err == nil:
			return
		}
		if now := doctor.Explain(err); !now.Like(logged) { // it may stay so for a night
			logger.Warn().Err(err).Str("remedy", now.Do).Msg(now.What + "; the gateway serves on and asks again")
			logged, pause = now, probePause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if translate.CredentialsRefused(err) {
			pause = min(2*pause, maxRefusedPause)
		}
	}
}

func (r *readiness) set(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.reason
	r.reason = ""
	if err != nil {
		if was == "" {
			r.outages++
		}
		r.reason = doctor.Explain(err).String()
	}
}
