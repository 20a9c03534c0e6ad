package gateway

import (
	"cmp"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// maxSoftwareNames bounds the series by client software: any client can call
	// itself anything.
	maxSoftwareNames = 32
	maxSoftwareName  = 64

	unknownSoftware = "unknown"
	otherSoftware   = "other"
)

// noteSoftware remembers what the client at the other end calls itself.
func (c *conn) noteSoftware(name, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.software, c.seen.version = softwareName(name), softwareName(version)
}

// softwareName is a name or version as KIP-511 allows it: letters, digits, '-' and
// '.', the last two not at an end; empty for none, otherSoftware for any other text.
// Spaces are let through inside too, since clients have names with them.
func softwareName(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > maxSoftwareName || !isAlphanumeric(text[0]) || !isAlphanumeric(text[len(text)-1]) {
		return otherSoftware
	}
	for i := range len(text) {
		if b := text[i]; !isAlphanumeric(b) && b != '-' && b != '.' && b != ' ' {
			return otherSoftware
		}
	}
	return text
}

func isAlphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// softwareCollector counts the open connections of a server by client software,
// when it is asked.
type softwareCollector struct {
	server *Server
	desc   *prometheus.Desc
}

func newSoftwareCollector(s *Server) softwareCollector {
	return softwareCollector{s, metricSoftware.Desc()}
}

// Describe implements prometheus.Collector.
func (c softwareCollector) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect implements prometheus.Collector.
func (c softwareCollector) Collect(to chan<- prometheus.Metric) {
	for name, connections := range mostUsed(c.server.connectionsBySoftware(), maxSoftwareNames) {
		to <- metricSoftware.Value(c.desc, float64(connections), name)
	}
}

func (s *Server) connectionsBySoftware() map[string]int {
	counts := map[string]int{}
	for _, c := range s.connections() {
		c.mu.Lock()
		counts[cmp.Or(c.seen.software, unknownSoftware)]++
		c.mu.Unlock()
	}
	return counts
}

// mostUsed keeps the names with the highest counts, and the two that are none. The
// counts of all others go to otherSoftware.
func mostUsed(counts map[string]int, most int) map[string]int {
	kept := map[string]int{}
	var names []string
	for name, n := range counts {
		if name == unknownSoftware || name == otherSoftware {
			kept[name] = n
			continue
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		if i >= most {
			kept[otherSoftware] += counts[name]
			continue
		}
		kept[name] = counts[name]
	}
	return kept
}
