package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestWriteTest: one record is written, and nothing else is left.
func TestWriteTest(t *testing.T) {
	p := newPatient(t)
	p.cfg.WriteTest = "orders"
	r := p.examine()
	if len(r.failed) > 0 {
		t.Fatalf("failed: %q\n%s", r.failed, r)
	}
	for key, want := range map[string]string{
		"permission PutRecords":        "one record is in partition 0 of stream orders at offset 1",
		"permission CreateApp":         "app kdg-doctor-",
		"permission CommitCheckpoint":  "offset 0 of partition 0 was committed and read back",
		"permission DeleteCheckpoints": "the checkpoint was deleted",
		"permission DeleteApp":         "the app was deleted",
	} {
		if got := r.of(key); len(got) != 1 || got[0].State != OK || !strings.HasPrefix(got[0].Found, want) {
			t.Errorf("%s: %+v, want %q", key, got, want)
		}
	}
	p.wantsApps("billing")
}

// wantsApps are the apps that are to be there, and no others.
func (p *patient) wantsApps(want ...string) {
	p.t.Helper()
	apps, err := p.client.ListApps(context.WithoutCancel(p.t.Context()), "")
	p.must(err)
	var got []string
	for _, app := range apps {
		got = append(got, app.AppName)
	}
	if !slices.Equal(got, want) {
		p.t.Errorf("apps %q, want %q", got, want)
	}
}

// TestReadsOnly: without a write test nothing is changed.
func TestReadsOnly(t *testing.T) {
	p := newPatient(t)
	var changes atomic.Int64
	p.setFront(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet {
			changes.Add(1)
			t.Errorf("%s %s", r.Method, r.URL)
		}
		next.ServeHTTP(w, r)
	})
	p.cfg.TopicAdmin = "full"
	if r := p.examine(); len(r.failed) > 0 || changes.Load() > 0 {
		t.Errorf("failed: %q, %d changes", r.failed, changes.Load())
	}
}

// TestStopped: who is stopped in the middle of a write test takes its app along, and
// says of the rest that it was not looked at.
func TestStopped(t *testing.T) {
	p := newPatient(t)
	p.cfg.WriteTest = "orders"
	ctx, stop := context.WithCancel(t.Context())
	p.setFront(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(w, r)
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/apps") {
			stop()
		}
	})
	r := p.examineIn(ctx)
	if got := r.of("topic"); len(got) != 1 || got[0].State != Skipped || got[0].Found != "the examination was stopped" {
		t.Errorf("topics: %+v", got)
	}
	p.wantsApps("billing")
}

// TestEverythingHangs: each call to DIS hangs, and every check says so or that it was
// skipped.
func TestEverythingHangs(t *testing.T) {
	for _, a := range apis {
		if a.try == nil {
			continue
		}
		t.Run(a.operation, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			p.cfg.Limit, p.cfg.WriteTest = 500*time.Millisecond, "orders"
			p.faults(embedded.Fault{Kind: embedded.FaultLatency, Operations: []string{a.operation}, Latency: embedded.FaultDuration(time.Hour)})
			r := p.examine()
			if len(r.failed) == 0 {
				t.Errorf("nothing failed:\n%s", r)
			}
			if got := r.of("checkpoints"); len(got) == 0 {
				t.Errorf("the report has no end:\n%s", r)
			}
		})
	}
}

// TestGivenUp: a check that does not heed its time is left behind.
func TestGivenUp(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	c := check{name: "stubborn", limit: time.Millisecond, run: func(context.Context, *examination) []Result { <-release; return nil }}
	got := c.within(t.Context(), newExamination(Config{Limit: time.Hour}))
	if len(got) != 1 || got[0].State != Failed || got[0].Found != "no result within 1ms" {
		t.Errorf("%+v", got)
	}
}

// TestNameResolutionHangs: a name server that never answers.
func TestNameResolutionHangs(t *testing.T) {
	standard, ended := net.DefaultResolver, make(chan struct{})
	defer func() { close(ended); net.DefaultResolver = standard }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() { // questions are taken, and not answered while the test runs
			<-ended
			there.Close()
		}()
		return here, nil
	}}
	p := newPatient(t)
	p.cfg.Limit, p.cfg.DIS.Endpoint = 500*time.Millisecond, "https://dis.example"
	r := p.examine()
	if got := r.of("dns dis.example"); len(got) != 1 || got[0].State != Failed || !strings.Contains(got[0].Remedy, "--dis-endpoint") {
		t.Errorf("%+v", got)
	}
}

