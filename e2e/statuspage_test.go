package e2e

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// hostileName would run in a page that took it for markup.
const hostileName = `<script>document.title="taken over"</script>`

// pageLoad is a producer and a consumer group on a topic that can be paused.
type pageLoad struct {
	producing, consuming gate
	done                 sync.WaitGroup
}

// gate lets one of two through.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // closed while open
}

func newGate() gate { return gate{shut: closedChannel()} }

func closedChannel() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// pass waits until the gate is open, or ctx ends.
func (g *gate) pass(ctx context.Context) bool {
	g.mu.Lock()
	open := g.shut
	g.mu.Unlock()
	select {
	case <-open:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.shut)
}

// startPageLoad writes some hundred records a second and reads them in the group, until
// the test ends.
func startPageLoad(t *testing.T, broker, topic, group string) *pageLoad {
	t.Helper()
	l := &pageLoad{producing: newGate(), consuming: newGate()}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(func() { stop(); l.done.Wait() })
	producer := newFranz(t, broker, kgo.DefaultProduceTopic(topic), kgo.ClientID(hostileName), kgo.AllowAutoTopicCreation())
	if err := producer.ProduceSync(ctx, kgo.StringRecord("the first")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	l.done.Go(func() {
		for l.producing.pass(ctx) {
			for range 20 {
				producer.Produce(ctx, kgo.StringRecord(strings.Repeat("x", 100)), func(_ *kgo.Record, err error) {
					if err != nil && ctx.Err() == nil {
						t.Errorf("producing: %v", err)
					}
				})
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	consumer := newFranz(t, broker, kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group), kgo.ClientID("reader"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(500*time.Millisecond))
	l.done.Go(func() {
		for l.consuming.pass(ctx) {
			fetches := consumer.PollFetches(ctx)
			if err := consumer.CommitRecords(ctx, fetches.Records()...); err != nil && ctx.Err() == nil {
				t.Errorf("committing: %v", err)
			}
		}
	})
	return l
}

// shownCount reads a count with thin spaces in it, -1 for what is none.
func shownCount(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "\u2009", ""))
	if err != nil {
		return -1
	}
	return n
}

// TestStatusPageFollowsTheLoad in a browser, without being loaded again: topic, group
// and lag appear and change, rates come and go, an error of DIS shows up, names are
// text, and nothing comes from elsewhere.
func TestStatusPageFollowsTheLoad(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	d := startDev(t, "--admin-listen", "127.0.0.1:0", "--dis-faults")
	page := "http://" + waitForPrefix(t, d.stdout, "Admin ", startTimeout) + "/"
	b.open(page)
	eventually(t, startTimeout, "the page of a gateway that is ready", func() string {
		if seen := b.text("#head .state"); seen != "Ready" {
			return seen
		}
		return ""
	})
	b.run(nil, `window.loadedOnce = true`)

	const topic = "orders"
	l := startPageLoad(t, d.kafka, topic, hostileName)
	follow := func(what string, holds func(topic, group []string) bool) {
		t.Helper()
		eventually(t, startTimeout, what, func() string {
			topicRow, groupRow := b.row("#topics", topic), b.row("#groups", hostileName)
			if len(topicRow) < 6 || len(groupRow) < 5 || !holds(topicRow, groupRow) {
				return strings.Join(slices.Concat(topicRow, []string{"|"}, groupRow), "; ")
			}
			return ""
		})
	}
	recordsIn, recordsOut := func(topic []string) int { return shownCount(topic[2]) }, func(topic []string) int { return shownCount(topic[4]) }
	lag := func(group []string) int { return shownCount(group[3]) }

	follow("topic and group under load", func(topic, group []string) bool {
		return topic[1] == "1" && recordsIn(topic) > 50 && recordsOut(topic) > 50 && group[1] == "Stable" && group[2] == "1" && lag(group) >= 0
	})
	l.consuming.close()
	follow("a lag of a thousand while the consumer pauses", func(_, group []string) bool { return lag(group) > 1000 })
	l.consuming.open()
	follow("a lag that shrinks again", func(_, group []string) bool { return lag(group) >= 0 && lag(group) < 500 })
	l.producing.close()
	follow("rates that go back to nothing, and no lag", func(topic, group []string) bool {
		return topic[2] == "0" && topic[3] == "0 B/s" && topic[4] == "0" && group[3] == "0"
	})
	if clients := b.rows("#clients"); !slices.ContainsFunc(clients, func(client []string) bool {
		return client[2] == hostileName && strings.HasPrefix(client[3], "kgo ") && shownCount(client[5]) >= 10 && strings.HasPrefix(client[6], "Produce, ")
	}) {
		t.Errorf("the producer is not among the clients: %q", clients)
	}

	provoke(t, d.dis, `{"faults": [{"kind": "forbidden", "operations": ["PutRecords"]}]}`)
	failing := newFranz(t, d.kafka, kgo.DefaultProduceTopic(topic))
	if failing.ProduceSync(t.Context(), kgo.StringRecord("refused")).FirstErr() == nil {
		t.Error("a write is acknowledged that DIS does not permit")
	}
	eventually(t, startTimeout, "the error of DIS", func() string {
		row := b.row("#errors", "DIS.4116")
		if len(row) < 6 || row[1] != "PutRecords" || row[2] != topic || row[4] == "" || row[5] == "" {
			return strings.Join(row, "; ")
		}
		return ""
	})

	var kept struct {
		LoadedOnce bool
		Title      string
		Scripts    int
	}
	b.run(&kept, `return {loadedOnce: window.loadedOnce === true, title: document.title, scripts: document.scripts.length}`)
	if !kept.LoadedOnce || kept.Scripts != 1 || !strings.HasPrefix(kept.Title, "Ready") {
		t.Errorf("in the end the page is %+v", kept)
	}
	asked := b.requested(page)
	for _, url := range asked {
		if !strings.HasPrefix(url, page) && url != "data:," {
			t.Errorf("the page asked for %s", url)
		}
	}
	if len(asked) < 5 {
		t.Errorf("the page asked for %q alone", asked)
	}
	if complaints := b.log("browser"); len(complaints) > 0 {
		t.Errorf("the browser complains: %q", complaints)
	}

	d.signal(syscall.SIGKILL)
	eventually(t, startTimeout, "a word that the gateway is gone", func() string {
		if seen := b.text("#stale"); !strings.Contains(seen, "does not answer") {
			return "nothing"
		}
		return ""
	})
}
