package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
)

// parseDev parses a dev command line and returns its settings and the lines of
// its error.
func parseDev(t *testing.T, args ...string) (*devCommand, []string) {
	t.Helper()
	chosen, err := parse(append([]string{"dev"}, args...), os.Stdout, os.Stderr)
	if err != nil {
		var text strings.Builder
		report(&text, err)
		return nil, strings.Split(strings.TrimSpace(text.String()), "\n")
	}
	return chosen.(*devCommand), nil
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "settings.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSourcesOfSettings: the command line wins over the environment, the
// environment over the file, the file over the default.
func TestSourcesOfSettings(t *testing.T) {
	file := writeFile(t, `
listen: [127.0.0.1:1, "127.0.0.1:2,advertise=localhost:3"]
default-partitions: 7
idle-polls: 50
fetch-cache: 32MiB
grace-period: 5s
auto-create-topics: false
topic: [from-file:1]
`)
	t.Setenv("KDG_CONFIG", file)
	t.Setenv("KDG_IDLE_POLLS", "60")
	t.Setenv("KDG_DEFAULT_PARTITIONS", "8")
	t.Setenv("KDG_TOPIC", "a:1,b:2")
	d, mistakes := parseDev(t, "--default-partitions", "9")
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	if d.DefaultPartitions != 9 || d.IdlePolls != 60 || d.FetchCache != 32<<20 || d.GracePeriod != 5*time.Second || d.AutoCreateTopics {
		t.Errorf("settings: %+v", d)
	}
	if len(d.listening) != 2 || d.listening[1].AdvertiseHost != "localhost" {
		t.Errorf("listeners: %+v", d.listening)
	}
	if len(d.topics) != 2 || d.topics[1].Name != "b" || d.topics[1].Partitions != 2 {
		t.Errorf("topics: %+v", d.topics)
	}
	if d.LogFormat != "console" || d.TopicAdmin != "full" || d.AdminListen != "" || d.MaxBatchBytes != 64<<20 {
		t.Errorf("defaults: %+v", d)
	}
}

func TestServeDefaults(t *testing.T) {
	for name, value := range map[string]string{"AK": "a", "SK": "s", "PROJECT_ID": "p", "REGION": "r"} {
		t.Setenv("HUAWEICLOUD_SDK_"+name, value)
	}
	chosen, err := parse([]string{"serve"}, os.Stdout, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	s := chosen.(*serveCommand)
	if s.ProjectID != "p" || s.Region != "r" || s.AdminListen != "127.0.0.1:9644" || s.TopicAdmin != "create" ||
		s.AutoCreateTopics || s.InitialRebalanceDelay != 3*time.Second || s.LogFormat != "json" {
		t.Errorf("settings: %+v", s)
	}
	t.Setenv("KDG_REGION", "wins")
	if chosen, err = parse([]string{"serve"}, os.Stdout, os.Stderr); err != nil || chosen.(*serveCommand).Region != "wins" {
		t.Errorf("KDG_REGION does not win: %+v, %v", chosen, err)
	}
}

// TestMistakesAreReportedTogether: every source at once, each with its place.
func TestMistakesAreReportedTogether(t *testing.T) {
	file := writeFile(t, "idle-polls: 0\nfetch-cashe: 1MiB\ndis-endpoint: http://x\ntopic: [{a: 1}]\nzzz: 1\ngrace-period: [1s]\n")
	t.Setenv("KDG_GRACE_PERIOD", "-1s")
	t.Setenv("KDG_AUTO_CREATE_TOPICS", "perhaps")
	_, got := parseDev(t, "--config", file, "--max-batch-bytes", "lots", "--listen", "nowhere", "--topic=a:1", "--topic=b",
		"--consumer-session-timeout", "61s", "--consumer-heartbeat-interval", "1s")
	var places []string
	for _, line := range got {
		places = append(places, strings.TrimPrefix(line, "kafka-dis-gateway: "))
	}
	for i, want := range []string{
		`KDG_AUTO_CREATE_TOPICS: "perhaps" is not allowed, give true or false`,
		`--consumer-session-timeout: "61s" is not allowed, give a duration such as 500ms, 30s or 5m, at least 45s, at most 1m`,
		`--consumer-heartbeat-interval: "1s" is not allowed, give a duration such as 500ms, 30s or 5m, at least 5s, at most 15s`,
		`--max-batch-bytes: "lots" is not allowed, give a size in bytes such as 1048576, 64KiB or 64MiB, at least 1MiB`,
		`idle-polls in ` + file + `: "0" is not allowed, give a whole number, at least 1`,
		`KDG_GRACE_PERIOD: "-1s" is not allowed, give a duration such as 500ms, 30s or 5m, at least 0s`,
		`dis-endpoint in ` + file + `: a setting of the command serve, not of dev`,
		`fetch-cashe in ` + file + `: unknown key, did you mean fetch-cache?`,
		`zzz in ` + file + `: unknown key, allowed are dis-listen, data-dir, dump-dir, topic, listen,`,
		`--listen: listener "nowhere"`,
		`--topic: "b" is not NAME:PARTITIONS, such as orders:3`,
	} {
		if i >= len(places) || !strings.HasPrefix(places[i], want) {
			t.Errorf("mistake %d is not %q", i+1, want)
		}
	}
	if len(places) != 11 {
		t.Errorf("%d mistakes:\n%s", len(places), strings.Join(places, "\n"))
	}
}

// TestServeNamesTheSettingsOfDIS: by flag or variable, not by the client's fields.
func TestServeNamesTheSettingsOfDIS(t *testing.T) {
	for name, value := range map[string]string{"AK": "a", "SK": "s", "PROJECT_ID": "p/q", "REGION": "r"} {
		t.Setenv("HUAWEICLOUD_SDK_"+name, value)
	}
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"endpoint", []string{"--dis-endpoint=dis.example"}, []string{
			`--dis-endpoint: "dis.example" is not a URL of the form http(s)://host[:port]`, "HUAWEICLOUD_SDK_PROJECT_ID: "}},
		{"manager", []string{"--dis-endpoint=http://x", "--dis-manager-endpoint=x", "--project-id=p"}, []string{`--dis-manager-endpoint: "x" is not`}},
		{"certificates", []string{"--dis-ca-file=/nowhere", "--project-id=p"}, []string{"--dis-ca-file: open /nowhere: no such file"}},
		{"region", []string{"--region=a b", "--project-id=p"}, []string{`--region: "a b" contains`}},
		{"addresses", []string{"--admin-listen=9644", "--project-id=p"}, []string{`--admin-listen: "9644" is not HOST:PORT`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parse(append([]string{"serve"}, tc.args...), os.Stdout, os.Stderr)
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			for i, want := range tc.want {
				if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
					t.Errorf("mistake %d is not %q", i+1, want)
				}
			}
			if len(lines) != len(tc.want) {
				t.Errorf("%d mistakes:\n%v", len(lines), err)
			}
		})
	}
}

