package e2e

import (
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
)

// metricFamily is what a page of metrics, or the document about it, shows of a metric.
type metricFamily struct {
	Type   string
	Labels []string // sorted
}

// documentedMetrics are those of docs/metrics.md.
func documentedMetrics(t testing.TB) map[string]metricFamily {
	t.Helper()
	text, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]metricFamily{}
	row := regexp.MustCompile("(?m)^\\| `(kdg_[a-z_]+)` \\| (\\w+) \\| ([^|]*) \\|")
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		var labels []string
		for _, label := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(found[3], -1) {
			labels = append(labels, label[1])
		}
		slices.Sort(labels)
		families[found[1]] = metricFamily{found[2], labels}
	}
	if len(families) < 30 {
		t.Fatalf("only %d metrics in docs/metrics.md", len(families))
	}
	return families
}

var (
	sampleLine = regexp.MustCompile(`^(\w+?)(_bucket|_sum|_count)?(?:\{(.*)\})? \S+$`)
	labelName  = regexp.MustCompile(`([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"`)
)

// shownMetrics are the gateway's own metrics of a page in the text format of
// Prometheus; those of the Go runtime and the process are left out.
func shownMetrics(t testing.TB, page string) map[string]metricFamily {
	t.Helper()
	families := map[string]metricFamily{}
	for line := range strings.SplitSeq(page, "\n") {
		if rest, found := strings.CutPrefix(line, "# TYPE "); found {
			name, kind, _ := strings.Cut(rest, " ")
			families[name] = metricFamily{Type: kind}
		}
		found := sampleLine.FindStringSubmatch(line)
		if strings.HasPrefix(line, "#") || found == nil {
			continue
		}
		name := found[1]
		if kind := families[name].Type; kind != "histogram" && kind != "summary" {
			name += found[2]
		}
		family, known := families[name]
		if !known {
			t.Errorf("%q comes without a type", line)
		}
		for _, label := range labelName.FindAllStringSubmatch(found[3], -1) {
			if label[1] != "le" && !slices.Contains(family.Labels, label[1]) {
				family.Labels = append(family.Labels, label[1])
			}
		}
		slices.Sort(family.Labels)
		families[name] = family
	}
	maps.DeleteFunc(families, func(name string, _ metricFamily) bool {
		return strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_")
	})
	return families
}

// trafficOfEveryKind lets a gateway see what makes each of its metrics appear: records
// written, read and committed by a group, an error, a repeated call of DIS, and
// something that is not Kafka.
func trafficOfEveryKind(t *testing.T) *serving {
	t.Helper()
	dis, endpoint := startDIS(t, nil, "--fault", "error-5xx,operations=ListStreams,count=1")
	s := startServeAt(t, endpoint, dis, "--topic-admin", "create", "--initial-rebalance-delay", "0s")
	s.waitReady(t)
	createTopic(t, s.kafka, "orders", 2)
	client := franz{broker: s.kafka}
	client.produce(t, "orders", keyedMessages(100))
	client.subscribe(t, "billing", "orders", 100)
	if _, err := kadm.NewClient(newFranz(t, s.kafka)).ListTopics(t.Context(), "missing"); err != nil {
		t.Fatal(err)
	}
	stranger, err := net.Dial("tcp", s.kafka)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := stranger.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	eventually(t, startTimeout, "the metrics of the traffic", func() string {
		return missingOnPage(t, s, `kdg_group_lag_records{group="billing",`, `kdg_connections_closed_total{reason="malformed"} 1`,
			`kdg_dis_retries_total{operation="ListStreams"} 1`, `error="UNKNOWN_TOPIC_OR_PARTITION"`,
			`kdg_topic_stored_records_total{topic="orders"} 100`, `kdg_topic_fetched_records_total{topic="orders"} 100`,
			`kdg_client_connections{software="kgo"}`, "kdg_ready 1", "kdg_dis_up 1", "kdg_group_rebalances_total 1")
	})
	return s
}

// missingOnPage names the first of the beginnings of lines, or parts of them, that the
// metrics page does not have.
func missingOnPage(t testing.TB, s *serving, wanted ...string) string {
	t.Helper()
	_, page := s.ask(t, "/metrics")
	for _, text := range wanted {
		if !strings.Contains(page, text) {
			return "there is no " + text
		}
	}
	return ""
}

func wantOnPage(t testing.TB, s *serving, wanted ...string) {
	t.Helper()
	if missing := missingOnPage(t, s, wanted...); missing != "" {
		t.Errorf("on the metrics page %s", missing)
	}
}

// TestMetricsPage: a gateway after traffic of every kind shows the metrics that
// docs/metrics.md lists, with their types and labels, and no others; promtool has no
// complaint; and the dashboard and the alert rules ask for nothing else.
func TestMetricsPage(t *testing.T) {
	t.Parallel()
	s := trafficOfEveryKind(t)
	status, page := s.ask(t, "/metrics")
	if status != 200 {
		t.Fatalf("status %d: %s", status, page)
	}
	page += "\n"
	shown := shownMetrics(t, page)
	if diff := cmp.Diff(documentedMetrics(t), shown); diff != "" {
		t.Errorf("docs/metrics.md and the page differ (-document +page)\n%s", diff)
	}
	t.Run("promtool", func(t *testing.T) {
		promtool := prometheusProgram(t, "promtool")
		if complaints := runClient(t, page, promtool, "check", "metrics"); complaints != "" {
			t.Errorf("promtool check metrics: %s", complaints)
		}
	})
	t.Run("dashboard", func(t *testing.T) { checkExpressions(t, shown, dashboardExpressions(t)) })
	t.Run("alerts", func(t *testing.T) {
		var expressions []string
		for _, rule := range alertRules(t) {
			expressions = append(expressions, rule.Expr)
		}
		checkExpressions(t, shown, expressions)
	})
}

// TestMetricsSurviveHostileNames: clients choose their names and those of groups; none
// of them takes the page from Prometheus.
func TestMetricsSurviveHostileNames(t *testing.T) {
	t.Parallel()
	promtool := prometheusProgram(t, "promtool")
	s := startServe(t, "--topic-admin", "create", "--initial-rebalance-delay", "0s")
	s.waitReady(t)
	createTopic(t, s.kafka, "orders", 1)
	client := franz{broker: s.kafka}
	client.produce(t, "orders", keyedMessages(10))
	for _, group := range []string{"a\"b", "back\\slash", "line\nend", "ünï", "{}", "a,b=c"} {
		client.subscribe(t, group, "orders", 10)
	}
	_, page := s.ask(t, "/metrics")
	if complaints := runClient(t, page+"\n", promtool, "check", "metrics"); complaints != "" {
		t.Errorf("promtool check metrics: %s", complaints)
	}
}
