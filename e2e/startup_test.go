package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// runToEnd runs the binary until it ends by itself.
func runToEnd(t *testing.T, variables []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := start(t, variables, gatewayBinary, args...)
	code = p.exitCode(startTimeout)
	return code, p.stdout.String(), p.stderr.String()
}

// credentials are what serve wants from the environment.
var credentials = []string{
	"HUAWEICLOUD_SDK_AK=dev", "HUAWEICLOUD_SDK_SK=dev-secret",
	"HUAWEICLOUD_SDK_PROJECT_ID=local", "HUAWEICLOUD_SDK_REGION=local",
}

// TestWrongSettings: wrong usage exits with 2 and one line per mistake that
// names the place and what is allowed.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	content := "lisen: 127.0.0.1:0\ngrace-period: soon\ntopic-admin: all\nadmin-listen: [127.0.0.1:0]\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		variables, args []string
		want            []string // one line each, in this order
	}{
		"serve without credentials": {
			args: []string{"serve"},
			want: []string{"set HUAWEICLOUD_SDK_AK, HUAWEICLOUD_SDK_SK, HUAWEICLOUD_SDK_PROJECT_ID (or --project-id), HUAWEICLOUD_SDK_REGION (or --region)"},
		},
		"an unknown command": {args: []string{"sreve"}, want: []string{`unexpected argument sreve, did you mean "serve"? (see --help)`}},
		"an unknown flag":    {args: []string{"dev", "--lisen", "x"}, want: []string{"unknown flag --lisen"}},
		"a settings file with several mistakes": {
			args: []string{"dev", "--config", file},
			want: []string{
				`topic-admin in ` + file + `: "all" is not allowed, give one of none, create, full`,
				`grace-period in ` + file + `: "soon" is not allowed, give a duration such as 500ms, 30s or 5m`,
				`lisen in ` + file + `: unknown key, did you mean listen?`,
				`admin-listen in ` + file + `: a list is not allowed here, give one value`,
			},
		},
		"a settings file that is missing": {
			args: []string{"dev", "--config", "no-such.yaml"},
			want: []string{"--config: open no-such.yaml: no such file or directory"},
		},
		"mistakes in several places": {
			variables: []string{"KDG_LOG_LEVEL=loud"},
			args:      []string{"dev", "--topic", "orders", "--log-format=xml"},
			want: []string{
				`KDG_LOG_LEVEL: "loud" is not allowed, give one of trace, debug, info, warn, error`,
				`--log-format: "xml" is not allowed, give one of json, console`,
				`--topic: "orders" is not NAME:PARTITIONS`,
			},
		},
		"a listener open to everyone": {
			args: []string{"dev", "--listen", "0.0.0.0:0,advertise=auto", "--dis-listen", "127.0.0.1:0"},
			want: []string{"listener 0.0.0.0:0 has no authentication and can be reached from other machines: listen on localhost, or allow it with --insecure"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := runToEnd(t, c.variables, c.args...)
			if code != 2 || stdout != "" {
				t.Errorf("exit code %d, output %q", code, stdout)
			}
			checkErrorLines(t, stderr, c.want)
		})
	}
}

func checkErrorLines(t *testing.T, stderr string, want []string) {
	t.Helper()
	got := splitLines(stderr)
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), stderr)
	}
	for i, line := range got {
		if !strings.HasPrefix(line, "kafka-dis-gateway: ") || !strings.Contains(line, want[i]) {
			t.Errorf("line %d is %q, want it to say %q", i+1, line, want[i])
		}
	}
}

// TestFailedStart: what cannot be done exits with 1 and one clear line.
func TestFailedStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	address := taken.Addr().String()
	notADir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notADir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	running := startDev(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"the Kafka address is taken": {[]string{"dev", "--listen", address, "--dis-listen", "127.0.0.1:0", "--data-dir", t.TempDir()}, address},
		"the DIS address is taken":   {[]string{"dev", "--listen", "127.0.0.1:0", "--dis-listen", address, "--data-dir", t.TempDir()}, address},
		"the data folder is a file":  {[]string{"dev", "--listen", "127.0.0.1:0", "--dis-listen", "127.0.0.1:0", "--data-dir", notADir}, notADir},
		"the data folder is in use":  {[]string{"dev", "--listen", "127.0.0.1:0", "--dis-listen", "127.0.0.1:0", "--data-dir", running.dataDir}, "in use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := runToEnd(t, nil, c.args...)
			if code != 1 || stdout != "" {
				t.Errorf("exit code %d, output %q", code, stdout)
			}
			checkErrorLines(t, stderr, []string{c.want})
		})
	}
}

// TestFirstRun: the first thing a new user does works within seconds.
func TestFirstRun(t *testing.T) {
	t.Parallel()
	requireProgram(t, "kcat", "-V")
	begin := time.Now()
	d := startDev(t)
	output := newKcat(t, d).run("", "-L")
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("kcat -L was answered after %s", took)
	}
	if !strings.Contains(output, "1 brokers:") {
		t.Errorf("kcat -L printed:\n%s", output)
	}
	commands := regexp.MustCompile(`(?m)^ +kcat -b |\| kcat -b `).FindAllString(d.stdout.String(), -1)
	if len(commands) != 3 {
		t.Errorf("%d kcat lines to try, want 3:\n%s", len(commands), d.stdout)
	}
	if log := d.stderr.String(); log != "" {
		t.Errorf("a normal start is logged:\n%s", log)
	}
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := runToEnd(t, nil, "version")
	if code != 0 || stderr != "" || !regexp.MustCompile(`^kafka-dis-gateway \S+\ncommit \S+.*\ngo1\.\d+`).MatchString(stdout) {
		t.Errorf("version: exit code %d, printed:\n%s%s", code, stdout, stderr)
	}
	for command, flag := range map[string]string{
		"dev": "--dis-listen", "serve": "--dis-endpoint", "doctor": "--write-test", "embedded-dis": "--limits", "version": "--help",
	} {
		code, stdout, stderr := runToEnd(t, nil, command, "--help")
		if code != 0 || stderr != "" || !strings.Contains(stdout, flag) {
			t.Errorf("%s --help: exit code %d, printed:\n%s%s", command, code, stdout, stderr)
		}
	}
}

// TestDoctorBehindAProxy: the examination goes the way that the gateway would, by the
// proxy of the environment, and tells of one that does not connect without its
// password.
func TestDoctorBehindAProxy(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	variables := append(slices.Clone(credentials), "NO_PROXY=", "no_proxy=",
		"HTTPS_PROXY="+strings.Replace(proxy.URL, "http://", "http://user:a-password@", 1))
	code, stdout, stderr := runToEnd(t, variables, "doctor", "--dis-endpoint=https://dis.test", "--listen=127.0.0.1:0", "--admin-listen=", "--watch=0s")
	if code != 1 || stderr != "kafka-dis-gateway: the gateway would not work: tls dis.test\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	shown := strings.Replace(proxy.URL, "http://", "http://user:xxxxx@", 1) + " (HTTPS_PROXY)"
	for _, want := range []string{
		"ok       tcp          dis.test: connected to " + strings.TrimPrefix(proxy.URL, "http://") + " by the proxy " + shown + "\n",
		"failed   tls          dis.test: no connection to dis.test by the proxy " + shown + ": Forbidden. To do: check that the proxy may connect",
		"skipped  identity     dis.test: needs tls dis.test\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no line %q in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout+stderr, "a-password") {
		t.Error("a password is shown")
	}
	if got := <-asked; got != "CONNECT dis.test:443" {
		t.Errorf("the proxy was asked for %s", got)
	}
}
