package e2e

import (
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/e2e/oracle"
)

const (
	oracleDir = "../testdata/oracle"
	goldenDir = oracleDir + "/golden"

	// atOnce is how many scenarios play at the same time. Most of their time they
	// wait.
	atOnce = 16
)

var updateGolden = flag.Bool("update-golden", false, "write what the real Kafka broker answers to "+goldenDir)

// TestOracle plays the scenarios of package oracle against a real Apache Kafka
// broker, which must answer what the golden files say, and against the gateway,
// which must answer the same but for the differences listed there.
func TestOracle(t *testing.T) {
	t.Run("broker", func(t *testing.T) {
		t.Parallel()
		broker := startBroker(t)
		t.Run("scenarios", func(t *testing.T) {
			playAll(t, broker, func(t *testing.T, s oracle.Scenario, got oracle.Transcript) {
				if *updateGolden {
					writeGolden(t, s.Name, got)
				}
				if found := oracle.Compare(readGolden(t, s.Name), got); found != "" {
					t.Errorf("the broker does not answer what the golden file says:\n%s", found)
				}
			})
		})
		t.Run("clients", func(t *testing.T) { compareClients(t, broker) })
	})
	t.Run("gateway", func(t *testing.T) {
		if *updateGolden {
			t.Skip("the golden files are being written")
		}
		t.Parallel()
		// Where Kafka lets clients choose the kind of time, the gateway has a setting.
		d := startDev(t, "--topics", "log-append-time-*,timestamp-type=LogAppendTime")
		playAll(t, d.kafka, func(t *testing.T, s oracle.Scenario, got oracle.Transcript) {
			wanted, err := oracle.Expected(s.Name, readGolden(t, s.Name))
			if err != nil {
				t.Fatal(err)
			}
			if found := oracle.Compare(wanted, got); found != "" {
				t.Errorf("the gateway answers otherwise than Kafka, in a way that is not listed (or what is listed is no longer so):\n%s", found)
			}
		})
	})
}

// playAll plays every scenario as a subtest, many at the same time.
func playAll(t *testing.T, address string, check func(*testing.T, oracle.Scenario, oracle.Transcript)) {
	var playing sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for _, s := range oracle.Scenarios() {
		turns <- struct{}{}
		playing.Go(func() {
			defer func() { <-turns }()
			t.Run(s.Name, func(t *testing.T) {
				transcript, err := s.Play(address)
				if err != nil {
					t.Fatalf("%v\nso far:\n%s", err, transcript)
				}
				check(t, s, transcript)
			})
		})
	}
	playing.Wait()
}

func goldenFile(scenario string) string { return filepath.Join(goldenDir, scenario+".txt") }

func readGolden(t *testing.T, scenario string) oracle.Transcript {
	t.Helper()
	text, err := os.ReadFile(goldenFile(scenario))
	if err != nil {
		t.Fatal(err)
	}
	golden, err := oracle.ParseTranscript(string(text))
	if err != nil {
		t.Fatalf("%s: %v", goldenFile(scenario), err)
	}
	return golden
}

func writeGolden(t *testing.T, scenario string, transcript oracle.Transcript) {
	t.Helper()
	if err := os.WriteFile(goldenFile(scenario), []byte(transcript.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// startBroker starts the real broker on free ports and returns its address once
// it answers. A missing Java skips the test.
func startBroker(t *testing.T) string {
	t.Helper()
	requireProgram(t, "java", "-version")
	requireProgram(t, "mvn", "-v")
	if output, err := exec.Command(oracleDir + "/install").CombinedOutput(); err != nil {
		t.Fatalf("installing the broker: %v\n%s", err, output)
	}
	for _, name := range []string{"pom.xml", "install", "start", "server.properties"} {
		// What the test depends on, see lookAtSources.
		if _, err := os.Stat(filepath.Join(oracleDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	kafka, controller := freeAddress(t), freeAddress(t)
	start(t, nil, oracleDir+"/start", t.TempDir(), portOf(t, kafka), portOf(t, controller))
	if err := oracle.AwaitReady(kafka, startTimeout); err != nil {
		t.Fatal(err)
	}
	return kafka
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// TestGoldenFilesHaveScenarios: a transcript of a scenario that is no longer there
// says nothing.
func TestGoldenFilesHaveScenarios(t *testing.T) {
	known := map[string]bool{}
	for _, s := range oracle.Scenarios() {
		if known[s.Name] {
			t.Errorf("two scenarios are called %s", s.Name)
		}
		known[s.Name] = true
	}
	entries, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := strings.TrimSuffix(entry.Name(), ".txt"); !known[name] {
			t.Errorf("%s has no scenario", entry.Name())
		}
	}
}

// TestListedDifferencesAreInGoldenFiles: a difference in a step that is no longer
// there, and a rule for lines that no transcript has, say nothing.
func TestListedDifferencesAreInGoldenFiles(t *testing.T) {
	golden := map[string]oracle.Transcript{}
	var all strings.Builder
	for _, s := range oracle.Scenarios() {
		golden[s.Name] = readGolden(t, s.Name)
		all.WriteString(golden[s.Name].String())
	}
	for _, d := range oracle.Differences {
		for _, change := range d.Steps {
			if !slices.ContainsFunc(golden[change.Scenario].Steps, func(s oracle.Step) bool { return s.Label == change.Step }) {
				t.Errorf("%s: scenario %s has no step %q", d.What, change.Scenario, change.Step)
			}
		}
		for _, rule := range d.Everywhere {
			if !rule.Kafka.MatchString(all.String()) {
				t.Errorf("%s: no transcript matches %s", d.What, rule.Kafka)
			}
		}
	}
}
