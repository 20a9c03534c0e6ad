package main

import (
	"net"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
)

// theSecret is a secret key that no output may have.
const theSecret = "a-key-that-nobody-may-see"

// mistake is what an operator may do wrong, and what the start says: one line that
// names the setting, by the place that it comes from, and what to do. Nothing is
// started.
type mistake struct {
	name  string
	env   map[string]string
	files map[string]string // by name; they are in the working directory
	args  string
	code  int
	want  []string // the lines, without the name of the program
}

// TAKEN stands for an address that another program has, BUSY for a folder that
// another embedded DIS has open.
var mistakes = []mistake{
	// The command line itself.
	{"no command", nil, nil, "", 2, []string{`expected one of "dev", "serve", "doctor", "embedded-dis", "health", ... (see --help)`}},
	{"a misspelt command", nil, nil, "srve", 2, []string{`unexpected argument srve, did you mean "serve"? (see --help)`}},
	{"a misspelt flag", nil, nil, "serve --lisen localhost:9092", 2, []string{`unknown flag --lisen, did you mean "--listen"? (see --help)`}},
	{"a flag of another command", nil, nil, "serve --data-dir x", 2, []string{`unknown flag --data-dir (see --help)`}},
	{"an argument too many", nil, nil, "serve orders", 2, []string{`unexpected argument orders (see --help)`}},
	{"two unknown flags and a bad value", nil, nil, "serve --lisen x --groups=some --zone=y", 2, []string{
		`unknown flag --lisen, did you mean "--listen"? (see --help)`, `unknown flag --zone (see --help)`,
		`--groups: "some" is not allowed, give one of memory, off`}},

	// Values.
	{"a duration without a unit", nil, nil, "serve --grace-period 5", 2, []string{
		`--grace-period: "5" is not allowed, give a duration such as 500ms, 30s or 5m, at least 0s`}},
	{"a size that is none", env("KDG_FETCH_CACHE", "1.5GB"), nil, "serve", 2, []string{
		`KDG_FETCH_CACHE: "1.5GB" is not allowed, give a size in bytes such as 1048576, 64KiB or 64MiB, at least 1MiB`}},
	{"a size that is too small", nil, nil, "serve --produce-buffer=1MiB", 2, []string{
		`--produce-buffer: "1MiB" is not allowed, give a size in bytes such as 1048576, 64KiB or 64MiB, at least 16MiB`}},
	{"a percentage without its sign", nil, nil, "serve --pacing 50", 2, []string{
		`--pacing: "50" is not allowed, give documented, off, or a percentage from 1% to 1000%`}},
	{"a negative number", nil, nil, "serve --default-partitions -3", 2, []string{
		`--default-partitions: "-3" is not allowed, give a whole number, at least 1`}},
	{"a negative duration", env("KDG_INITIAL_REBALANCE_DELAY", "-3s"), nil, "serve", 2, []string{
		`KDG_INITIAL_REBALANCE_DELAY: "-3s" is not allowed, give a duration such as 500ms, 30s or 5m, at least 0s`}},
	{"no number", nil, nil, "serve --idle-polls=many", 2, []string{`--idle-polls: "many" is not allowed, give a whole number, at least 1`}},
	{"neither true nor false", env("KDG_AUTO_CREATE_TOPICS", "maybe"), nil, "serve", 2, []string{
		`KDG_AUTO_CREATE_TOPICS: "maybe" is not allowed, give true or false`}},
	{"a word that is not allowed", nil, nil, "serve --log-level=loud", 2, []string{
		`--log-level: "loud" is not allowed, give one of trace, debug, info, warn, error`}},

	// The environment and the file.
	{"a misspelt variable", env("KDG_LISTN", "localhost:9092"), nil, "serve", 2, []string{`KDG_LISTN: unknown variable, did you mean KDG_LISTEN?`}},
	{"a file that is missing", env("KDG_CONFIG", "gateway.yaml"), nil, "serve", 2, []string{
		`KDG_CONFIG: open gateway.yaml: no such file or directory: give a YAML file that can be read`}},
	{"a folder for a file", nil, nil, "serve --config .", 2, []string{`--config: read .: is a directory: give a YAML file that can be read`}},
	{"a file that is no YAML", nil, file("a.yaml", "listen: [localhost:9092\n"), "serve --config a.yaml", 2, []string{
		`--config: a.yaml: not a YAML mapping of settings: [1:9] sequence end token ']' not found`}},
	{"a misspelt key", nil, file("a.yaml", "idle-pols: 5\n"), "serve --config a.yaml", 2, []string{`idle-pols in a.yaml: unknown key, did you mean idle-polls?`}},
	{"a key of another command", nil, file("a.yaml", "data-dir: x\n"), "serve --config a.yaml", 2, []string{
		`data-dir in a.yaml: a setting of the command dev, not of serve`}},
	{"a key without a value", nil, file("a.yaml", "idle-polls:\n"), "serve --config a.yaml", 2, []string{`idle-polls in a.yaml: a value is missing`}},
	{"a list where one value goes", nil, file("a.yaml", "groups: [memory]\n"), "serve --config a.yaml", 2, []string{
		`groups in a.yaml: a list is not allowed here, give one value`}},
	{"a bad value in the file", nil, file("a.yaml", "groups: on\n"), "serve --config a.yaml", 2, []string{
		`groups in a.yaml: "on" is not allowed, give one of memory, off`}},

	// Addresses.
	{"no address", nil, nil, "serve --listen 9092", 2, []string{
		`--listen: listener "9092": "9092" is not HOST:PORT (an IPv6 address needs brackets)`}},
	{"no port", env("KDG_ADMIN_LISTEN", "localhost:http"), nil, "serve", 2, []string{
		`KDG_ADMIN_LISTEN: "localhost:http" has no valid port; allowed: 0 to 65535`}},
	{"open to everyone", env("KDG_LISTEN", "0.0.0.0:9092,advertise=auto"), nil, "serve", 2, []string{
		`KDG_LISTEN: listener 0.0.0.0:9092 has no authentication and can be reached from other machines: listen on localhost, or allow it with --insecure`}},
	{"every interface without an address for clients", nil, nil, "serve --listen 0.0.0.0:9092", 2, []string{
		`--listen: listener "0.0.0.0:9092": it listens on every interface, so clients cannot be told where to connect: ` +
			`add advertise=HOST:PORT, or advertise=auto for the local address of each connection`}},
	{"an address for clients that is none", nil, nil, "serve --listen localhost:9092,advertise=gateway", 2, []string{
		`--listen: listener "localhost:9092,advertise=gateway": advertise: "gateway" is not HOST:PORT (an IPv6 address needs brackets)`}},
	{"an address for clients that nobody can use", nil, nil, "serve --listen localhost:9092,advertise=0.0.0.0:9092", 2, []string{
		`--listen: listener "localhost:9092,advertise=0.0.0.0:9092": advertise=0.0.0.0:9092 is no address that a client can connect to; allowed: HOST:PORT or auto`}},
	{"an option that does not exist", nil, nil, "serve --listen localhost:9092,advertize=auto", 2, []string{
		`--listen: listener "localhost:9092,advertize=auto": unknown option "advertize"; options are advertise and auth`}},
	{"the same address twice", nil, nil, "serve --listen localhost:9092 --listen localhost:9092", 2, []string{
		`--listen: localhost:9092 stands there twice: leave one out`}},
	{"one port for Kafka and admin", env("KDG_ADMIN_LISTEN", "127.0.0.1:9092"), nil, "serve", 2, []string{
		`KDG_ADMIN_LISTEN: 127.0.0.1:9092 is taken by localhost:9092 of --listen already: give another port`}},
	{"one port for Kafka and DIS", nil, nil, "dev --listen localhost:9880", 2, []string{
		`--dis-listen: 127.0.0.1:9880 is taken by localhost:9880 of --listen already: give another port`}},
	{"an address in use", env("KDG_LISTEN", "TAKEN"), nil, "serve --admin-listen=", 1, []string{
		`KDG_LISTEN: cannot listen on TAKEN: the address is in use by another program: stop it, or give another address`}},
	{"the admin address in use", nil, nil, "serve --listen 127.0.0.1:0 --admin-listen TAKEN", 1, []string{
		`--admin-listen: cannot listen on TAKEN: the address is in use by another program: stop it, or give another address`}},
	{"the address of DIS in use", nil, nil, "dev --listen 127.0.0.1:0 --dis-listen TAKEN", 1, []string{
		`--dis-listen: cannot listen on TAKEN: the address is in use by another program: stop it, or give another address`}},
	{"an address of another machine", nil, nil, "serve --insecure --admin-listen= --listen 192.0.2.1:9092", 1, []string{
		`--listen: cannot listen on 192.0.2.1:9092: bind: cannot assign requested address: give an address of this machine`}},

	// Access to DIS.
	{"no project", env("HUAWEICLOUD_SDK_PROJECT_ID", ""), nil, "serve", 2, []string{
		`the environment lacks what DIS wants to know: set HUAWEICLOUD_SDK_PROJECT_ID (or --project-id)`}},
	{"nothing of DIS", env("HUAWEICLOUD_SDK_PROJECT_ID", "", "HUAWEICLOUD_SDK_REGION", "", "HUAWEICLOUD_SDK_AK", "", "HUAWEICLOUD_SDK_SK", ""), nil, "serve", 2, []string{
		`the environment lacks what DIS wants to know: set HUAWEICLOUD_SDK_AK, HUAWEICLOUD_SDK_SK, HUAWEICLOUD_SDK_PROJECT_ID (or --project-id), HUAWEICLOUD_SDK_REGION (or --region)`}},
	{"nothing of DIS and a misspelt variable", env("KDG_REGON", "cn-north-4", "HUAWEICLOUD_SDK_REGION", "", "HUAWEICLOUD_SDK_AK", "", "HUAWEICLOUD_SDK_SK", ""), nil, "serve --pacing 50", 2, []string{
		`--pacing: "50" is not allowed, give documented, off, or a percentage from 1% to 1000%`,
		`the environment lacks what DIS wants to know: set HUAWEICLOUD_SDK_AK, HUAWEICLOUD_SDK_SK, HUAWEICLOUD_SDK_REGION (or --region)`,
		`KDG_REGON: unknown variable, did you mean KDG_REGION?`}},
	{"half of the keys", env("HUAWEICLOUD_SDK_SK", ""), nil, "serve", 2, []string{
		`the environment lacks what DIS wants to know: set HUAWEICLOUD_SDK_SK`}},
	{"a region that is none", nil, nil, "serve --region=cn/north", 2, []string{
		`--region: "cn/north" contains a character other than printable ASCII without space and slash`}},
	{"keys in a file that is not named", nil, nil, "serve --dis-credentials=file", 2, []string{
		`--dis-credentials: the source file needs --dis-credentials-file`}},
	{"a file of keys that is not read", nil, nil, "serve --dis-credentials=environment --dis-credentials-file=keys", 2, []string{
		`--dis-credentials-file: is not read while --dis-credentials is environment: give file or auto`}},
	{"a file of keys that is missing", env("KDG_DIS_CREDENTIALS_FILE", "keys"), nil, "serve", 2, []string{
		`KDG_DIS_CREDENTIALS_FILE: credentials file: stat keys: no such file or directory`}},
	{"a file of keys with other names", nil, file("keys", "ak: x\nsecret_key: "+theSecret+"\n"), "serve --dis-credentials-file=keys", 2, []string{
		`--dis-credentials-file: credentials file: keys: line 1: want a mapping of access_key, secret_key and, for temporary keys, security_token`}},
	{"a file with half of the keys", nil, file("keys", "secret_key: "+theSecret+"\n"), "serve --dis-credentials-file=keys", 2, []string{
		`--dis-credentials-file: credentials file: keys: access_key: must be set`}},
	{"a token and keys", nil, file("keys", ""), "serve --dis-token-file=t --dis-credentials-file=keys", 2, []string{
		`--dis-token-file: a token replaces keys: leave --dis-credentials-file out`}},
	{"an empty token", nil, file("t", "\n"), "serve --dis-token-file=t", 2, []string{`--dis-token-file: token file: t: want a token and nothing else`}},
	{"a metadata service that is none", nil, nil, "serve --dis-credentials=metadata --dis-metadata-endpoint=169.254.169.254", 2, []string{
		`--dis-metadata-endpoint: metadata endpoint: "169.254.169.254" is not a URL of the form http(s)://host[:port]`}},
	{"no scheme", nil, nil, "serve --dis-endpoint dis.cn-north-4.myhuaweicloud.com", 2, []string{
		`--dis-endpoint: "dis.cn-north-4.myhuaweicloud.com" is not a URL of the form http(s)://host[:port]`}},
	{"no encryption to a region", env("KDG_DIS_ENDPOINT", "http://dis.cn-north-4.myhuaweicloud.com:20004"), nil, "serve", 2, []string{
		`KDG_DIS_ENDPOINT: "http://dis.cn-north-4.myhuaweicloud.com:20004" has no encryption, the DIS of a region wants it: give https://dis.cn-north-4.myhuaweicloud.com`}},
	{"an endpoint with the path of a call", nil, nil, "serve --dis-endpoint https://dis.example:443/v2/local", 2, []string{
		`--dis-endpoint: "https://dis.example:443/v2/local" has the path of calls, which the gateway adds: give https://dis.example:443`}},
	{"certificates that are missing", env("KDG_DIS_CA_FILE", "ca.pem"), nil, "serve", 2, []string{`KDG_DIS_CA_FILE: open ca.pem: no such file or directory`}},
	{"a file without certificates", nil, file("ca.pem", "x"), "serve --dis-ca-file ca.pem", 2, []string{`--dis-ca-file: ca.pem holds no PEM certificate`}},

	// Records and topics.
	{"batches that do not fit into the buffer", nil, nil, "serve --produce-buffer 64MiB --max-batch-bytes 64MiB", 2, []string{
		`--max-batch-bytes: more than half of --produce-buffer, 64 MiB: lower it, or raise --produce-buffer to 128 MiB`}},
	{"a pattern that is none", nil, nil, "serve --topics=orders[,format=reject", 2, []string{
		`--topics: "orders[,format=reject": match: "orders[" is no pattern: a bracket is not closed`}},
	{"a pattern that no topic matches", nil, nil, "serve --hide-topics=app.*", 2, []string{
		`--hide-topics: "app.*": no topic matches "app.*": invalid topic name: "app." has characters that a DIS stream name cannot have, allowed are A-Z a-z 0-9 _ and -`}},
	{"envelopes wanted and refused", nil, nil, "serve --record-format=reject --record-timestamps=envelope", 2, []string{
		`--record-format: reject allows no envelopes, and timestamps in the envelope need one for every record`}},
	{"an alias of a name that no stream has", nil, nil, "serve --alias orders.v1,stream=orders.v1", 2, []string{
		`--alias: "orders.v1,stream=orders.v1": invalid topic name: "orders.v1" has characters that a DIS stream name cannot have, allowed are A-Z a-z 0-9 _ and -`}},
	{"a topic without partitions", nil, nil, "dev --topic orders", 2, []string{`--topic: "orders" is not NAME:PARTITIONS, such as orders:3`}},
	{"a topic with no partitions", env("KDG_TOPIC", "orders:0"), nil, "dev", 2, []string{`KDG_TOPIC: "orders:0" is not NAME:PARTITIONS, such as orders:3`}},

	// Folders.
	{"a folder that is a file", env("KDG_DATA_DIR", "data"), file("data", ""), "dev --listen 127.0.0.1:0 --dis-listen 127.0.0.1:0", 1, []string{
		`KDG_DATA_DIR: create data directory: mkdir data: not a directory`}},
	{"a folder that cannot be made", nil, file("data", ""), "embedded-dis --listen 127.0.0.1:0 --data-dir data/dis", 1, []string{
		`--data-dir: create data directory: mkdir data: not a directory`}},
	{"a folder in use", nil, nil, "dev --listen 127.0.0.1:0 --dis-listen 127.0.0.1:0 --data-dir BUSY", 1, []string{
		`--data-dir: data directory BUSY is in use by another embedded DIS`}},
	{"a dump folder that is a file", nil, file("dump", ""), "embedded-dis --listen 127.0.0.1:0 --data-dir d --dump-dir dump", 1, []string{
		`--dump-dir: create dump directory: mkdir dump: not a directory`}},

	// All at once.
	{"mistakes everywhere", env("KDG_GROUPS", "some", "KDG_LISTN", "x", "HUAWEICLOUD_SDK_SK", ""), file("a.yaml", "idle-polls: 0\nzone: a\n"),
		"serve --config a.yaml --grace-period=soon --listen 0.0.0.0:1 --admin-listen 1", 2, []string{
			`KDG_GROUPS: "some" is not allowed`, `idle-polls in a.yaml: "0" is not allowed`, `--grace-period: "soon" is not allowed`,
			`zone in a.yaml: unknown key`, `--listen: listener "0.0.0.0:1"`, `--admin-listen: "1" is not HOST:PORT`,
			`the environment lacks what DIS wants to know: set HUAWEICLOUD_SDK_SK`, `KDG_LISTN: unknown variable`}},
}

