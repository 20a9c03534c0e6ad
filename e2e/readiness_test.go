package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestNotReadyWhenDISRefusesTheGateway, with the reason and what to do, from the start
// as well as later, and ready again as soon as DIS takes it. /healthz is about the
// process and answers all the time.
func TestNotReadyWhenDISRefusesTheGateway(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults string // "" for none
		keys   []string
		want   []string
	}{
		// DIS has one answer for a user without permission and for an account in arrears.
		"no permission, or arrears": {`{"faults": [{"kind": "forbidden"}]}`, credentials, []string{"DIS.4116", "may use DIS in this project", "balance"}},
		"unavailable":               {`{"faults": [{"kind": "error-5xx", "status": 503}]}`, credentials, []string{"DIS is in trouble", "503"}},
		"wrong secret key":          {"", replaced(credentials, "HUAWEICLOUD_SDK_SK", "wrong"), []string{"DIS refuses the gateway", "HUAWEICLOUD_SDK_SK"}},
		"wrong access key":          {"", replaced(credentials, "HUAWEICLOUD_SDK_AK", "wrong"), []string{"DIS refuses the gateway", "HUAWEICLOUD_SDK_AK"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dis, endpoint := startDIS(t, credentials, "--faults")
			if c.faults != "" {
				provoke(t, endpoint, c.faults)
			}
			s := startServeAs(t, c.keys, endpoint, dis)
			refused := func() {
				t.Helper()
				eventually(t, startTimeout, "/readyz to name the reason", func() string {
					status, text := s.ask(t, "/readyz")
					for _, wanted := range c.want {
						if status != http.StatusServiceUnavailable || !strings.Contains(text, wanted) {
							return fmt.Sprintf("%d %s: no %q", status, text, wanted)
						}
					}
					return ""
				})
				if status, text := s.ask(t, "/healthz"); status != http.StatusOK || text != "ok" {
					t.Errorf("/healthz: %d %s", status, text)
				}
				if _, page := s.ask(t, "/"); !strings.Contains(page, "Not ready") {
					t.Error("the status page does not tell that the gateway is not ready")
				}
			}
			refused()
			if c.faults == "" {
				return
			}
			provoke(t, endpoint, `{}`)
			s.waitReady(t)
			provoke(t, endpoint, c.faults)
			refused()
		})
	}
}

// replaced are variables of which one has another value.
func replaced(variables []string, name, value string) (all []string) {
	for _, v := range variables {
		if strings.HasPrefix(v, name+"=") {
			v = name + "=" + value
		}
		all = append(all, v)
	}
	return all
}

// TestDegradedWhenDISRefusesWrites: the gateway stays ready for its consumers, and says
// on /readyz, the status page, the metrics and once in the log what is refused and what
// to do.
func TestDegradedWhenDISRefusesWrites(t *testing.T) {
	t.Parallel()
	dis, endpoint := startDIS(t, credentials, "--faults")
	s := startServeAt(t, endpoint, dis, "--topic-admin", "create")
	s.waitReady(t)
	createTopic(t, s.kafka, "orders", 1)
	client := newFranz(t, s.kafka, kgo.DefaultProduceTopic("orders"))
	write := func() error { return client.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr() }
	if err := write(); err != nil {
		t.Fatal(err)
	}
	provoke(t, endpoint, `{"faults": [{"kind": "forbidden", "operations": ["PutRecords"]}]}`)
	eventually(t, 2*startTimeout, "/readyz to tell that writes are refused", func() string {
		if write() == nil {
			t.Fatal("a write that DIS refuses is acknowledged")
		}
		status, text := s.ask(t, "/readyz")
		if status != http.StatusOK {
			t.Fatalf("/readyz: %d %s", status, text)
		}
		if !strings.HasPrefix(text, "ready\nDIS has refused every write to orders for ") || !strings.Contains(text, "DIS.4116") || !strings.Contains(text, "may use DIS in this project") {
			time.Sleep(time.Second)
			return text
		}
		return ""
	})
	if _, page := s.ask(t, "/"); !strings.Contains(page, "Ready, but degraded") || !strings.Contains(page, "every write to orders") {
		t.Error("the status page does not tell it")
	}
	if _, page := s.ask(t, "/metrics"); !strings.Contains(page, `kdg_dis_refused_streams{calls="writes"} 1`+"\n") || !strings.Contains(page, `kdg_dis_refused_streams{calls="reads"} 0`+"\n") {
		t.Error("the metrics do not tell it")
	}
	told := 0
	for _, line := range logged(s.process) {
		if message, _ := line["message"].(string); strings.HasPrefix(message, "DIS has refused every such call") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d lines in the log, want one", told)
	}
	provoke(t, endpoint, `{}`)
	if err := write(); err != nil {
		t.Errorf("a write once DIS takes it: %v", err)
	}
	if status, text := s.ask(t, "/readyz"); status != http.StatusOK || text != "ready" {
		t.Errorf("/readyz after it: %d %s", status, text)
	}
}
