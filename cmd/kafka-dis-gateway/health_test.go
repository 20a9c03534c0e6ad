package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// probe runs the command as a probe does.
func probe(args ...string) (code int, stdout, stderr string) {
	return runCommand(append([]string{"health"}, args...)...)
}

func TestHealth(t *testing.T) {
	reason := "DIS refuses the gateway:\n 401"
	admin, err := listenAdmin("127.0.0.1:0", testPages(func() string { return reason }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.close(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("KDG_ADMIN_LISTEN", admin.address().String())
	expect := func(wantCode int, wantOut, wantErr string, args ...string) {
		t.Helper()
		if code, out, err := probe(args...); code != wantCode || out != wantOut || err != wantErr {
			t.Errorf("health %v: exit code %d, %q, %q; want %d, %q, %q", args, code, out, err, wantCode, wantOut, wantErr)
		}
	}
	expect(0, "ok\n", "")
	expect(1, "", "kafka-dis-gateway: not ready: DIS refuses the gateway: 401\n", "--ready")
	reason = ""
	expect(0, "ready\n", "", "--ready")
	t.Setenv("KDG_READY", "true")
	expect(0, "ready\n", "")
}

// A listener on every interface is asked on this machine.
func TestHealthOfEveryInterface(t *testing.T) {
	admin, err := listenAdmin(":0", testPages(func() string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.close(); err != nil {
			t.Error(err)
		}
	})
	_, port, err := net.SplitHostPort(admin.address().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{":" + port, "0.0.0.0:" + port, "localhost:" + port} {
		if code, out, err := probe("--ready", "--admin-listen", address); code != 0 || out != "ready\n" {
			t.Errorf("%s: exit code %d, %q, %q", address, code, out, err)
		}
	}
}

// The settings file of the gateway does for its probe; what no command knows is
// a mistake there too.
func TestHealthReadsTheFileOfTheGateway(t *testing.T) {
	admin, err := listenAdmin("127.0.0.1:0", testPages(func() string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.close(); err != nil {
			t.Error(err)
		}
	})
	content := "region: cn-north-4\nlisten: [127.0.0.1:9092]\ntopics: [{match: a, format: reject}]\nadmin-listen: " + admin.address().String() + "\n"
	if code, out, err := probe("--config", writeFile(t, content)); code != 0 || out != "ok\n" {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
	file := writeFile(t, content+"regoin: x\n")
	if code, _, err := probe("--config", file); code != 2 || !strings.HasPrefix(err, "kafka-dis-gateway: regoin in "+file+": unknown key") {
		t.Errorf("exit code %d, %q", code, err)
	}
}

func TestHealthWithoutAnAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes the connection, nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	const short, ample = "50ms", "5s" // ample where there is an answer, which a busy machine may keep
	for _, c := range []struct {
		address string
		timeout string
		code    int
		want    string
	}{
		{silent.Addr().String(), short, 1, "no answer from " + silent.Addr().String() + "/healthz within 50ms"},
		{closed.Addr().String(), ample, 1, "no gateway answers at --admin-listen " + closed.Addr().String() + ": "},
		{other.Listener.Addr().String(), ample, 1, other.Listener.Addr().String() + "/healthz answered 404 Not Found: is it a gateway?"},
		{"", short, 2, "--admin-listen: empty: "},
		{"9644", short, 2, `--admin-listen: "9644" is not HOST:PORT`},
		{"127.0.0.1:0", short, 2, `--admin-listen: "127.0.0.1:0" is any free port`},
	} {
		began := time.Now()
		code, out, err := probe("--timeout="+c.timeout, "--admin-listen="+c.address)
		if code != c.code || out != "" || !strings.HasPrefix(err, "kafka-dis-gateway: "+c.want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q, %q, want %q", c.address, code, out, err, c.want)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q: took %s", c.address, took)
		}
	}
}

// TestHealthOfAnotherProgram: one that answers 200 to everything is no gateway, and what
// it says cannot do anything to a terminal.
func TestHealthOfAnotherProgram(t *testing.T) {
	status := http.StatusOK
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, "\x1b[2J<html>"+strings.Repeat("a", 1<<20)) // fails when it is not read to the end
	}))
	defer other.Close()
	address := other.Listener.Addr().String()
	for _, page := range []string{"healthz", "readyz"} {
		code, out, err := probe("--admin-listen", address, "--ready="+strconv.FormatBool(page == "readyz"))
		want := "kafka-dis-gateway: " + address + "/" + page + ` answered "\ufffd[2J<html>`
		if code != 1 || out != "" || !strings.HasPrefix(strings.ReplaceAll(err, "\ufffd", `\ufffd`), want) || !strings.HasSuffix(err, "is it a gateway?\n") || len(err) > 200 {
			t.Errorf("/%s: exit code %d, %q, %q", page, code, out, err)
		}
	}
	status = http.StatusServiceUnavailable
	if code, _, err := probe("--admin-listen", address, "--ready"); code != 1 || strings.Contains(err, "\x1b") || len(err) > longestReason+200 {
		t.Errorf("not ready: exit code %d, %.100q", code, err)
	}
}
