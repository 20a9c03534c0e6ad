package e2e

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// worker is a client that writes a record and reads it back, again and again,
// and fails the test when anything is lost, refused or cut off.
type worker struct {
	t      *testing.T
	client *kgo.Client
	count  atomic.Int64
	cancel context.CancelFunc
	ended  chan struct{}
}

func startWorker(t *testing.T, broker string) *worker {
	t.Helper()
	w := &worker{t: t, ended: make(chan struct{})}
	w.client = newFranz(t, broker, kgo.DefaultProduceTopic("t"), kgo.ConsumeTopics("t"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.WithHooks(w))
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	t.Cleanup(w.stop)
	go w.run(ctx)
	return w
}

func (w *worker) run(ctx context.Context) {
	defer close(w.ended)
	for ctx.Err() == nil {
		if err := w.roundTrip(); err != nil {
			w.t.Errorf("the worker, after %d round trips: %v", w.count.Load(), err)
			return
		}
		w.count.Add(1)
	}
}

func (w *worker) roundTrip() error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	want := strconv.FormatInt(w.count.Load(), 10)
	if err := w.client.ProduceSync(ctx, kgo.StringRecord(want)).FirstErr(); err != nil {
		return fmt.Errorf("producing: %w", err)
	}
	fetches := w.client.PollRecords(ctx, 1)
	if err := fetches.Err(); err != nil {
		return fmt.Errorf("fetching: %w", err)
	}
	if got := string(fetches.Records()[0].Value); got != want {
		return fmt.Errorf("read %q where %q was due", got, want)
	}
	return nil
}

// OnBrokerDisconnect is kgo's hook: nothing may cut the worker off while it works.
func (w *worker) OnBrokerDisconnect(meta kgo.BrokerMetadata, _ net.Conn) {
	select {
	case <-w.ended:
	default:
		w.t.Errorf("the worker lost its connection to %s:%d", meta.Host, meta.Port)
	}
}

// progress is "" once the worker has made so many round trips.
func (w *worker) progress(wanted int64) string {
	if done := w.count.Load(); done < wanted {
		return fmt.Sprintf("%d of %d round trips", done, wanted)
	}
	return ""
}

// stop ends the work, then the connections.
func (w *worker) stop() {
	w.cancel()
	<-w.ended
	w.client.Close()
}
