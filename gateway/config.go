package gateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// nodeID is the one broker of the cluster: every gateway looks like a cluster
// of its own that serves every partition and every group.
const nodeID = 1

// TopicAdmin is what Kafka clients may do to topics.
type TopicAdmin string

// The levels of TopicAdmin.
const (
	TopicAdminNone   TopicAdmin = "none"   // clients use the topics that exist
	TopicAdminCreate TopicAdmin = "create" // and create topics
	TopicAdminFull   TopicAdmin = "full"   // and change and delete them
)

func (t TopicAdmin) mayCreate() bool { return t == TopicAdminCreate || t == TopicAdminFull }

// mayAlter is about partitions and configurations. A shorter retention deletes
// records, and a partition can never be taken back.
func (t TopicAdmin) mayAlter() bool { return t == TopicAdminFull }

func (t TopicAdmin) mayDelete() bool { return t == TopicAdminFull }

// refusal answers who wants what only the level needed allows.
func (t TopicAdmin) refusal(code int16, what string, needed TopicAdmin) translate.Failure {
	return translate.Failure{Code: code, Message: fmt.Sprintf(
		"this gateway does not %s: it runs with --topic-admin %s; allow it with --topic-admin %s", what, t, needed)}
}

// Config holds the settings of a Server. The zero value of a field means its
// default; Listeners and ClusterID must be set.
type Config struct {
	Listeners []Listener
	// Insecure allows listeners without authentication beyond loopback.
	Insecure bool
	// ClusterID is the same for every gateway of a project and region.
	ClusterID string

	// AutoCreateTopics lets a Metadata request create the topics that it names.
	AutoCreateTopics bool
	// DefaultPartitions is the partition count of a topic created without one;
	// default 1.
	DefaultPartitions int
	// TopicAdmin is what clients may do to topics; default create.
	TopicAdmin TopicAdmin
	// AcceptCompact accepts cleanup.policy=compact without effect, and
	// retention.ms=-1 as the longest retention that DIS has.
	AcceptCompact bool

	// GroupsOff tells clients that look for a group's coordinator that there are
	// none here.
	GroupsOff bool
	// CheckGroup tells why a group cannot be kept by its name; nil: every name
	// is good.
	CheckGroup func(group string) error

	// IdleTimeout closes a connection on which nothing was asked, and nothing
	// is being answered, for so long. It is the time that a peer may take to
	// accept a reply, too. Default 10 min: clients close theirs after 9.
	IdleTimeout time.Duration
	// DrainReserve is the part of Shutdown's grace period that is kept for
	// finishing what has begun; default 5 s.
	DrainReserve time.Duration

	// Metrics receives the server's metrics; nil keeps them unregistered.
	Metrics prometheus.Registerer
	Logger  zerolog.Logger
}

func (c Config) withDefaults() Config {
	if c.DefaultPartitions == 0 {
		c.DefaultPartitions = 1
	}
	if c.TopicAdmin == "" {
		c.TopicAdmin = TopicAdminCreate
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = 10 * time.Minute
	}
	if c.DrainReserve == 0 {
		c.DrainReserve = 5 * time.Second
	}
	return c
}

// validate names every mistake at once.
func (c Config) validate() error {
	var mistakes []error
	if len(c.Listeners) == 0 {
		mistakes = append(mistakes, errors.New("no listener"))
	}
	for _, l := range c.Listeners {
		mistakes = append(mistakes, l.Refusal(c.Insecure))
	}
	if c.ClusterID == "" {
		mistakes = append(mistakes, errors.New("no cluster id"))
	}
	if c.DefaultPartitions < 1 {
		mistakes = append(mistakes, fmt.Errorf("default partitions %d; allowed: 1 or more", c.DefaultPartitions))
	}
	switch c.TopicAdmin {
	case TopicAdminNone, TopicAdminCreate, TopicAdminFull:
	default:
		mistakes = append(mistakes, fmt.Errorf("topic admin %q; allowed: none, create, full", c.TopicAdmin))
	}
	return errors.Join(mistakes...)
}
