package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// prometheusProgram is the path of prometheus or promtool: what testdata/clients/install
// has unpacked, or what the machine has.
func prometheusProgram(t testing.TB, name string) string {
	t.Helper()
	unpacked := "../testdata/clients/prometheus/unpacked/usr/bin/" + name
	if _, err := os.Stat(unpacked); err == nil {
		return requireProgram(t, unpacked, "--version")
	}
	return requireProgram(t, name, "--version")
}

// startPrometheus runs a Prometheus that scrapes the gateway every second, with the
// alert rules, and returns its address.
func startPrometheus(t *testing.T, gateway *serving) string {
	t.Helper()
	rules, err := filepath.Abs(filepath.Join(prometheusFolder, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := yaml.Marshal(map[string]any{
		"global":     map[string]any{"scrape_interval": "1s", "evaluation_interval": "1s"},
		"rule_files": []string{rules},
		"scrape_configs": []any{map[string]any{
			"job_name":       "kafka-dis-gateway",
			"static_configs": []any{map[string]any{"targets": []string{gateway.admin}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, address := t.TempDir(), freeAddress(t)
	file := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(file, config, 0o644); err != nil {
		t.Fatal(err)
	}
	start(t, nil, prometheusProgram(t, "prometheus"), "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", address)
	return address
}

// askPrometheus makes a call of the HTTP API and decodes its data.
func askPrometheus(address, path string, data any) error {
	answer, err := http.Get("http://" + address + path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var body struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return fmt.Errorf("status %d: %w", answer.StatusCode, err)
	}
	if body.Status != "success" {
		return fmt.Errorf("status %d: %s", answer.StatusCode, body.Error)
	}
	return json.Unmarshal(body.Data, data)
}

// TestPrometheusShowsTheDashboard: a real Prometheus that scrapes a gateway has values
// for every query of the dashboard, can evaluate every alert rule, and raises none.
func TestPrometheusShowsTheDashboard(t *testing.T) {
	t.Parallel()
	prometheusProgram(t, "prometheus")
	s := trafficOfEveryKind(t)
	address := startPrometheus(t, s)
	for _, query := range dashboardExpressions(t) {
		eventually(t, startTimeout, query, func() string {
			var data struct{ Result []json.RawMessage }
			if err := askPrometheus(address, "/api/v1/query?query="+url.QueryEscape(query), &data); err != nil {
				return err.Error()
			}
			if len(data.Result) == 0 {
				return "no values"
			}
			return ""
		})
	}
	eventually(t, startTimeout, "the alert rules", func() string { return rulesProblem(address) })
}

// rulesProblem tells which rule was not evaluated, failed or fires.
func rulesProblem(address string) string {
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, LastError, State string }
		}
	}
	if err := askPrometheus(address, "/api/v1/rules", &data); err != nil {
		return err.Error()
	}
	var problems []string
	rules := 0
	for _, group := range data.Groups {
		for _, rule := range group.Rules {
			rules++
			if rule.Health != "ok" || rule.State == "firing" {
				problems = append(problems, fmt.Sprintf("%s is %s, %s: %s", rule.Name, rule.Health, rule.State, rule.LastError))
			}
		}
	}
	if rules == 0 {
		return "no rules"
	}
	return strings.Join(problems, "; ")
}
