package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const prometheusFolder = "../deploy/prometheus"

// alertRule is one of deploy/prometheus/alerts.yaml.
type alertRule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

// ruleFile is a file of rules as Prometheus reads it.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []alertRule
	}
}

func readYAML(t testing.TB, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func alertRules(t testing.TB) (rules []alertRule) {
	t.Helper()
	var file ruleFile
	readYAML(t, filepath.Join(prometheusFolder, "alerts.yaml"), &file)
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) < 10 {
		t.Fatalf("only %d rules", len(rules))
	}
	return rules
}

// dashboardExpressions are the queries of the dashboard's panels, with values in place
// of its variables.
func dashboardExpressions(t testing.TB) (expressions []string) {
	t.Helper()
	raw, err := os.ReadFile("../deploy/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(raw, &dashboard); err != nil {
		t.Fatalf("dashboard.json: %v", err)
	}
	variables := strings.NewReplacer("$job", ".*", "$instance", ".*", "$__rate_interval", "5m")
	for _, panel := range dashboard.Panels {
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			expressions = append(expressions, variables.Replace(target.Expr))
		}
	}
	if len(expressions) < 20 {
		t.Fatalf("only %d queries", len(expressions))
	}
	return expressions
}

var (
	metricSelector = regexp.MustCompile(`\b(kdg_[a-z_]+)(?:\{([^}]*)\})?`)
	matcherLabel   = regexp.MustCompile(`(\w+) ?(?:=~|!~|!=|=) ?"`)
	groupingLabels = regexp.MustCompile(`\b(?:by|on|without|ignoring) ?\(([^)]*)\)`)
)

// targetLabels are those that Prometheus adds, and the one of histogram buckets.
var targetLabels = []string{"job", "instance", "le"}

// checkExpressions: the metrics that queries name exist, and have the labels that the
// queries go by.
func checkExpressions(t *testing.T, shown map[string]metricFamily, expressions []string) {
	t.Helper()
	named := 0
	for _, expression := range expressions {
		known := slices.Clone(targetLabels)
		for _, selector := range metricSelector.FindAllStringSubmatch(expression, -1) {
			named++
			family, exists := familyOf(shown, selector[1])
			if !exists {
				t.Errorf("%s does not exist, in %s", selector[1], expression)
			}
			known = append(known, family.Labels...)
			for _, label := range matcherLabel.FindAllStringSubmatch(selector[2], -1) {
				if !slices.Contains(family.Labels, label[1]) && !slices.Contains(targetLabels, label[1]) {
					t.Errorf("%s has no label %s, in %s", selector[1], label[1], expression)
				}
			}
		}
		for _, grouping := range groupingLabels.FindAllStringSubmatch(expression, -1) {
			for label := range strings.SplitSeq(grouping[1], ",") {
				if label = strings.TrimSpace(label); !slices.Contains(known, label) {
					t.Errorf("no metric has the label %s, in %s", label, expression)
				}
			}
		}
	}
	if named < len(expressions)/2 {
		t.Errorf("%d queries name %d metrics, the pattern must be wrong", len(expressions), named)
	}
}

// familyOf finds the metric of a series; those of a histogram have names of their own.
func familyOf(shown map[string]metricFamily, series string) (metricFamily, bool) {
	if family, found := shown[series]; found {
		return family, family.Type != "histogram"
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if name, found := strings.CutSuffix(series, suffix); found && shown[name].Type == "histogram" {
			return shown[name], true
		}
	}
	return metricFamily{}, false
}

// TestAlertRulesAreComplete: each says how urgent it is, what is wrong and what to do,
// and has a test that shows it firing for one gateway, and ending.
func TestAlertRulesAreComplete(t *testing.T) {
	var tests struct {
		Tests []struct {
			PromqlExprTest []struct {
				ExpSamples []struct{ Labels string } `yaml:"exp_samples"`
			} `yaml:"promql_expr_test"`
		}
	}
	readYAML(t, filepath.Join(prometheusFolder, "alerts_test.yaml"), &tests)
	shown := map[string]bool{}
	for _, test := range tests.Tests {
		if len(test.PromqlExprTest) != 2 || len(test.PromqlExprTest[0].ExpSamples) != 1 || len(test.PromqlExprTest[1].ExpSamples) != 0 {
			t.Errorf("a test does not show one alert, and then none: %+v", test)
			continue
		}
		shown[test.PromqlExprTest[0].ExpSamples[0].Labels] = true
	}
	for _, rule := range alertRules(t) {
		severity := rule.Labels["severity"]
		if !slices.Contains([]string{"critical", "warning", "info"}, severity) {
			t.Errorf("%s has the severity %q", rule.Alert, severity)
		}
		if rule.Annotations["summary"] == "" || len(rule.Annotations["remedy"]) < 40 {
			t.Errorf("%s does not say what is wrong and what to do", rule.Alert)
		}
		if want := fmt.Sprintf(`{alertname=%q, severity=%q, instance="a"}`, rule.Alert, severity); !shown[want] {
			t.Errorf("no test shows %s", want)
		}
	}
}

// TestAlertRules: Prometheus's own tool accepts the rules, sees each fire and end, and
// can read the example configurations and the queries of the dashboard.
func TestAlertRules(t *testing.T) {
	promtool := prometheusProgram(t, "promtool")
	path := func(name string) string { return filepath.Join(prometheusFolder, name) }
	runClient(t, "", promtool, "check", "rules", path("alerts.yaml"))
	runClient(t, "", promtool, "check", "config", path("prometheus.yaml"))
	runClient(t, "", promtool, "check", "config", withoutKubernetes(t, path("prometheus-kubernetes.yaml")))
	runClient(t, "", promtool, "test", "rules", path("alerts_test.yaml"))

	var queries ruleFile
	queries.Groups = append(queries.Groups, struct {
		Name  string
		Rules []alertRule
	}{Name: "dashboard"})
	for i, expression := range dashboardExpressions(t) {
		queries.Groups[0].Rules = append(queries.Groups[0].Rules, alertRule{Alert: fmt.Sprint("Query", i), Expr: expression, For: "0s"})
	}
	raw, err := yaml.Marshal(queries)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yaml")
	if err := os.WriteFile(file, raw, 0o644); err != nil {
		t.Fatal(err)
	}
	runClient(t, "", promtool, "check", "rules", file)
}

// withoutKubernetes copies an example configuration with an address in place of the
// search for pods, which Debian's build of promtool does not know.
func withoutKubernetes(t *testing.T, example string) string {
	t.Helper()
	raw, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	const search, address = "    kubernetes_sd_configs:\n      - role: pod\n", "    static_configs:\n      - targets: [localhost:9644]\n"
	rules, err := filepath.Abs(filepath.Join(prometheusFolder, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(raw), "- alerts.yaml", "- "+rules, 1)
	if strings.Count(text, search) != 1 || !strings.Contains(text, rules) {
		t.Fatalf("%s does not look for pods, or has no rules", example)
	}
	file := filepath.Join(t.TempDir(), "prometheus.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(text, search, address, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