func TestAddressInUse(t *testing.T) {
	taken, err := gateway.ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	code, _, stderr := runCommand("embedded-dis", "--listen", address, "--data-dir", t.TempDir())
	if want := "kafka-dis-gateway: --listen: cannot listen on " + address + ": the address is in use by another program: stop it, or give another address\n"; code != 1 || stderr != want {
		t.Errorf("exit code %d, %q, want %q", code, stderr, want)
	}
}

// TestBadValueOverruled: what a better source replaces is no mistake.
func TestBadValueOverruled(t *testing.T) {
	t.Setenv("KDG_IDLE_POLLS", "many")
	if _, mistakes := parseDev(t, "--idle-polls", "5"); mistakes != nil {
		t.Error(mistakes)
	}
}

// TestMisspeltVariables: what resembles a setting of any command is a mistake,
// what Kubernetes makes of a service called kdg is not.
func TestMisspeltVariables(t *testing.T) {
	t.Setenv("KDG_SERVICE_HOST", "10.0.0.1")
	t.Setenv("KDG_PORT", "tcp://10.0.0.1:9092")
	t.Setenv("KDG_TOKEN", "x")
	t.Setenv("KDG_PORT_9092_TCP_ADDR", "10.0.0.1")
	t.Setenv("KDG_LATENCY", "1s") // of embedded-dis
	if _, mistakes := parseDev(t); mistakes != nil {
		t.Errorf("mistakes: %q", mistakes)
	}
	t.Setenv("KDG_GRACE_PERIODE", "5s")
	t.Setenv("KDG_LATENCI", "1s")
	want := []string{
		"kafka-dis-gateway: KDG_GRACE_PERIODE: unknown variable, did you mean KDG_GRACE_PERIOD?",
		"kafka-dis-gateway: KDG_LATENCI: unknown variable, did you mean KDG_LATENCY?",
	}
	if _, mistakes := parseDev(t); !slices.Equal(mistakes, want) {
		t.Errorf("mistakes: %q, want %q", mistakes, want)
	}
}

