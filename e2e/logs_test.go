package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// logLine is a line of the gateway's log.
type logLine map[string]any

// logged are the lines that a process has logged as JSON, the others left out.
func logged(p *process) (found []logLine) {
	for _, text := range p.stderr.all() {
		var line logLine
		if json.Unmarshal([]byte(text), &line) == nil {
			found = append(found, line)
		}
	}
	return found
}

func (l logLine) is(fields ...any) bool {
	for i := 0; i < len(fields); i += 2 {
		if l[fields[i].(string)] != fields[i+1] {
			return false
		}
	}
	return true
}

// names are the requests of a line: of a Kafka request its own, of a call of DIS those
// that it was made for.
func (l logLine) names() (names []string) {
	if one, found := l["request"].(string); found {
		names = append(names, one)
	}
	if several, found := l["requests"].([]any); found {
		for _, one := range several {
			names = append(names, one.(string))
		}
	}
	return names
}

// TestRequestsAreFollowedThroughTheLog from the client to the calls of DIS that they
// caused, by the names that both lines have.
func TestRequestsAreFollowedThroughTheLog(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--topic-admin", "create", "--log-level", "debug")
	s.waitReady(t)
	createTopic(t, s.kafka, "t", 1)
	const clientID = "followed"
	client := newFranz(t, s.kafka, kgo.ClientID(clientID), kgo.DefaultProduceTopic("t"), kgo.ConsumeTopics("t"), kgo.ConsumerGroup("g"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err := client.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if records := client.PollFetches(t.Context()).Records(); len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	if err := client.CommitUncommittedOffsets(t.Context()); err != nil {
		t.Fatal(err)
	}
	for api, operation := range map[string]string{
		"Produce": "PutRecords", "Fetch": "GetRecords", "OffsetFetch": "ConsumerState", "OffsetCommit": "CommitCheckpoint",
	} {
		eventually(t, startTimeout, "the way of a "+api+" request", func() string {
			lines := logged(s.process)
			at := slices.IndexFunc(lines, func(l logLine) bool {
				return l.is("message", "Kafka request", "api", api, "client_id", clientID)
			})
			if at < 0 {
				return "no line of the request"
			}
			asked := lines[at]
			if want := fmt.Sprintf("%v/%v", asked["connection"], asked["correlation_id"]); asked["request"] != want || asked["took_ms"] == nil || asked["version"] == nil {
				return fmt.Sprintf("%v is not called %s, or lacks something", asked, want)
			}
			called := slices.IndexFunc(lines, func(l logLine) bool {
				return l.is("message", "DIS call", "operation", operation, "stream", "t") && slices.Contains(l.names(), asked["request"].(string))
			})
			if called < 0 {
				return fmt.Sprintf("no %s was made for it", operation)
			}
			if id, _ := lines[called]["dis_request_id"].(string); id == "" {
				return fmt.Sprintf("no request id of DIS in %v", lines[called])
			}
			return ""
		})
	}
	for _, line := range logged(s.process) {
		if line["level"] == "warn" || line["level"] == "error" {
			t.Errorf("%v", line)
		}
	}
}

// TestNothingIsLoggedInNormalOperation: between its start and its stop the gateway has
// nothing to say, whatever well-behaved clients do, but that one made a topic.
func TestNothingIsLoggedInNormalOperation(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--topic-admin", "create")
	s.waitReady(t)
	createTopic(t, s.kafka, "t", 2)
	client := newFranz(t, s.kafka, kgo.DefaultProduceTopic("t"), kgo.ConsumeTopics("t"), kgo.ConsumerGroup("g"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for range 20 {
		if err := client.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		client.PollFetches(t.Context())
		if err := client.CommitUncommittedOffsets(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kadm.NewClient(client).Lag(t.Context(), "g"); err != nil {
		t.Error(err)
	}
	client.Close()
	s.signal(syscall.SIGTERM)
	if code := s.exitCode(startTimeout); code != 0 {
		t.Errorf("exit code %d", code)
	}
	var said []string
	for _, line := range logged(s.process) {
		said = append(said, fmt.Sprint(line["message"]))
	}
	expected := []string{"gateway started", "topic created", "draining", "drained", "gateway stopped"}
	for _, message := range said {
		if !slices.ContainsFunc(expected, func(begin string) bool { return strings.HasPrefix(message, begin) }) {
			t.Errorf("the gateway said %q", message)
		}
	}
	if len(said) < 3 {
		t.Errorf("the gateway said no more than %q", said)
	}
}

// TestHostileClientDoesNotFillTheLog: garbage in a loop costs some lines and a count,
// from which nothing is missing.
func TestHostileClientDoesNotFillTheLog(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "t:1")
	const attempts = 600
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for range attempts / 4 {
				nc, err := net.Dial("tcp", d.kafka)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = nc.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
				if err == nil {
					err = nc.SetReadDeadline(time.Now().Add(startTimeout))
				}
				if err != nil {
					t.Error(err)
				}
				if n, err := nc.Read(make([]byte, 1)); n > 0 || err == nil {
					t.Errorf("garbage is answered: %d bytes, %v", n, err)
				}
				nc.Close() // the server has closed it
			}
		})
	}
	clients.Wait()
	d.signal(syscall.SIGTERM)
	if code := d.exitCode(startTimeout); code != 0 {
		t.Errorf("exit code %d", code)
	}
	single, counted := 0, 0
	for _, line := range logged(d.process) {
		if line["message"] != "connection closed" {
			continue
		}
		if n, found := line["suppressed"].(float64); found {
			counted += int(n)
			continue
		}
		single++
	}
	if single > 100 || single+counted != attempts {
		t.Errorf("%d lines and %d counted of %d connections", single, counted, attempts)
	}
}

// TestSecretsAreNowhere: not in the log at its most talkative, on the pages of the
// admin address, or in the errors of clients, whether DIS takes them or not.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	const accessKey, secretKey, token = "AKID0123456789", "sk-nobody-may/see+this", "token-nobody-may-see"
	keys := []string{
		"HUAWEICLOUD_SDK_AK=" + accessKey, "HUAWEICLOUD_SDK_SK=" + secretKey, "HUAWEICLOUD_SDK_SECURITY_TOKEN=" + token,
		"HUAWEICLOUD_SDK_PROJECT_ID=local", "HUAWEICLOUD_SDK_REGION=local",
	}
	for name, disKeys := range map[string][]string{
		"accepted": {"HUAWEICLOUD_SDK_AK=" + accessKey, "HUAWEICLOUD_SDK_SK=" + secretKey},
		"refused":  {"HUAWEICLOUD_SDK_AK=" + accessKey, "HUAWEICLOUD_SDK_SK=another"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dis, endpoint := startDIS(t, disKeys, "--faults")
			s := startServeAs(t, keys, endpoint, dis, "--log-level", "trace", "--topic-admin", "create")
			var told []string
			note := func(err error) { told = append(told, fmt.Sprint(err)) }

			client := newFranz(t, s.kafka, kgo.DefaultProduceTopic("t"), kgo.RecordDeliveryTimeout(3*time.Second), kgo.RecordRetries(2))
			_, err := kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, nil, "t")
			note(err)
			note(client.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr())
			provoke(t, endpoint, `{"faults": [{"kind": "forbidden"}]}`)
			note(client.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr())
			_, err = kadm.NewClient(client).CreateTopic(t.Context(), 1, 1, nil, "u")
			note(err)
			eventually(t, startTimeout, "an error on the status page", func() string {
				if _, page := s.ask(t, "/status.json"); !strings.Contains(page, `"operation"`) {
					return page
				}
				return ""
			})
			for _, page := range []string{"/", "/status.json", "/metrics", "/readyz", "/debug/pprof/cmdline"} {
				_, text := s.ask(t, page)
				told = append(told, text)
			}
			client.Close()
			s.signal(syscall.SIGTERM)
			s.exitCode(startTimeout)
			told = append(told, s.stdout.String(), s.stderr.String())
			for _, text := range told {
				for _, secret := range []string{secretKey, token} {
					if strings.Contains(text, secret) {
						t.Errorf("%s is in %s", secret, tail(text, 3000))
					}
				}
			}
			if log := s.stderr.String(); !strings.Contains(log, `"message":"DIS call"`) || !strings.Contains(log, `"message":"Kafka request"`) {
				t.Errorf("the log does not show what it is searched for:\n%s", tail(log, 2000))
			}
		})
	}
}

// TestConsoleLog is for people: no JSON, one line an event, the level in three letters.
func TestConsoleLog(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--log-format", "console", "--topic-admin", "create", "--log-level", "debug")
	s.waitReady(t)
	createTopic(t, s.kafka, "t", 1)
	line := waitFor(t, s.stderr, "line of the topic", startTimeout, func(all []string) (string, bool) {
		for _, line := range all {
			if strings.Contains(line, "topic created") {
				return line, true
			}
		}
		return "", false
	})
	if len(line) < 8 || line[2] != ':' || line[5] != ':' || !strings.Contains(line, " INF topic created ") || !strings.Contains(line, "topic=t") {
		t.Errorf("%q", line)
	}
	for _, line := range s.stderr.all() {
		if strings.ContainsAny(line, "{}\x1b") {
			t.Errorf("%q", line)
		}
	}
}