func env(pairs ...string) map[string]string {
	variables := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		variables[pairs[i]] = pairs[i+1]
	}
	return variables
}

func file(name, content string) map[string]string { return map[string]string{name: content} }

// TestMistakes: each ends the start, with a line of its own.
func TestMistakes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := t.TempDir()
	open, err := embedded.Open(embedded.Config{DataDir: busy, Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := open.Close(); err != nil {
			t.Error(err)
		}
	}()
	fill := strings.NewReplacer("TAKEN", taken.Addr().String(), "BUSY", busy)
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			m.prepare(t, fill)
			code, stdout, stderr := runCommand(strings.Fields(fill.Replace(m.args))...)
			if code != m.code || stdout != "" {
				t.Errorf("exit code %d, want %d; printed %q", code, m.code, stdout)
			}
			m.wantsLines(t, stderr, fill)
			if strings.Contains(stderr, theSecret) {
				t.Error("a secret is shown")
			}
		})
	}
	if len(mistakes) < 30 {
		t.Errorf("only %d mistakes", len(mistakes))
	}
}

// TestDoctorSeesMistakes: what is wrong with the settings of serve is a finding of
// doctor, in the same words.
func TestDoctorSeesMistakes(t *testing.T) {
	for _, m := range mistakes {
		args, ofServe := strings.CutPrefix(m.args, "serve")
		if !ofServe || m.code != 2 || strings.Contains(m.want[0], "see --help") || strings.Contains(m.want[0], "of serve") {
			continue // the command line itself
		}
		t.Run(m.name, func(t *testing.T) {
			m.prepare(t, strings.NewReplacer())
			code, stdout, stderr := runCommand(append([]string{"doctor"}, strings.Fields(args)...)...)
			if code != 2 || stderr != "kafka-dis-gateway: the settings are wrong\n" || strings.Contains(stdout, theSecret) {
				t.Errorf("exit code %d, %q", code, stderr)
			}
			for _, want := range m.want {
				if !strings.Contains(stdout, "failed   settings     "+want) {
					t.Errorf("no line %q in\n%s", want, stdout)
				}
			}
		})
	}
}