func TestUnreadableSettingsFiles(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"no mapping":    {"- a\n", "not a YAML mapping of settings"},
		"no YAML":       {"a: [", "not a YAML mapping of settings"},
		"a key twice":   {"listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", "not a YAML mapping of settings"},
		"two documents": {"data-dir: a\n---\nlisten: 127.0.0.1:1\n", "more than one YAML document"},
		"much too long": {"data-dir: a\n#" + strings.Repeat("x", 1<<20), "has more than 1048576 bytes"},
		"a list":        {"data-dir: [a]\n", "data-dir in"},
		"a mapping":     {"data-dir: {a: b}\n", "data-dir in"},
		"nothing given": {"data-dir:\n", "a value is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, mistakes := parseDev(t, "--config", writeFile(t, c.content))
			if len(mistakes) != 1 || !strings.Contains(mistakes[0], c.want) {
				t.Errorf("mistakes: %q", mistakes)
			}
		})
	}
	if _, mistakes := parseDev(t, "--config", writeFile(t, "# nothing but a comment\n")); mistakes != nil {
		t.Errorf("an empty file: %q", mistakes)
	}
	if _, mistakes := parseDev(t, "--config", writeFile(t, "---\ndata-dir: a\n")); mistakes != nil {
		t.Errorf("a file that begins with ---: %q", mistakes)
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{
		"0": 0, "17": 17, "17B": 17, "2kB": 2000, "64KiB": 64 << 10, "64 MiB": 64 << 20, "1GiB": 1 << 30, "3GB": 3e9, "5MB": 5e6,
	} {
		if got, err := parseByteSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1.5MiB", "1TiB", "9223372036854775807GiB", "many"} {
		if got, err := parseByteSize(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"listen", "dis-listen", "data-dir", "topic", "log-level"}
	for key, want := range map[string]string{
		"lisen": "listen", "Listen": "listen", "topics": "topic", "datadir": "data-dir", "log_level": "log-level", "brokers": "", "": "",
	} {
		if got := nearest(key, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", key, got, want)
		}
	}
}

// TestEverySettingIsDocumented: each flag says what it does and has a variable.
func TestEverySettingIsDocumented(t *testing.T) {
	var seen []string
	forEachFlag(t, func(command, name, help string, variables []string) {
		seen = append(seen, command+" "+name)
		if help == "" || !strings.HasSuffix(help, ".") {
			t.Errorf("%s --%s: help %q", command, name, help)
		}
		want := "KDG_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		if !slices.Contains(variables, want) {
			t.Errorf("%s --%s: variables %v, want %s", command, name, variables, want)
		}
	})
	for _, contract := range []string{
		"dev listen", "dev dis-listen", "dev data-dir", "dev dump-dir", "dev topic", "dev topic-admin", "dev config",
		"serve listen", "serve dis-endpoint", "serve dis-manager-endpoint", "serve region", "serve project-id", "serve dis-ca-file",
		"serve admin-listen", "serve log-level", "serve log-format", "serve grace-period", "serve insecure",
		"embedded-dis listen", "embedded-dis data-dir", "embedded-dis dump-dir", "embedded-dis limits", "embedded-dis latency", "embedded-dis faults",
	} {
		if !slices.Contains(seen, contract) {
			t.Errorf("no setting %s", contract)
		}
	}
}

// TestByteOrderMark: Windows editors put one in front.
func TestByteOrderMark(t *testing.T) {
	d, mistakes := parseDev(t, "--config", writeFile(t, "\ufefflog-level: debug\r\nidle-polls: 7\r\n"))
	if mistakes != nil || d.LogLevel != "debug" || d.IdlePolls != 7 {
		t.Errorf("settings %+v, mistakes %q", d, mistakes)
	}
}

// TestMistakesAreShownAsTheyAre: a terminal does not obey what is in them.
func TestMistakesAreShownAsTheyAre(t *testing.T) {
	_, mistakes := parseDev(t, "--config", writeFile(t, `"\e[2Jx": 1`))
	if len(mistakes) != 1 || !strings.HasPrefix(mistakes[0], "kafka-dis-gateway: \ufffd[2Jx in ") {
		t.Errorf("%q", mistakes)
	}
}
