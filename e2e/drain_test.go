package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// serving is a `serve` process in front of an `embedded-dis` process.
type serving struct {
	*process
	kafka, admin string
	endpoint     string // of DIS
	dis          *process
}

func startServe(t testing.TB, args ...string) *serving {
	t.Helper()
	dis, endpoint := startDIS(t, nil)
	return startServeAt(t, endpoint, dis, args...)
}

func startServeAt(t testing.TB, endpoint string, dis *process, args ...string) *serving {
	t.Helper()
	return startServeAs(t, credentials, endpoint, dis, args...)
}

// startServeAs runs a gateway with the keys of an environment.
func startServeAs(t testing.TB, environment []string, endpoint string, dis *process, args ...string) *serving {
	t.Helper()
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--dis-endpoint", endpoint}, args...)
	s := &serving{process: start(t, environment, gatewayBinary, args...), endpoint: endpoint, dis: dis}
	s.kafka = waitForPrefix(t, s.stdout, "Kafka ", startTimeout)
	s.admin = waitForPrefix(t, s.stdout, "Admin ", startTimeout)
	return s
}

// ask returns status and body of an admin page.
func (s *serving) ask(t testing.TB, page string) (int, string) {
	t.Helper()
	answer, err := http.Get("http://" + s.admin + page)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(body))
}

func (s *serving) waitReady(t testing.TB) {
	t.Helper()
	eventually(t, startTimeout, "/readyz", func() string {
		if status, reason := s.ask(t, "/readyz"); status != http.StatusOK {
			return reason
		}
		return ""
	})
}

// TestDrain: after SIGTERM the gateway says that it is not ready, goes on
// serving, also on new connections, and ends once no client is left.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--topic-admin", "create")
	s.waitReady(t)
	createTopic(t, s.kafka, "t", 1)
	client := newFranz(t, s.kafka, kgo.DefaultProduceTopic("t"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	produce := func(client *kgo.Client, when string) {
		t.Helper()
		if err := client.ProduceSync(ctx, kgo.StringRecord(when)).FirstErr(); err != nil {
			t.Fatalf("producing %s: %v", when, err)
		}
	}
	produce(client, "before the signal")

	s.signal(syscall.SIGTERM)
	eventually(t, 10*time.Second, "/readyz to turn", func() string {
		if status, reason := s.ask(t, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(reason, "draining") {
			return reason
		}
		return ""
	})
	produce(client, "while draining")
	late := newFranz(t, s.kafka, kgo.DefaultProduceTopic("t"))
	produce(late, "on a new connection while draining")
	if status, body := s.ask(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz while draining: %d %s", status, body)
	}
	if !s.running() {
		t.Fatal("the gateway ended while clients were connected")
	}
	client.Close()
	late.Close()
	if code := s.exitCode(20 * time.Second); code != 0 {
		t.Errorf("exit code %d after a drain:\n%s", code, s.stderr)
	}
}

// TestGracePeriodEnds: a client that stays is cut off when the grace period is
// over, and its waiting fetch is no reason to stay longer.
func TestGracePeriodEnds(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--grace-period", "7s")
	s.waitReady(t)
	createTopic(t, s.kafka, "t", 1)
	asked := make(fetchAsked, 1)
	client := newFranz(t, s.kafka, kgo.ConsumeTopics("t"), kgo.FetchMaxWait(20*time.Second), kgo.WithHooks(asked))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go client.PollFetches(ctx)
	select {
	case <-asked:
	case <-time.After(10 * time.Second):
		t.Fatal("the client asks for no records")
	}
	begin := time.Now()
	s.signal(syscall.SIGTERM)
	if code := s.exitCode(20 * time.Second); code != 0 {
		t.Errorf("exit code %d:\n%s", code, s.stderr)
	}
	if took := time.Since(begin); took < time.Second || took > 10*time.Second {
		t.Errorf("the drain took %s of a grace period of 7s", took)
	}
	var messages []string
	for _, line := range s.stderr.all() {
		var entry struct{ Message string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("log line %s: %v", line, err)
		}
		messages = append(messages, entry.Message)
	}
	if len(messages) < 4 || messages[0] != "gateway started" || messages[len(messages)-1] != "gateway stopped" {
		t.Errorf("the log does not tell the life of the gateway: %q", messages)
	}
}

// fetchAsked is a hook of kgo that tells when a Fetch request was sent.
type fetchAsked chan struct{}

func (f fetchAsked) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if kmsg.Key(key) != kmsg.Fetch || err != nil {
		return
	}
	select {
	case f <- struct{}{}:
	default:
	}
}

// TestSecondSignalEndsAtOnce: Ctrl-C twice does not wait for anyone.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := startServe(t)
	s.waitReady(t)
	client := newFranz(t, s.kafka)
	if err := client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGTERM)
	eventually(t, 10*time.Second, "the drain to begin", func() string {
		if status, reason := s.ask(t, "/readyz"); status == http.StatusOK {
			return reason
		}
		return ""
	})
	time.Sleep(200 * time.Millisecond) // a wrapper's second signal, in the same moment, is another thing
	s.signal(syscall.SIGINT)
	if code := s.exitCode(5 * time.Second); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

// TestUnreachableDIS: the gateway runs without DIS, says why it is not ready,
// and is ready once DIS answers.
func TestUnreachableDIS(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	s := startServeAt(t, "http://"+address, nil)
	eventually(t, 10*time.Second, "/readyz to say why", func() string {
		if status, reason := s.ask(t, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(reason, "connection refused") {
			return reason
		}
		return ""
	})
	if status, body := s.ask(t, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz: %d %s", status, body)
	}
	startDIS(t, nil, "--listen", address)
	s.waitReady(t)
}

// TestDevStopsFast: Ctrl-C ends dev although a client is connected.
func TestDevStopsFast(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:1")
	client := newFranz(t, d.kafka)
	if err := client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	d.signal(syscall.SIGINT)
	if code := d.exitCode(10 * time.Second); code != 0 {
		t.Errorf("exit code %d:\n%s", code, d.stderr)
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("dev took %s to stop", took)
	}
}