// prepare sets the environment and writes the files.
func (m mistake) prepare(t *testing.T, fill *strings.Replacer) {
	t.Helper()
	setKeys(t, "an-access-key", theSecret)
	for name, value := range m.env {
		t.Setenv(name, fill.Replace(value))
	}
	t.Chdir(t.TempDir())
	for name, content := range m.files {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (m mistake) wantsLines(t *testing.T, stderr string, fill *strings.Replacer) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	if len(lines) != len(m.want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(m.want), stderr)
	}
	for i, want := range m.want {
		want = "kafka-dis-gateway: " + fill.Replace(want)
		if lines[i] != want && !(len(m.want) > 3 || strings.Contains(m.want[i], " in use by another embedded")) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, lines[i], want)
		}
	}
}

// placeOfAMistake is how a line begins that names a setting: by flag, variable or
// key of a file.
var placeOfAMistake = regexp.MustCompile(`^(--[a-z-]+|KDG_[A-Z_]+|[a-z-]+ in a\.yaml): |HUAWEICLOUD_SDK_|see --help`)

// TestMistakesNameTheirSettings: no line leaves open which setting it is about.
func TestMistakesNameTheirSettings(t *testing.T) {
	for _, m := range mistakes {
		for _, line := range m.want {
			if !placeOfAMistake.MatchString(line) {
				t.Errorf("%s: %q names no setting", m.name, line)
			}
		}
	}
}