// TestStagesThatDoNotEnd: what an examination sees of firewalls that drop packets,
// and of proxies, for which a test has no network.
func TestStagesThatDoNotEnd(t *testing.T) {
	at := endpoint{url: &url.URL{Scheme: "https", Host: "dis.example"}, setting: "--dis-endpoint"}
	proxy := &url.URL{Scheme: "http", Host: "proxy:3128", User: url.UserPassword("user", "password")}
	passed := stage{begun: true, done: true}
	refused := &dis.Error{Operation: "ListStreams", Err: errors.New("Forbidden")}
	for name, c := range map[string]struct {
		p     *probe
		look  func(*probe) []Result
		state State
		found string
	}{
		"dropped packets":     {&probe{connected: stage{begun: true}, peer: "192.0.2.1:443"}, (*probe).lookConnection, Failed, "nothing answers at 192.0.2.1:443"},
		"by a proxy":          {&probe{proxy: proxy, connected: passed, peer: "192.0.2.1:3128"}, (*probe).lookConnection, OK, "by the proxy http://user:xxxxx@proxy:3128 (HTTPS_PROXY)"},
		"a proxy's name":      {&probe{proxy: proxy, resolved: stage{begun: true, done: true, err: errors.New("no such host")}}, (*probe).lookName, Failed, "proxy is no name"},
		"a proxy refuses":     {&probe{proxy: proxy, connected: passed, err: refused}, (*probe).lookCertificate, Failed, "no connection to dis.example by the proxy http://user:xxxxx@proxy:3128 (HTTPS_PROXY): Forbidden"},
		"a handshake hangs":   {&probe{connected: passed, secured: stage{begun: true}, err: refused}, (*probe).lookCertificate, Failed, "no end of the handshake"},
		"a name hangs":        {&probe{resolved: stage{begun: true}}, (*probe).lookName, Failed, "the resolution of dis.example does not end"},
		"records in the open": {&probe{endpoint: endpoint{url: &url.URL{Scheme: "http", Host: "dis.example"}, setting: "--dis-endpoint"}}, (*probe).lookCertificate, Warning, "can be read on the way"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.p.endpoint.url == nil {
				c.p.endpoint = at
			}
			got := c.look(c.p)
			if len(got) != 1 || got[0].State != c.state || !strings.Contains(got[0].Found, c.found) || (c.state != OK) == (got[0].Remedy == "") {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestManyTopics: those that there is no time for are counted.
func TestManyTopics(t *testing.T) {
	p := newPatient(t)
	for _, name := range []string{"a", "b", "c"} {
		p.must(p.client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: name, PartitionCount: 1}))
	}
	r := p.examine()
	var subjects []string
	for _, one := range r.of("topic") {
		subjects = append(subjects, one.Subject)
	}
	if want := []string{"a", "b", "c", "orders"}; !slices.Equal(subjects, want) {
		t.Errorf("topics %q, want %q", subjects, want)
	}
	p.setFront(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/streams/c") {
			<-r.Context().Done()
			return
		}
		next.ServeHTTP(w, r)
	})
	e := newExamination(p.cfg)
	e.client = p.client
	list, err := p.client.ListStreams(t.Context())
	p.must(err)
	e.streams = e.exposed(list)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	got := lookTopics(ctx, e)
	if last := got[len(got)-1]; len(got) != 4 || last.State != Skipped || !strings.HasPrefix(last.Found, "1 more topic not looked at") {
		t.Errorf("%+v", got)
	}
}

// TestAliases: what the settings hide or rename is seen by the names of clients, and
// streams of other accounts by their ids.
func TestAliases(t *testing.T) {
	p := newPatient(t)
	for _, name := range []string{"secret", "theirs"} {
		p.must(p.client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: name, PartitionCount: 1}))
	}
	p.put("theirs", 0, []byte("v"))
	theirs, err := p.client.DescribeStream(t.Context(), "theirs")
	p.must(err)
	p.cfg.Names = new(translate.Names)
	p.must(p.cfg.Names.Add(translate.Alias{Topic: "shop.orders", Stream: translate.StreamRef{Name: "orders"}}))
	p.must(p.cfg.Names.Add(translate.Alias{Topic: "partner", Stream: translate.StreamRef{ID: theirs.StreamID}}))
	p.cfg.Names.Hide("secret")
	p.cfg.Names.Hide("theirs") // as it belongs to somebody else
	r := p.examine()
	for _, key := range []string{"topic shop.orders", "topic partner"} {
		if got := r.of(key); len(got) != 1 || got[0].State != OK || !strings.Contains(got[0].Found, "1 record ") || !strings.Contains(got[0].Found, "1 plain") {
			t.Errorf("%+v\n%s", got, r)
		}
	}
	if got := r.of("permission ListStreams"); got[0].Found != "3 streams, 2 topics" {
		t.Errorf("%+v", got)
	}
	if got := r.of("topic"); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

// TestForms: the report for people and for programs.
func TestForms(t *testing.T) {
	r := Result{Check: "clock", Subject: "dis.example", State: Failed, Found: "20m <behind>", Remedy: "set it"}
	var text, lines strings.Builder
	Text(&text)(r)
	JSON(&lines)(r)
	if got, want := text.String(), "failed   clock        dis.example: 20m <behind>. To do: set it\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var back Result
	if err := json.Unmarshal([]byte(lines.String()), &back); err != nil || back != r || strings.Count(lines.String(), "\n") != 1 {
		t.Errorf("%s: %+v, %v", lines.String(), back, err)
	}
}
