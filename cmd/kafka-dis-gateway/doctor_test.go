package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/cmd/kafka-dis-gateway/doctor"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// runCommand executes a command line in this process.
func runCommand(args ...string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	code = run(args, &out, &errs)
	return code, out.String(), errs.String()
}

// startEmbedded is an embedded DIS for the keys dev and dev-secret in the project
// and the region local; the environment is that of a gateway for it.
func startEmbedded(t *testing.T, adjust ...func(*embedded.Config)) (url string) {
	t.Helper()
	config := embedded.Config{
		DataDir: t.TempDir(), ProjectID: embedded.DevProjectID, Region: embedded.DevRegion,
		AccessKeys: map[string]string{embedded.DevAccessKey: embedded.DevSecretKey},
	}
	for _, change := range adjust {
		change(&config)
	}
	store, err := embedded.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(store.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	setKeys(t, embedded.DevAccessKey, embedded.DevSecretKey)
	return server.URL
}

func setKeys(t *testing.T, accessKey, secretKey string) {
	t.Helper()
	for name, value := range map[string]string{
		"AK": accessKey, "SK": secretKey, "SECURITY_TOKEN": "", "PROJECT_ID": embedded.DevProjectID, "REGION": embedded.DevRegion,
	} {
		t.Setenv("HUAWEICLOUD_SDK_"+name, value)
	}
}

// TestDoctor: exit codes, and what goes where.
func TestDoctor(t *testing.T) {
	url := startEmbedded(t)
	args := []string{"doctor", "--dis-endpoint", url, "--listen=127.0.0.1:0", "--admin-listen=", "--watch=0s"}

	code, stdout, stderr := runCommand(args...)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "ok       settings     the gateway can start with them\n") {
		t.Errorf("healthy: exit code %d, %q\n%s", code, stderr, stdout)
	}
	code, stdout, stderr = runCommand(append(args, "orders")...)
	if code != 1 || stderr != "kafka-dis-gateway: the gateway would not work: topic\n" || !strings.Contains(stdout, "failed   topic        orders: there is no such topic: DIS has no stream orders. To do: ") {
		t.Errorf("no topic: exit code %d, %q\n%s", code, stderr, stdout)
	}
	code, stdout, stderr = runCommand(append(args, "--idle-polls=0", "--dis-signing=x")...)
	if code != 2 || stderr != "kafka-dis-gateway: the settings are wrong\n" || strings.Count(stdout, "failed ") != 2 || !strings.Contains(stdout, `failed   settings     --idle-polls: "0" is not allowed`) {
		t.Errorf("mistakes: exit code %d, %q\n%s", code, stderr, stdout)
	}
	if code, _, stderr := runCommand("doctor", "--no-such"); code != 2 || stderr != "kafka-dis-gateway: unknown flag --no-such (see --help)\n" {
		t.Errorf("unknown flag: exit code %d, %q", code, stderr)
	}

	setKeys(t, embedded.DevAccessKey, "not-it")
	code, stdout, stderr = runCommand(append(args, "--output=json")...)
	if code != 1 || stderr != "kafka-dis-gateway: the gateway would not work: identity "+strings.TrimPrefix(url, "http://")+"\n" || strings.Contains(stdout, "not-it") {
		t.Errorf("wrong key: exit code %d, %q\n%s", code, stderr, stdout)
	}
	decoder, results := json.NewDecoder(strings.NewReader(stdout)), 0
	for ; ; results++ {
		var one doctor.Result
		if err := decoder.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if results < 20 {
		t.Errorf("%d results:\n%s", results, stdout)
	}
}

// TestDoctorNamesTheSource: where keys come from, and what is wrong there, without
// them.
func TestDoctorNamesTheSource(t *testing.T) {
	url := startEmbedded(t)
	setKeys(t, "", "")
	half := writeFile(t, "access_key: dev\nsecret: my-secret\n")
	metadata := httptest.NewServer(http.NotFoundHandler())
	defer metadata.Close()
	for name, c := range map[string]struct{ arg, want string }{
		"keys in a file":         {"--dis-credentials-file=" + writeFile(t, "access_key: dev\nsecret_key: dev-secret\n"), "ok       credentials  file FILE (--dis-credentials-file): keys\n"},
		"a file that is missing": {"--dis-credentials-file=" + filepath.Join(t.TempDir(), "keys"), "failed   settings     --dis-credentials-file: credentials file: stat FILE: no such file"},
		"a file with wrong keys": {"--dis-credentials-file=" + half, "failed   settings     --dis-credentials-file: credentials file: FILE: line 2: want a mapping of access_key, secret_key"},
		"a metadata service":     {"--dis-credentials=metadata", "failed   credentials  metadata service " + metadata.URL + " (--dis-metadata-endpoint): metadata service: HTTP 404"},
		"a token":                {"--dis-token-file=" + writeFile(t, "t\n"), "ok       credentials  file FILE (--dis-token-file): a token\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stdout, _ := runCommand("doctor", "--dis-endpoint", url, "--dis-metadata-endpoint", metadata.URL, "--listen=127.0.0.1:0", "--admin-listen=", "--watch=0s", c.arg)
			_, file, _ := strings.Cut(c.arg, "=")
			if want := strings.ReplaceAll(c.want, "FILE", file); !strings.Contains(stdout, want) {
				t.Errorf("no line %q in\n%s", want, stdout)
			}
			if strings.Contains(stdout, "my-secret") {
				t.Error("a secret is shown")
			}
		})
	}
	code, stdout, _ := runCommand("doctor", "--dis-endpoint", url)
	if code != 2 || !strings.Contains(stdout, "failed   settings     the environment lacks what DIS wants to know: set HUAWEICLOUD_SDK_AK, HUAWEICLOUD_SDK_SK\n") {
		t.Errorf("no keys at all: exit code %d\n%s", code, stdout)
	}
	t.Setenv("HUAWEICLOUD_SDK_REGION", "")
	if code, stdout, _ = runCommand("doctor"); code != 2 || !strings.Contains(stdout, "skipped  identity     dis.REGION.myhuaweicloud.com: needs settings\n") {
		t.Errorf("no region: exit code %d\n%s", code, stdout)
	}
}

