package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/cmd/kafka-dis-gateway/doctor"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/health"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/status"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/fetch"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/produce"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// parts are the gateway and what stands behind it.
type parts struct {
	client  *dis.Client
	catalog *topics.Catalog
	server  *gateway.Server
	metrics *prometheus.Registry
	// traffic is what was written to and read from each topic.
	traffic *gateway.Traffic
	health  *health.Health
	status  *status.Status
	logger  zerolog.Logger
}

// compose builds the parts and connects them. Nothing is opened or called yet;
// the error is about the settings.
func compose(s gatewaySettings, listeners []gateway.Listener, backend dis.Config, logger zerolog.Logger) (*parts, error) {
	p := &parts{metrics: newMetrics(), logger: logger}
	p.health = health.New(health.Config{
		Ask: p.askDIS, Draining: func() bool { return p.server.Draining() }, Explain: doctor.Explain, Logger: logger,
	})
	var failures status.Errors
	backend.Logger = logger
	measure := observeCalls(p.metrics)
	backend.Observe = func(call dis.Call) {
		measure(call)
		p.health.Observe(call)
		failures.Observe(call)
	}
	var err error
	if p.client, err = dis.New(backend); err != nil {
		return nil, usageError{err}
	}
	p.catalog = topics.New(topics.Config{ProjectID: backend.ProjectID, Names: s.names, Records: s.policy, Logger: logger}, p.client)
	p.traffic = gateway.NewTraffic(p.catalog.Exists)
	reader := fetch.New(fetch.Config{
		CacheBytes: int64(s.FetchCache), IdlePolls: float64(s.IdlePolls), Pacing: s.pacing,
		Codec: s.codec(), Logger: logger,
		OnRecreated: p.outdated,
		OnServed:    p.traffic.Fetched,
	}, p.client)
	writer := produce.New(produce.Config{
		MaxBatchBytes: int(s.MaxBatchBytes), BufferBytes: int64(s.ProduceBuffer), Pacing: s.pacing,
		OnStored: reader.Advance, OnOutdated: p.outdated, OnCounted: p.traffic.Stored, Logger: logger,
	}, p.client)
	checkpoints := offsets.New(offsets.Config{MaxAppName: s.DISAppNameMax, Names: s.names, Logger: logger}, p.client, p.catalog)
	counts := &engineMetrics{produce: writer, fetch: reader, offsets: checkpoints, catalog: p.catalog}
	lag := gateway.NewLag(reader.HighWatermark)
	groups := s.coordinator(gateway.NewOffsetStore(checkpoints, lag), gateway.NewGroupTopics(p.catalog), counts.foreignChange, logger)

	p.server, err = gateway.New(gateway.Config{
		Listeners: listeners, Insecure: s.Insecure,
		ClusterID:        topics.ClusterID(backend.ProjectID, backend.Region),
		AutoCreateTopics: s.AutoCreateTopics, DefaultPartitions: s.DefaultPartitions,
		TopicAdmin: gateway.TopicAdmin(s.TopicAdmin), AcceptCompact: s.AcceptCompact,
		GroupsOff: s.Groups == "off", CheckGroup: s.checkGroup,
		Metrics: p.metrics, Logger: logger,
	}, gateway.Parts{Catalog: p.catalog, Produce: writer, Fetch: reader, Groups: groups})
	if err != nil {
		p.close()
		return nil, usageError{err}
	}
	p.status = status.New(status.Config{
		Version: currentBuild().version, Commit: currentBuild().commit,
		NotReady: p.health.NotReady, Degraded: p.health.Degraded,
		Server: p.server, Topics: p.catalog, Groups: groups, Lag: lag, Traffic: p.traffic, Errors: &failures,
	})
	counts.groups, counts.health = groups, p.health
	counts.describe()
	p.metrics.MustRegister(counts, lag, p.traffic)
	return p, nil
}

// outdated has the next lookup of a topic ask DIS, since an engine found that it changed.
func (p *parts) outdated(topic *translate.Topic) { p.catalog.Invalidate(topic.Name) }
