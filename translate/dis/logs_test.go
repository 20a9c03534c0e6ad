package dis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// logTo makes a client log everything into a buffer.
func logTo(log *bytes.Buffer) func(*Config) {
	return func(c *Config) { c.Logger = zerolog.New(log) }
}

// logLines decodes what was logged.
func logLines(t *testing.T, log *bytes.Buffer) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestEachAttemptIsLogged with the request that it is made for and with DIS's own
// names of it.
func TestEachAttemptIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		client, _ := play(t, logTo(&log),
			step{status: 503, body: `{"errorCode":"DIS.5100","message":"busy"}`, header: http.Header{"X-Request-Id": {"r1"}}},
			step{status: 201, header: http.Header{"X-Request-Id": {"r2"}}})
		if err := commit(WithCallers(t.Context(), Caller{3, 17}), client); err != nil {
			t.Fatal(err)
		}
		lines := logLines(t, &log)
		if len(lines) != 3 {
			t.Fatalf("%d lines, want two for the attempts and one for the wait between them:\n%s", len(lines), log.String())
		}
		for i, line := range lines {
			if line["level"] != "debug" || line["request"] != "3/17" || line["operation"] != "CommitCheckpoint" {
				t.Errorf("line %d: %v", i, line)
			}
		}
		if failed := lines[0]; failed["dis_request_id"] != "r1" || failed["code"] != "DIS.5100" || failed["status"] != 503.0 || failed["attempt"] != 1.0 ||
			failed["stream"] != "s" || !strings.Contains(fmt.Sprint(failed["error"]), "busy") {
			t.Errorf("the failed attempt: %v", failed)
		}
		if good := lines[2]; good["dis_request_id"] != "r2" || good["attempt"] != 2.0 || good["error"] != nil || good["took_ms"] == nil {
			t.Errorf("the second: %v", good)
		}
	})
}

// TestRefusedRecordsAreLogged, and told to observers: the call itself went well.
func TestRefusedRecordsAreLogged(t *testing.T) {
	var log bytes.Buffer
	var seen Call
	client, _ := play(t, func(c *Config) { logTo(&log)(c); c.Observe = func(call Call) { seen = call } },
		step{status: 200, body: `{"failed_record_count":2,"records":[{"partition_id":"shardId-0000000000","sequence_number":"1"},` +
			`{"error_code":"DIS.4303","error_message":"slow"},{"error_code":"DIS.5250","error_message":"trouble"}]}`})
	put := &wire.PutRecordsRequest{StreamName: "orders", Records: make([]wire.PutRecord, 3)}
	if _, err := client.PutRecords(WithCallers(t.Context(), Caller{1, 1}, Caller{1, 2}), put); err != nil {
		t.Fatal(err)
	}
	if seen.Stream != "orders" || seen.Records != 3 || seen.Refused != 2 || seen.RefusalCode != "DIS.4303" || seen.RefusalMessage != "slow" || seen.Err != nil {
		t.Errorf("seen %+v", seen)
	}
	line := logLines(t, &log)[0]
	if line["refused"] != 2.0 || line["records"] != 3.0 || line["refusal_code"] != "DIS.4303" || fmt.Sprint(line["requests"]) != "[1/1 1/2]" {
		t.Errorf("line %v", line)
	}
}

// TestManyCallers: a line names some and counts all.
func TestManyCallers(t *testing.T) {
	var log bytes.Buffer
	logger := zerolog.New(&log)
	var callers []Caller
	for i := range 3 * MaxLoggedCallers {
		callers = append(callers, Caller{7, int32(i)})
	}
	LogCallers(logger.Info(), callers...).Send()
	LogCallers(logger.Info()).Send()
	LogCallers(logger.Info(), Caller{}).Send()
	lines := logLines(t, &log)
	if got := lines[0]["requests"].([]any); len(got) != MaxLoggedCallers || got[1] != "7/1" || lines[0]["requests_total"] != float64(len(callers)) {
		t.Errorf("%v", lines[0])
	}
	for _, none := range lines[1:] {
		if len(none) != 1 {
			t.Errorf("without a caller: %v", none)
		}
	}
}

// TestSecretsInAnswersAreHidden: a proxy or gateway in front of DIS may repeat in its
// refusal what it was sent, headers and all.
func TestSecretsInAnswersAreHidden(t *testing.T) {
	const secret, token = `sk-very/secret+key`, "token-nobody-may-see"
	var sent string // what the last request had
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var headers strings.Builder
		if err := r.Header.Write(&headers); err != nil {
			t.Error(err)
		}
		sent = headers.String()
		text := "refused: " + sent + " and " + secret + " and " + token
		w.WriteHeader(http.StatusUnauthorized)
		if r.URL.Query().Get("limit") == "" { // no JSON at all
			fmt.Fprint(w, text)
			return
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"errorCode":"DIS.4112","message":%s}`, strings.ReplaceAll(string(quoted), "/", `\/`))
	}))
	defer echo.Close()
	keys := StaticCredentials(Keys{AccessKey: "ak", SecretKey: secret, SecurityToken: token})
	for name, change := range map[string]func(*Config){
		"scoped signature":   func(c *Config) { c.Credentials = keys },
		"unscoped signature": func(c *Config) { c.Credentials, c.Signing = keys, SigningUnscoped },
		"token":              func(c *Config) { c.Credentials, c.Tokens = nil, StaticToken(token) },
	} {
		var log bytes.Buffer
		cfg := testConfig(echo.URL)
		change(&cfg)
		logTo(&log)(&cfg)
		var observed []Call
		cfg.Observe = func(call Call) { observed = append(observed, call) }
		client, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, listing := client.ListStreams(t.Context())
		_, describing := client.DescribeApp(t.Context(), "app")
		client.Close()
		told := fmt.Sprintf("%v\n%v\n%+v\n%s", listing, describing, observed, log.String())
		for _, call := range observed {
			told += fmt.Sprintf("%+v %v", call, call.Err)
		}
		secrets := []string{token}
		if cfg.Tokens == nil {
			secrets = append(secrets, secret)
		}
		for line := range strings.Lines(sent) {
			if _, signature, found := strings.Cut(line, "Signature="); found {
				secrets = append(secrets, strings.TrimSpace(signature))
			}
		}
		for _, known := range secrets {
			if strings.Contains(told, known) {
				t.Errorf("%s: %q is in\n%s", name, known, told)
			}
		}
		if !strings.Contains(told, "refused: ") || !strings.Contains(told, hiddenText) {
			t.Errorf("%s: what the answer said is not told:\n%s", name, told)
		}
	}
}
