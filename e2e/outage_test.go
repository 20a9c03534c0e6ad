package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestOutageOfDIS: while DIS is away the gateway is not ready and says so, once; its
// producer waits; when DIS is back all goes on. Neither writers nor readers of many
// partitions add a line for each.
func TestOutageOfDIS(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dis, endpoint := startDIS(t, nil, "--data-dir", data)
	gateway := startServeAt(t, endpoint, dis, "--topic-admin", "create")
	gateway.waitReady(t)
	const partitions = 20
	createTopic(t, gateway.kafka, "t", partitions)
	client := newFranz(t, gateway.kafka, kgo.DefaultProduceTopic("t"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	produceAll := func() (all []*kgo.Record) {
		for p := range int32(partitions) {
			all = append(all, &kgo.Record{Partition: p, Value: []byte("x")})
		}
		return all
	}
	if err := client.ProduceSync(ctx, produceAll()...).FirstErr(); err != nil {
		t.Fatal(err)
	}

	reader := newFranz(t, gateway.kafka, kgo.ConsumeTopics("t"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	for read := 0; read < partitions && ctx.Err() == nil; {
		read += len(reader.PollFetches(ctx).Records())
	}

	dis.kill()
	answers := make(chan error, 1)
	go func() { answers <- client.ProduceSync(ctx, produceAll()...).FirstErr() }()
	eventually(t, startTimeout, "/readyz", func() string {
		if status, reason := gateway.ask(t, "/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(reason, "DIS does not answer") {
			return reason
		}
		return ""
	})
	wantOnPage(t, gateway, "kdg_ready 0", "kdg_dis_up 0", "kdg_dis_outages_total 1")
	startDIS(t, nil, "--data-dir", data, "--listen", strings.TrimPrefix(endpoint, "http://"))
	gateway.waitReady(t)
	wantOnPage(t, gateway, "kdg_ready 1", "kdg_dis_up 1", "kdg_dis_outages_total 1")
	if err := <-answers; err != nil {
		t.Errorf("producing through the outage: %v", errors.Join(err, ctx.Err()))
	}
	outages, ends, others := 0, 0, []string{}
	for _, line := range splitLines(gateway.stderr.String()) {
		switch {
		case strings.Contains(line, "DIS does not answer; the gateway serves on"):
			outages++
		case strings.Contains(line, "DIS answers, the gateway is ready"):
			ends++
		case strings.Contains(line, `"level":"warn"`):
			others = append(others, line)
		}
	}
	if outages != 1 || ends != 1 || len(others) > 2 { // one tells of writes whose outcome is unknown, one of reads
		t.Errorf("%d begins, %d ends, and beside them %q", outages, ends, others)
	}
}
