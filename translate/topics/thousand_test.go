package topics_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// calls counts the requests to a DIS by operation.
type calls struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *calls) observe(call dis.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[call.Operation]++
}

// since gives the counts and begins anew.
func (c *calls) since() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := maps.Clone(c.counts)
	clear(c.counts)
	return counts
}

// manyStreams is an embedded DIS with streams of one partition. gateway is a client
// whose calls are counted, admin one that is somebody else.
type manyStreams struct {
	gateway, admin *dis.Client
	calls          *calls
	front          *front
}

// front stands before a DIS: it can take it away, and bound the describes a second as
// the control plane does.
type front struct {
	dis       http.Handler
	mu        sync.Mutex
	down      bool
	latency   time.Duration
	describes *rate.Limiter
	refused   int
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	down, refused := f.down, f.describes != nil && r.PathValue("stream") != "" && r.Method == http.MethodGet && !f.describes.Allow()
	if refused {
		f.refused++
	}
	latency := f.latency
	f.mu.Unlock()
	time.Sleep(latency)
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case refused:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"errorCode":"%s","message":"Too many stream requests."}`, wire.CodeTooManyStreamCalls)
	default:
		f.dis.ServeHTTP(w, r)
	}
}

func (f *front) takeAway(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

func openManyStreams(t testing.TB, streams int, retry dis.RetryPolicy) manyStreams {
	t.Helper()
	server, err := embedded.Open(embedded.Config{DataDir: t.TempDir(), AccessKeys: map[string]string{"dev": "dev-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	m := manyStreams{calls: &calls{counts: map[string]int{}}, front: &front{dis: server.Handler()}}
	paths := http.NewServeMux()
	paths.Handle("/v2/{project}/streams/{stream}", m.front)
	paths.Handle("/", m.front)
	listener := httptest.NewServer(paths)
	for client, observe := range map[**dis.Client]func(dis.Call){&m.gateway: m.calls.observe, &m.admin: nil} {
		*client, err = dis.New(dis.Config{
			Endpoint: listener.URL, Region: "local", ProjectID: "local", Observe: observe, Retry: retry,
			Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "dev", SecretKey: "dev-secret"}),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		m.gateway.Close()
		m.admin.Close()
		listener.Close()
		if err := server.Close(); err != nil {
			t.Errorf("close the embedded DIS: %v", err)
		}
	})
	var creations errgroup.Group
	creations.SetLimit(16)
	for i := range streams {
		creations.Go(func() error {
			return m.admin.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: fmt.Sprintf("s-%04d", i), PartitionCount: 1})
		})
	}
	if err := creations.Wait(); err != nil {
		t.Fatal(err)
	}
	return m
}

// seen waits for a refresh to show a topic with so many partitions, -1 for none.
func seen(t *testing.T, c *topics.Catalog, name string, partitions int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		all, err := c.Topics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		for _, topic := range all {
			if topic.Name == name {
				got = len(topic.Partitions)
			}
		}
		if got == partitions {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s has %d partitions, want %d", name, got, partitions)
		}
	}
}

// TestAThousandStreams counts the calls that a thousand streams cost over HTTP.
func TestAThousandStreams(t *testing.T) {
	const streams, pages, refresh = 1000, 10, 250 * time.Millisecond
	t.Parallel()
	m := openManyStreams(t, streams, dis.RetryPolicy{Attempts: 2, Initial: 100 * time.Millisecond})
	c := topics.New(topics.Config{ProjectID: "local", Refresh: refresh}, m.gateway)
	t.Cleanup(c.Close)

	began := time.Now()
	all, err := c.Topics(t.Context())
	if err != nil || len(all) != streams {
		t.Fatalf("%d topics, %v", len(all), err)
	}
	t.Logf("%d topics, each described, after %v", streams, time.Since(began))
	for _, topic := range all {
		if len(topic.Partitions) != 1 || topic.ID == [16]byte{} {
			t.Fatalf("topic %+v", topic)
		}
	}
	first := m.calls.since()
	if first["DescribeStream"] != streams || first["ListStreams"]%pages != 0 || first["ListStreams"] > 2*pages {
		t.Errorf("calls until every topic was known: %v", first)
	}

	// While nothing changes: lists, and nothing else.
	began = time.Now()
	for time.Since(began) < time.Second {
		if all, err := c.Topics(t.Context()); err != nil || len(all) != streams {
			t.Fatalf("%d topics, %v", len(all), err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	steady, took := m.calls.since(), time.Since(began)
	lists := steady["ListStreams"] / pages
	delete(steady, "ListStreams")
	if most := int(took/refresh) + 1; lists == 0 || lists > most || len(steady) != 0 {
		t.Errorf("%d lists in %v, and %v; want 1 to %d and nothing else", lists, took, steady, most)
	}

	// Changes that others make cost a describe each.
	if err := m.admin.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: "new", PartitionCount: 2}); err != nil {
		t.Fatal(err)
	}
	seen(t, c, "new", 2)
	if _, err := m.admin.ChangePartitionCount(t.Context(), "s-0500", 3); err != nil {
		t.Fatal(err)
	}
	seen(t, c, "s-0500", 3)
	if err := m.admin.DeleteStream(t.Context(), "s-0007"); err != nil {
		t.Fatal(err)
	}
	seen(t, c, "s-0007", -1)
	changes := m.calls.since()
	delete(changes, "ListStreams")
	if diff := cmp.Diff(map[string]int{"DescribeStream": 2}, changes); diff != "" {
		t.Errorf("calls for a stream that came, one that grew and one that went: %s", diff)
	}

	// Without DIS everything is as it was last.
	m.front.takeAway(true)
	for wait := time.Now().Add(time.Second); time.Now().Before(wait); time.Sleep(10 * time.Millisecond) {
		if all, err := c.Topics(t.Context()); err != nil || len(all) != streams {
			t.Fatalf("without DIS: %d topics, %v", len(all), err)
		}
		if topic, err := c.Topic(t.Context(), "s-0500"); err != nil || len(topic.Partitions) != 3 {
			t.Fatalf("without DIS: %+v, %v", topic, err)
		}
	}
	if _, err := c.Topic(t.Context(), "never-heard-of"); err == nil || dis.HasCode(err, wire.CodeStreamNotFound) {
		t.Errorf("a name that is not known, without DIS: %v", err)
	}
}

// TestControlPlaneWithALimit: describes that DIS refuses for their number are made
// again more slowly, and all topics become known.
func TestControlPlaneWithALimit(t *testing.T) {
	const streams = 100
	t.Parallel()
	m := openManyStreams(t, streams, dis.RetryPolicy{})
	m.front.mu.Lock()
	m.front.describes = rate.NewLimiter(50, 10)
	m.front.mu.Unlock()
	c := topics.New(topics.Config{ProjectID: "local"}, m.gateway)
	t.Cleanup(c.Close)
	all, err := c.Topics(t.Context())
	if err != nil || len(all) != streams {
		t.Fatalf("%d topics, %v", len(all), err)
	}
	for _, topic := range all {
		if _, err := c.Topic(t.Context(), topic.Name); err != nil {
			t.Error(errors.Unwrap(err))
		}
	}
	m.front.mu.Lock()
	defer m.front.mu.Unlock()
	if m.front.refused == 0 || m.front.refused > streams {
		t.Errorf("%d of %d calls were refused for their number", m.front.refused, streams+m.front.refused)
	}
}

// BenchmarkFirstTopics is the time until a gateway that was just started knows 1,000
// topics, with so much latency of each call.
func BenchmarkFirstTopics(b *testing.B) {
	m := openManyStreams(b, 1000, dis.RetryPolicy{})
	for _, latency := range []time.Duration{0, 10 * time.Millisecond, 50 * time.Millisecond} {
		b.Run(latency.String(), func(b *testing.B) {
			m.front.mu.Lock()
			m.front.latency = latency
			m.front.mu.Unlock()
			for b.Loop() {
				c := topics.New(topics.Config{ProjectID: "local"}, m.gateway)
				if all, err := c.Topics(b.Context()); err != nil || len(all) != 1000 {
					b.Fatalf("%d topics, %v", len(all), err)
				}
				c.Close()
			}
		})
	}
}
