package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
)

// output is what a command that runs has printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// eventually asks until there is an answer that is good.
func eventually(t *testing.T, what string, ask func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ask(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s", what)
		}
	}
}

// TestMistakesThatOnlyDISKnows do not end the start, since they may pass or be put
// right in DIS: the gateway runs and is not ready, and /readyz and one line of the
// log say why and what to check.
func TestMistakesThatOnlyDISKnows(t *testing.T) {
	keys, token := writeFile(t, "access_key: who\nsecret_key: "+theSecret+"\n"), writeFile(t, "a-token-that-nobody-knows\n")
	for _, m := range []struct {
		name    string
		dis     func(*embedded.Config)
		env     map[string]string
		args    []string
		trouble string // the code of DIS or what is said of no answer
		remedy  string
	}{
		{"a wrong secret key", nil, env("HUAWEICLOUD_SDK_SK", theSecret), nil, "DIS.4112",
			"check HUAWEICLOUD_SDK_AK and HUAWEICLOUD_SDK_SK, or the other source of keys (--dis-credentials)"},
		{"an unknown access key", nil, env("HUAWEICLOUD_SDK_AK", "who"), nil, "DIS.4107",
			"check HUAWEICLOUD_SDK_AK and HUAWEICLOUD_SDK_SK, or the other source of keys (--dis-credentials)"},
		{"a wrong key in a file", nil, nil, []string{"--dis-credentials-file=" + keys}, "DIS.4107",
			"check access_key and secret_key in file " + keys + " (--dis-credentials-file)"},
		{"a wrong token", nil, nil, []string{"--dis-token-file=" + token}, "DIS.4114",
			"check the token in file " + token + " (--dis-token-file): temporary keys need a security token, and tokens expire"},
		{"a wrong region", nil, env("HUAWEICLOUD_SDK_REGION", "elsewhere"), nil, "DIS.4111", "check HUAWEICLOUD_SDK_REGION (or --region)"},
		{"a wrong project", nil, env("HUAWEICLOUD_SDK_PROJECT_ID", "another"), nil, "DIS.4117", "check HUAWEICLOUD_SDK_PROJECT_ID (or --project-id)"},
		{"a clock that is off", func(c *embedded.Config) { c.Now = func() time.Time { return time.Now().Add(20 * time.Minute) } }, nil, nil,
			"DIS.4105", "set the clock of this machine (NTP)"},
		{"a missing permission", func(c *embedded.Config) {
			c.Faults = &embedded.FaultPlan{Faults: []embedded.Fault{{Kind: embedded.FaultForbidden}}}
		}, nil, nil, "DIS.4116", "check that the keys' user may use DIS in this project (HUAWEICLOUD_SDK_PROJECT_ID or --project-id), and the account's balance"},
		{"nobody there", nil, nil, []string{"--dis-endpoint=http://127.0.0.1:1"}, "connection refused",
			"check --dis-endpoint, name resolution, proxy (HTTPS_PROXY) and network"},
		{"a name that does not exist", nil, nil, []string{"--dis-endpoint=https://dis..example"}, "no such host",
			"check --dis-endpoint or --region for spelling, and the name resolution of this machine"},
		{"a wrong scheme", nil, nil, []string{"--dis-endpoint=https://HOST"}, "HTTP response to HTTPS client",
			"check --dis-endpoint: http:// instead of https://, or another port"},
	} {
		t.Run(m.name, func(t *testing.T) {
			adjust := []func(*embedded.Config){}
			if m.dis != nil {
				adjust = append(adjust, m.dis)
			}
			url := startEmbedded(t, adjust...)
			for name, value := range m.env {
				t.Setenv(name, value)
			}
			args := []string{"serve", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", "--dis-endpoint", url}
			for _, arg := range m.args {
				args = append(args, strings.Replace(arg, "HOST", strings.TrimPrefix(url, "http://"), 1))
			}
			stdout, stderr := startInProcess(t, args...)

			var admin string
			eventually(t, "admin address", func() bool {
				found := regexp.MustCompile(`Admin   (\S+)`).FindStringSubmatch(stdout.String())
				if found != nil {
					admin = found[1]
				}
				return found != nil
			})
			status, reason := 0, ""
			eventually(t, "reason", func() bool {
				status, reason = getPage(t, "http://"+admin+"/readyz")
				return reason != "DIS has not answered yet"
			})
			if status != http.StatusServiceUnavailable || !strings.Contains(reason, m.trouble) || !strings.HasSuffix(reason, ": "+m.remedy) {
				t.Errorf("/readyz answers %d %q, want %q and %q", status, reason, m.trouble, m.remedy)
			}
			eventually(t, "line of the log", func() bool { return strings.Contains(stderr.String(), `"level":"warn"`) })
			wantsOneWarning(t, stderr.String(), m.trouble, m.remedy)
			if strings.Contains(stdout.String()+stderr.String()+reason, theSecret) {
				t.Error("a secret is shown")
			}
		})
	}
}

// startInProcess runs a command that goes on, until the test ends; it must end well.
func startInProcess(t *testing.T, args ...string) (stdout, stderr *output) {
	t.Helper()
	stdout, stderr = &output{}, &output{}
	command, err := parse(args, stdout, stderr)
	if err != nil {
		t.Fatal(err)
	}
	drain, stop := context.WithCancel(context.Background())
	force, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- command.run(&signals{drain: drain, force: force, stop: func() {}}, stdout, stderr) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("%v:\n%s", err, stderr)
		}
		end()
	})
	return stdout, stderr
}

func getPage(t *testing.T, url string) (status int, text string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(content))
}

// wantsOneWarning: what is wrong is logged once, however often DIS is asked.
func wantsOneWarning(t *testing.T, log, trouble, remedy string) {
	t.Helper()
	warnings := 0
	for line := range strings.Lines(log) {
		var event struct{ Level, Error, Remedy string }
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if event.Level != "warn" {
			continue
		}
		if warnings++; !strings.Contains(event.Error, trouble) || event.Remedy != remedy {
			t.Errorf("logged %s", line)
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings:\n%s", warnings, log)
	}
}
