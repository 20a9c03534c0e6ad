package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/cmd/kafka-dis-gateway/adminpage"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/harmless"
)

// The metrics of a running gateway that are read.
const (
	metricBuild   = "kdg_build_info"
	metricForeign = "kdg_foreign_commits_total"
	metricLag     = "kdg_group_lag_records"
)

// MetricsRead are the names of the metrics that a running gateway is asked for.
var MetricsRead = []string{metricBuild, metricForeign, metricLag}

// gatewayPage is what a running gateway says of itself.
type gatewayPage struct {
	version  string
	foreign  float64         // committed offsets that somebody else has changed
	groups   map[string]bool // whose offsets it keeps
	notReady string          // the reason; "" when it is ready
}

// errNoGateway is an admin address at which nobody listens.
var errNoGateway = errors.New("no gateway answers")

// longestPage is how much of an answer is read, in bytes: metrics of some 100,000
// partitions of groups.
const longestPage = 64 << 20

// readGateway asks the admin address.
func readGateway(ctx context.Context, address string) (*gatewayPage, error) {
	status, text, err := adminpage.Get(ctx, address, "/metrics", longestPage)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errNoGateway
	}
	if err != nil {
		return nil, err
	}
	page := readMetrics(text)
	if status != http.StatusOK || page.version == "" {
		return nil, fmt.Errorf("something else than a gateway answers (HTTP %d)", status)
	}
	status, text, err = adminpage.Get(ctx, address, "/readyz", longestPage)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		page.notReady = harmless.OneLine(text)
	}
	return page, nil
}

// sampleLine is a line of Prometheus' text format, and labelPair a label in it.
var (
	sampleLine = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)`)
	labelPair  = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

func readMetrics(text string) *gatewayPage {
	page := &gatewayPage{groups: map[string]bool{}}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		parts := sampleLine.FindStringSubmatch(lines.Text())
		if parts == nil {
			continue
		}
		switch parts[1] {
		case metricBuild:
			page.version = label(parts[2], "version")
		case metricLag:
			page.groups[label(parts[2], "group")] = true
		case metricForeign:
			if value, err := strconv.ParseFloat(parts[3], 64); err == nil {
				page.foreign += value
			}
		}
	}
	return page
}

func label(labels, name string) string {
	for _, pair := range labelPair.FindAllStringSubmatch(labels, -1) {
		if pair[1] == name {
			return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(pair[2])
		}
	}
	return ""
}

// lookGateway asks whether a gateway runs here already, which explains addresses in
// use and knows of commits by others.
func lookGateway(ctx context.Context, e *examination) []Result {
	if e.cfg.Admin == "" {
		return leftOut("there is no --admin-listen to ask a running gateway at")
	}
	page, err := readGateway(ctx, e.cfg.Admin)
	switch {
	case errors.Is(err, errNoGateway):
		return good("none runs at %s", e.cfg.Admin)
	case err != nil:
		return bad("give another --admin-listen, or stop the program that has the address", "%s: %v", e.cfg.Admin, err)
	}
	e.gateway.Store(page)
	if page.notReady != "" {
		return doubtful("as the failed checks here say", "version %s runs at %s and is not ready: %s", page.version, e.cfg.Admin, page.notReady)
	}
	return good("version %s runs at %s and is ready", page.version, e.cfg.Admin)
}
