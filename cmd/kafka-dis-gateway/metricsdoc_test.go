package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
)

const (
	metricsPath = "../../docs/metrics.md"
	alertsPath  = "../../deploy/prometheus/alerts.yaml"
)

// TestDocumentsListTheMetrics keeps docs/metrics.md to the table that /metrics is made
// from. Run with -update to write it.
func TestDocumentsListTheMetrics(t *testing.T) {
	generatedPart(t, metricsPath, "metrics", metricsMarkdown(metricTable()))
}

// metricsMarkdown lists the metrics under the headings of their parts, in the order of
// the table.
func metricsMarkdown(table []gateway.Metric) string {
	page := sections{columns: "| Metric | Type | Labels | Unit | Meaning | When to look |"}
	for _, m := range table {
		page.add(m.Part, code(m.Name), string(m.Type), cmp.Or(codes(m.Labels), "–"), cell(m.Unit), cell(m.Help), cmp.Or(cell(m.Worry), "–"))
	}
	return page.String()
}

// TestDocumentsListTheAlerts keeps the alerts in docs/metrics.md to the rules.
func TestDocumentsListTheAlerts(t *testing.T) {
	generatedPart(t, metricsPath, "alerts", alertsMarkdown(t))
}

// variableInText is what Prometheus fills in: a label of the alert, or its value.
var variableInText = regexp.MustCompile(`\{\{ \$(?:labels\.)?(\w+) \}\}`)

func alertsMarkdown(t *testing.T) string {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	raw, err := os.ReadFile(alertsPath)
	if err == nil {
		err = yaml.Unmarshal(raw, &file)
	}
	if err != nil {
		t.Fatalf("%s: %v", alertsPath, err)
	}
	var b strings.Builder
	b.WriteString("| Alert | Severity | Says | What to do |\n|---|---|---|---|\n")
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", rule.Alert, rule.Labels["severity"],
				cell(variableInText.ReplaceAllString(rule.Annotations["summary"], "*$1*")), cell(rule.Annotations["remedy"]))
		}
	}
	return b.String()
}

var unitOfName = regexp.MustCompile(`_(bytes|seconds|records)(_total)?$`)

// TestMetricsAreWellNamed: what the rules of Prometheus say of names, and every line
// of the table complete.
func TestMetricsAreWellNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metricTable() {
		if seen[m.Name] {
			t.Errorf("%s stands twice in the table", m.Name)
		}
		seen[m.Name] = true
		if !strings.HasPrefix(m.Name, "kdg_") {
			t.Errorf("%s does not begin with kdg_", m.Name)
		}
		if counter := strings.HasSuffix(m.Name, "_total"); counter != (m.Type == gateway.Counter) {
			t.Errorf("%s is a %s", m.Name, m.Type)
		}
		if found := unitOfName.FindStringSubmatch(m.Name); found != nil && found[1] != m.Unit {
			t.Errorf("%s has the unit %s", m.Name, m.Unit)
		}
		if m.Part == "" || m.Unit == "" || !strings.HasSuffix(m.Help, ".") || m.Worry != "" && !strings.HasSuffix(m.Worry, ".") {
			t.Errorf("%s: the line is not complete: %+v", m.Name, m)
		}
	}
}

// TestDocumentsNameRealMetrics: every metric that the documents mention exists.
func TestDocumentsNameRealMetrics(t *testing.T) {
	known := map[string]bool{}
	for _, m := range metricTable() {
		known[m.Name] = true
		if m.Type == gateway.Histogram {
			for _, series := range []string{"_bucket", "_sum", "_count"} {
				known[m.Name+series] = true
			}
		}
	}
	mentioned(t, `kdg_[a-z_]+`, 5, func(name string) bool { return known[name] })
}
