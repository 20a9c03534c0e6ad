package dis

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if caFile := os.Getenv(behindProxy); caFile != "" {
		if err := clientBehindProxy(caFile); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// script is a transport that plays prepared steps and keeps what was sent, for
// tests of waiting in virtual time, where sockets cannot be used.
type script struct {
	t     *testing.T
	steps []step
	sent  []sentRequest
}

// step is one reaction of the other side.
type step struct {
	status  int
	body    string
	header  http.Header
	err     error         // instead of an answer
	unsent  bool          // err happens before the headers are written
	silence time.Duration // before the reaction
}

type sentRequest struct {
	at     time.Time
	method string
	uri    string
	header http.Header
	body   string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	index := len(s.sent)
	if index >= len(s.steps) {
		s.t.Errorf("unexpected attempt %d: %s %s", index+1, r.Method, r.URL)
		return nil, errors.New("the script is over")
	}
	step := s.steps[index]
	s.sent = append(s.sent, sentRequest{time.Now(), r.Method, r.URL.RequestURI(), r.Header.Clone(), drain(r)})
	if !step.unsent {
		httptrace.ContextClientTrace(r.Context()).WroteHeaders()
	}
	select {
	case <-time.After(step.silence):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if step.err != nil {
		return nil, step.err
	}
	return &http.Response{
		StatusCode: step.status, Header: step.header, ContentLength: -1,
		Body: io.NopCloser(strings.NewReader(step.body)), Request: r,
	}, nil
}

// drain reads a body as a transport does: to its end, and then closes it.
func drain(r *http.Request) string {
	if r.Body == nil {
		return ""
	}
	defer r.Body.Close()
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Sprintf("unreadable: %v", err)
	}
	return string(content)
}

// testConfig sends records as JSON, which tests can read.
func testConfig(endpoint string) Config {
	return Config{
		Endpoint: endpoint, Region: vectorRegion, ProjectID: "p1", Credentials: StaticCredentials(vectorKeys),
		RecordBody: RecordBodyJSON,
	}
}

// play returns a client whose requests meet the steps in turn.
func play(t *testing.T, change func(*Config), steps ...step) (*Client, *script) {
	t.Helper()
	cfg := testConfig("http://dis.test")
	if change != nil {
		change(&cfg)
	}
	cfg, err := cfg.checked()
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, steps: steps}
	return newClient(cfg, s), s
}

func failedWith(t *testing.T, err error) *Error {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return failure
}

func refusal(status int, code string) step {
	return step{status: status, body: fmt.Sprintf(`{"errorCode":%q,"message":"text of %s"}`, code, code)}
}
