package health

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

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

// readiness is whether DIS answers the gateway, and if not, why.
type readiness struct {
	ask     func(context.Context) error
	explain func(error) (what, do string)
	log     zerolog.Logger

	mu      sync.Mutex
	trouble string // "" while DIS answers
	outages int64  // that began after DIS had answered
}

func newReadiness(ask func(context.Context) error, explain func(error) (what, do string), log zerolog.Logger) *readiness {
	return &readiness{ask: ask, explain: explain, log: log, trouble: "DIS has not answered yet"}
}

// reason is why DIS is of no use, "" when it answers.
func (r *readiness) reason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trouble
}

func (r *readiness) disUp() bool { return r.reason() == "" }

func (r *readiness) state() (disUp bool, outages int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trouble == "", r.outages
}

// watch asks DIS until it answers, and again whenever an outage is noticed and when
// nobody else asks. Each outage has a line for its begin and one for its end.
func (r *readiness) watch(ctx context.Context, away *outage) {
	for {
		r.untilAnswered(ctx)
		away.ended()
		if !away.await(ctx) {
			return
		}
	}
}

// untilAnswered asks DIS until it answers. The gateway serves on meanwhile: clients
// that have it are better served with errors that name the trouble than with none.
func (r *readiness) untilAnswered(ctx context.Context) {
	var logged notice
	begin, pause := time.Now(), probePause
	for failures := 0; ; failures++ {
		attempt, cancel := context.WithTimeout(ctx, probeTimeout)
		err := r.ask(attempt)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			r.answered(failures, begin)
			return
		}
		if now := r.failed(err); now != logged { // it may stay so for a night
			r.log.Warn().Err(err).Str("remedy", now.do).Msg(now.what + "; the gateway serves on and asks again")
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

// notice is what a log line says of a trouble. The text of the error is no part of it:
// DIS's request id, which always differs, would make each failure news.
type notice struct{ what, do string }

func (r *readiness) answered(failures int, begin time.Time) {
	r.mu.Lock()
	r.trouble = ""
	r.mu.Unlock()
	if failures > 0 {
		r.log.Info().Int("failed_attempts", failures).Str("after", time.Since(begin).Round(time.Millisecond).String()).Msg("DIS answers, the gateway is ready")
	}
}

func (r *readiness) failed(err error) notice {
	what, do := r.explain(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble == "" {
		r.outages++
	}
	r.trouble = fmt.Sprintf("%s: %v: %s", what, err, do)
	return notice{what, do}
}
