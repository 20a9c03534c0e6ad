package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
)

// systemLogger is one of Debian's, with the settings in its folder of
// testdata/clients. It keeps all its files in a folder of the test.
type systemLogger struct {
	program  string // the folder, which holds the package unpacked, and the program
	settings string
	// args are those that keep it in the foreground and away from the system.
	args func(root, work string) []string
}

var systemLoggers = map[string]systemLogger{
	"rsyslog": {"rsyslogd", "rsyslog.conf", func(root, work string) []string {
		return []string{"-n", "-i", filepath.Join(work, "pid"), "-M", onlyMatch(root, "usr/lib/*/rsyslog")}
	}},
	"syslog-ng": {"syslog-ng", "syslog-ng.conf", func(root, work string) []string {
		return []string{"-F", "--stderr", "--no-caps", "-p", filepath.Join(work, "pid"), "-c", filepath.Join(work, "control"),
			"-R", filepath.Join(work, "persist"), "--module-path", onlyMatch(root, "usr/lib/syslog-ng/[0-9]*")}
	}},
}

// onlyMatch is the folder of a version or an architecture.
func onlyMatch(root, pattern string) string {
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(found) != 1 {
		return fmt.Sprintf("%d of %s/%s", len(found), root, pattern)
	}
	return found[0]
}

// startSystemLogger runs one until the test ends: it takes lines at the socket
// "log" of its folder, and from a file.
func startSystemLogger(t *testing.T, name, broker, topic, work, file string) {
	t.Helper()
	logger := systemLoggers[name]
	folder, err := filepath.Abs("../testdata/clients/" + name)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(folder, "unpacked")
	program := requireProgram(t, filepath.Join(root, "usr/sbin", logger.program))
	start(t, []string{
		"KAFKA=" + broker, "TOPIC=" + topic, "WORK=" + work, "FILE=" + file,
		"LD_LIBRARY_PATH=" + filepath.Join(root, "usr/lib", name), // the package's own library
	}, program, append([]string{"-f", filepath.Join(folder, logger.settings)}, logger.args(root, work)...)...)
	eventually(t, startTimeout, "the socket of "+name, func() string {
		if _, err := os.Stat(filepath.Join(work, "log")); err != nil {
			return err.Error()
		}
		return ""
	})
}

// loggedText is what a line says, with characters that JSON has to escape and some
// of more than a byte.
func loggedText(source string, i int) string {
	return fmt.Sprintf(`%s, line %d: "Grüße\n" from 東京`, source, i)
}

// logLines has a program log lines as the C library does, and appends as many to
// the file.
func logLines(t *testing.T, work, file string, from, to int) {
	t.Helper()
	socket, err := net.Dial("unixgram", filepath.Join(work, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	appended, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer appended.Close()
	const userError = 1<<3 | 3 // facility and severity
	for i := from; i < to; i++ {
		if _, err := fmt.Fprintf(socket, "<%d>Nov 30 12:00:00 shop[4711]: %s", userError, loggedText("shop", i)); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintln(appended, loggedText("file", i)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSystemLoggers: rsyslog and syslog-ng, as Debian has them, ship what a program
// logs and what is appended to a file. The gateway goes away and comes back: every
// line is there once, those of a source in their order.
func TestSystemLoggers(t *testing.T) {
	t.Parallel()
	const before, after = 300, 400
	for name := range systemLoggers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startDev(t, "--topic", "logs:3")
			work, file := t.TempDir(), filepath.Join(t.TempDir(), "shop.log")
			startSystemLogger(t, name, d.kafka, "logs", work, file)
			logLines(t, work, file, 0, before)
			checkLogged(t, d.kafka, before)

			d.kill()
			logLines(t, work, file, before, after)
			d = startDevOn(t, d.kafka, d.dataDir)
			checkLogged(t, d.kafka, after)
		})
	}
}

// checkLogged reads the topic from its start: so many lines of each source.
func checkLogged(t *testing.T, broker string, count int) {
	t.Helper()
	want, got := map[string][]string{}, map[string][]string{}
	for i := range count {
		want["shop err"] = append(want["shop err"], loggedText("shop", i))
		want["file"] = append(want["file"], loggedText("file", i))
	}
	for _, m := range (franz{broker}).assign(t, "logs", 3, 2*count) {
		var line struct{ Program, Severity, Message string }
		if err := json.Unmarshal([]byte(m.value), &line); err != nil {
			t.Fatalf("%s: %v", m.value, err)
		}
		if line.Program != m.key {
			t.Errorf("key %q of a line of %q", m.key, line.Program)
		}
		source := line.Program
		if source == "shop" {
			source += " " + line.Severity
		}
		got[source] = append(got[source], strings.TrimPrefix(line.Message, " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("lines in the topic (-want +got):\n%s", diff)
	}
	ends, err := kadm.NewClient(newFranz(t, broker)).ListEndOffsets(t.Context(), "logs")
	if err != nil || ends.Error() != nil {
		t.Fatal(err, ends.Error())
	}
	total := int64(0)
	ends.Each(func(end kadm.ListedOffset) { total += end.Offset })
	if total != int64(2*count) {
		t.Errorf("the topic has %d records, want %d", total, 2*count)
	}
}
