package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func softwareVersions(name string) *kmsg.ApiVersionsRequest {
	req := apiVersions(3)
	req.ClientSoftwareName, req.ClientSoftwareVersion = name, "1.0"
	return req
}

// softwareSeries are the connections by software that a registry shows.
func softwareSeries(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	series := map[string]float64{}
	for name, value := range gathered(t, registry) {
		if software, found := strings.CutPrefix(name, "kdg_client_connections software="); found {
			series[software] = value
		}
	}
	return series
}

func TestConnectionsAreCountedBySoftware(t *testing.T) {
	registry := prometheus.NewRegistry()
	b := newBench(t, func(c *Config) { c.Metrics = registry })
	address := b.listen()
	for _, name := range []string{"apache-kafka-java", "apache-kafka-java", "librdkafka", "confluent kafka go", "\xff\n{}\"", strings.Repeat("x", 65), ""} {
		dial(t, address).ask(softwareVersions(name))
	}
	silent := dial(t, address)
	silent.ask(metadataFor(9, "t"))
	want := map[string]float64{
		"apache-kafka-java": 2, "librdkafka": 1, "confluent kafka go": 1, otherSoftware: 2, unknownSoftware: 2,
	}
	if diff := cmp.Diff(want, softwareSeries(t, registry)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A client that makes names up must not make series, nor take those of the clients
// that are in use.
func TestMadeUpSoftwareMakesNoSeries(t *testing.T) {
	counts := map[string]int{"librdkafka": 3, unknownSoftware: 1}
	for i := range 1000 {
		counts[fmt.Sprintf("made-up-%d", i)] = 1
	}
	kept := mostUsed(counts, maxSoftwareNames)
	if len(kept) != maxSoftwareNames+2 || kept["librdkafka"] != 3 || kept[unknownSoftware] != 1 {
		t.Errorf("%d series: %v", len(kept), kept)
	}
	total := 0
	for _, n := range kept {
		total += n
	}
	if total != 1004 {
		t.Errorf("%d connections are counted, want 1004", total)
	}
}
