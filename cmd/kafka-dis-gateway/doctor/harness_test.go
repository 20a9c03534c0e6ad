package doctor

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is an embedded DIS with the stream orders, which has a record in partition
// 0, and the app billing, which has committed there; and the settings of a gateway
// for it, in which nothing is wrong.
type patient struct {
	t      *testing.T
	store  *embedded.Server
	client *dis.Client
	server *httptest.Server
	cfg    Config

	mu    sync.Mutex
	front func(w http.ResponseWriter, r *http.Request, next http.Handler) // nil: next alone
}

const secretKey = "a-secret-that-nobody-may-see"

func newPatient(t *testing.T, adjust ...func(*embedded.Config)) *patient {
	t.Helper()
	config := embedded.Config{
		DataDir: t.TempDir(), ProjectID: "p", Region: "r",
		AccessKeys: map[string]string{"ak": secretKey}, Faults: &embedded.FaultPlan{},
	}
	for _, change := range adjust {
		change(&config)
	}
	store, err := embedded.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &patient{t: t, store: store}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.server.CloseClientConnections() // of calls that hang
		p.server.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	p.cfg = Config{
		DIS:             dis.Config{Endpoint: p.server.URL, Region: "r", ProjectID: "p"},
		EndpointSetting: "--dis-endpoint", IdentitySource: "environment",
		Identity:     p.keys("ak", secretKey),
		Kafka:        []string{freeAddress(t)},
		Admin:        freeAddress(t),
		MemoryNeeded: 100 << 20, MemoryAvailable: func() (int64, error) { return 200 << 20, nil },
		AppName:    func(group string) (string, error) { return offsets.AppName(group, 200) },
		TopicAdmin: "create",
		Watch:      time.Millisecond,
		Limit:      10 * time.Second,
		openFiles:  func() (uint64, error) { return enoughFiles, nil },
	}
	p.client = p.disClient()
	p.fill()
	return p
}

func (p *patient) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	front := p.front
	p.mu.Unlock()
	if front == nil {
		p.store.Handler().ServeHTTP(w, r)
		return
	}
	front(w, r, p.store.Handler())
}

func (p *patient) setFront(front func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.front = front
}

func (p *patient) keys(accessKey, secretKey string) func(*dis.Config) error {
	return func(c *dis.Config) error {
		c.Credentials = dis.StaticCredentials(dis.Keys{AccessKey: accessKey, SecretKey: secretKey})
		return nil
	}
}

// disClient is that of the adapter, a console or another gateway.
func (p *patient) disClient() *dis.Client {
	p.t.Helper()
	client, err := dis.New(dis.Config{Endpoint: p.server.URL, Region: "r", ProjectID: "p",
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "ak", SecretKey: secretKey})})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(client.Close)
	return client
}

func (p *patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) fill() {
	p.t.Helper()
	ctx := p.t.Context()
	p.must(p.client.CreateStream(ctx, wire.CreateStreamRequest{StreamName: "orders", PartitionCount: 2}))
	p.put("orders", 0, []byte("v"))
	p.must(p.client.CreateApp(ctx, "billing"))
	p.commit("billing", 0)
}

func (p *patient) put(stream string, partition int, data []byte) {
	p.t.Helper()
	answer, err := p.client.PutRecords(p.t.Context(), &wire.PutRecordsRequest{StreamName: stream,
		Records: []wire.PutRecord{{Data: data, PartitionID: wire.Text(wire.PartitionID(partition))}}})
	p.must(err)
	if answer.FailedRecordCount > 0 {
		p.t.Fatalf("put: %+v", answer.Records)
	}
}

func (p *patient) commit(app string, number int) {
	p.t.Helper()
	p.must(p.client.CommitCheckpoint(p.t.Context(), wire.CommitCheckpointRequest{AppName: app, StreamName: "orders",
		PartitionID: wire.Text(wire.PartitionID(0)), SequenceNumber: wire.Text([]string{"0", "1"}[number])}))
}

func (p *patient) faults(faults ...embedded.Fault) {
	p.t.Helper()
	p.must(p.store.SetFaults(embedded.FaultPlan{Faults: faults}))
}

// report is what an examination found, in order.
type report struct {
	results []Result
	failed  []string
}

func (p *patient) examine() report { p.t.Helper(); return p.examineIn(p.t.Context()) }

func (p *patient) examineIn(ctx context.Context) (r report) {
	p.t.Helper()
	r.failed = Run(ctx, p.cfg, func(one Result) { r.results = append(r.results, one) })
	for _, one := range r.results {
		if strings.Contains(one.Found+one.Remedy, secretKey) {
			p.t.Errorf("a secret is shown: %+v", one)
		}
		if (one.State == Failed || one.State == Warning) && one.Remedy == "" && one.Check != "settings" {
			p.t.Errorf("a failure without a remedy: %+v", one)
		}
		if strings.Contains(one.Found+one.Remedy, "\n") || one.Found == "" {
			p.t.Errorf("not one line: %+v", one)
		}
	}
	return r
}

func (r report) String() string {
	var b strings.Builder
	write := Text(&b)
	for _, one := range r.results {
		write(one)
	}
	return b.String()
}

// of gives the results of a check, by "name" or "name subject".
func (r report) of(key string) (all []Result) {
	for _, one := range r.results {
		if one.Check == key || strings.TrimSpace(one.Check+" "+one.Subject) == key {
			all = append(all, one)
		}
	}
	return all
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