// TestDoctorHasTheSettingsOfServe: all of them, with the same defaults.
func TestDoctorHasTheSettingsOfServe(t *testing.T) {
	startEmbedded(t)
	serve, err := parse([]string{"serve"}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	examined, err := parse([]string{"doctor"}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want, got := *serve.(*serveCommand), examined.(*doctorCommand).serveCommand
	want.places, got.places = nil, nil
	if !reflect.DeepEqual(want, got) {
		t.Errorf("doctor examines %+v, serve would have %+v", got, want)
	}
}

// TestDoctorReadsRealMetrics: what it asks a running gateway for exists.
func TestDoctorReadsRealMetrics(t *testing.T) {
	var names []string
	for _, m := range metricTable() {
		names = append(names, m.Name)
	}
	for _, name := range doctor.MetricsRead {
		if !slices.Contains(names, name) {
			t.Errorf("there is no metric %s", name)
		}
	}
}

// TestDoctorTriesEveryCall: what the parts of the gateway ask of DIS is looked at.
func TestDoctorTriesEveryCall(t *testing.T) {
	wanted := doctor.Operations()
	for _, part := range []reflect.Type{
		reflect.TypeFor[topics.Streams](), reflect.TypeFor[produce.Putter](), reflect.TypeFor[fetch.Source](), reflect.TypeFor[offsets.Checkpoints](),
	} {
		for i := range part.NumMethod() {
			operation := strings.TrimSuffix(part.Method(i).Name, "ByID") // the same call by another name
			if !slices.Contains(wanted, operation) {
				t.Errorf("%s needs %s, which doctor does not know", part, operation)
			}
		}
	}
}

// TestDoctorBesideAGateway: one that runs with the same settings has its addresses,
// and says how it fares.
func TestDoctorBesideAGateway(t *testing.T) {
	url := startEmbedded(t)
	settings := []string{"--dis-endpoint", url, "--listen", freeAddress(t), "--admin-listen", freeAddress(t)}
	stdout, _ := startInProcess(t, append([]string{"serve"}, settings...)...)
	eventually(t, "gateway that is ready", func() bool {
		if !strings.Contains(stdout.String(), "Admin ") {
			return false
		}
		status, _ := getPage(t, "http://"+settings[5]+"/readyz")
		return status == http.StatusOK
	})
	code, report, stderr := runCommand(append([]string{"doctor", "--watch=0s"}, settings...)...)
	if code != 0 {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	for _, want := range []string{
		"ok       gateway      version ", " runs at " + settings[5] + " and is ready\n",
		"ok       address      " + settings[3] + ": in use, as it seems by the gateway that runs here\n",
		"ok       address      " + settings[5] + ": in use, as it seems by the gateway that runs here\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no line %q in\n%s", want, report)
		}
	}
}

// freeAddress is one of this machine that nobody has at the moment.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := gateway.ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
