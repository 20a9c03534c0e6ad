package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
)

// commonSettings belong to every command that runs until it is stopped.
type commonSettings struct {
	Config string `placeholder:"FILE" help:"YAML file with settings: keys are the flags' names."`
	logSettings

	places *problems // says where settings come from, once they were checked
}

// blame names the setting that each of the errors in err is about.
func (c commonSettings) blame(setting string, err error) error {
	var all []error
	for _, one := range split(err) {
		all = append(all, fmt.Errorf("%s: %w", c.places.named(setting), one))
	}
	return errors.Join(all...)
}

// gatewaySettings are the settings of the gateway itself. Where the default
// depends on the command it is a variable set in commandLine.
type gatewaySettings struct {
	Listen      []string `default:"localhost:9092" sep:";" placeholder:"ADDR[,advertise=HOST:PORT|auto][,auth=none]" help:"Address for Kafka clients, repeatable (in the environment: separated by ;). localhost is both 127.0.0.1 and ::1. advertise is what clients are told to connect to. Default: localhost:9092."`
	Insecure    bool     `help:"Allow --listen addresses without authentication beyond this machine."`
	AdminListen string   `default:"${admin_listen}" placeholder:"ADDR" help:"Address of the status page, /metrics, /healthz and /readyz; empty: none. Profiles (/debug/pprof) only on loopback. Default: ${admin_listen_text}."`

	AutoCreateTopics  bool   `default:"${auto_create}" negatable:"" help:"Create a topic when a client names one that does not exist. Default: ${auto_create}."`
	DefaultPartitions int    `default:"1" min:"1" placeholder:"N" help:"Partitions of a topic created without a number. Default: 1."`
	TopicAdmin        string `default:"${topic_admin}" choices:"none,create,full" help:"What Kafka clients may do to topics: none, create, or full (also add partitions, alter configurations and delete). Default: ${topic_admin}."`
	AcceptCompact     bool   `help:"Accept topics with cleanup.policy=compact, without effect, and with retention.ms=-1, as a week, instead of refusing them."`

	Groups                string        `default:"memory" choices:"memory,off" help:"Consumer groups: memory, this gateway coordinates those of its clients; off, it refuses them. Default: memory."`
	InitialRebalanceDelay time.Duration `default:"${rebalance_delay}" min:"0s" placeholder:"TIME" help:"How long the first rebalance of a group waits for more members. Default: ${rebalance_delay}."`
	MaxGroupSize          int           `default:"10000" min:"0" placeholder:"N" help:"Most members of one group; 0: no limit. Default: 10000."`
	AddedPartitions       string        `default:"earliest" choices:"earliest,reset" help:"Where a running group begins in partitions that a scale-up adds: earliest, so that no record is skipped, or reset, where auto.offset.reset of its clients says. Default: earliest."`
	DISAppNameMax         int           `name:"dis-app-name-max" default:"200" min:"1" placeholder:"N" help:"Longest name of an app that DIS accepts; a group whose app would need a longer one is refused. Default: 200."`

	ConsumerSessionTimeout    time.Duration `default:"45s" min:"45s" max:"1m" placeholder:"TIME" help:"How long a member of the consumer protocol (group.protocol=consumer) may be silent before its partitions go to others. Default: 45s."`
	ConsumerHeartbeatInterval time.Duration `default:"5s" min:"5s" max:"15s" placeholder:"TIME" help:"How often members of the consumer protocol are told to send a heartbeat. Default: 5s."`

	MaxBatchBytes byteSize `default:"64MiB" min:"1MiB" placeholder:"SIZE" help:"Largest batch of a producer, decompressed. Default: 64MiB."`
	ProduceBuffer byteSize `default:"256MiB" min:"16MiB" placeholder:"SIZE" help:"Memory for records on their way to DIS. Default: 256MiB."`
	Pacing        string   `default:"${pacing}" placeholder:"documented|PERCENT|off" help:"How fast partitions are written and read at most: up to the throughput that DIS documents for one, a part of that such as 50% (of a gateway that shares the stream with another), or off: until DIS throttles. Default: ${pacing_text}."`
	FetchCache    byteSize `default:"256MiB" min:"1MiB" placeholder:"SIZE" help:"Memory for records read from DIS, shared by all consumers. Default: 256MiB."`
	IdlePolls     int      `default:"100" min:"1" placeholder:"N" help:"Most calls a second to DIS that look whether something arrived, over all topics. Default: 100."`

	topicSettings
	recordSettings
	pacing float64 // of --pacing, once checked

	GracePeriod time.Duration `default:"30s" min:"0s" placeholder:"TIME" help:"How long a stop (SIGTERM) may take. Clients are served on until they are gone or 5 s before its end. Default: 30s."`
}

// checkBuffers finds a batch that would never get into the buffer: one half of it is
// for batches as they came, the other for what is in them.
func (s gatewaySettings) checkBuffers(found *problems) {
	if found.given("max-batch-bytes") && s.MaxBatchBytes > s.ProduceBuffer/2 {
		found.setting("max-batch-bytes", fmt.Errorf("more than half of --produce-buffer, %d MiB: lower it, or raise --produce-buffer to %d MiB",
			s.ProduceBuffer>>20, (2*s.MaxBatchBytes+1<<20-1)>>20))
	}
}

// listeners parses --listen, and checks the other addresses beside it.
func (s gatewaySettings) listeners(found *problems, others ...opened) []gateway.Listener {
	var all []gateway.Listener
	var addresses []opened
	if len(s.Listen) == 0 {
		found.setting("listen", fmt.Errorf("at least one address is needed"))
	}
	for _, text := range s.Listen {
		listener, err := gateway.ParseListener(text)
		if err == nil {
			err = listener.Refusal(s.Insecure)
		}
		if err != nil {
			found.setting("listen", err)
			continue
		}
		all, addresses = append(all, listener), append(addresses, opened{"listen", listener.Address()})
	}
	if s.AdminListen != "" {
		others = append(others, opened{"admin-listen", s.AdminListen})
	}
	for _, other := range others {
		if err := validAddress(other.address); err != nil {
			found.setting(other.setting, err)
			continue
		}
		addresses = append(addresses, other)
	}
	found.clashes(addresses)
	return all
}
