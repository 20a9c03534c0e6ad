package doctor

import (
	"sync/atomic"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// Config says what to examine: the settings of a gateway, and how far to go.
type Config struct {
	// Mistakes are what is wrong with the settings themselves, one each; any ends
	// the examination.
	Mistakes []error

	// DIS is the service as the gateway would call it, without keys and tokens.
	DIS dis.Config
	// EndpointSetting is the setting that decides the address of DIS, as a user
	// would name it.
	EndpointSetting string
	// Identity opens the source of keys or tokens and adds it to the client's
	// configuration, IdentitySource describes it without secrets.
	Identity       func(*dis.Config) error
	IdentitySource string

	// Kafka are the addresses for Kafka clients, Admin that of the admin pages,
	// empty for none.
	Kafka []string
	Admin string
	// MemoryNeeded is what the gateway uses with full buffers, in bytes;
	// MemoryAvailable gives what this process may use, 0 for no limit.
	MemoryNeeded    int64
	MemoryAvailable func() (int64, error)

	// GroupsOff leaves out what only consumer groups need, AppName gives the DIS app
	// of a group.
	GroupsOff bool
	AppName   func(group string) (string, error)
	// TopicAdmin is what clients may do to topics: none, create or full.
	TopicAdmin string

	// Topics are to be there; none named: all streams are looked at.
	Topics []string
	// Names are the aliases and what the settings hide; nil: every stream is the topic
	// of its name.
	Names *translate.Names
	// Groups are those whose checkpoints are watched; none named: all apps.
	Groups []string
	// Watch is how long checkpoints are watched; 0: not at all.
	Watch time.Duration
	// WriteTest is a stream into which one record may be written, and with whose
	// numbers an app may be made, committed to and deleted; empty: nothing is changed.
	WriteTest string

	// Limit is how long one check may take.
	Limit time.Duration

	// openFiles gives the number of files and sockets that the process may have open.
	openFiles func() (uint64, error)
}

// examination is what the checks of one run have found out.
type examination struct {
	cfg    Config
	client *dis.Client // after the check of the identity's source
	access dis.Config  // with identity
	probes map[string]*probe

	streams  []translate.Alias           // the topics, after ListStreams
	trial    string                      // a stream that reads are tried on; "" when there is none
	cursor   string                      // at its oldest record
	gateway  atomic.Pointer[gatewayPage] // nil: none runs here
	app      ownApp
	shutDown []func()
}

func newExamination(cfg Config) *examination {
	if cfg.Names == nil {
		cfg.Names = new(translate.Names)
	}
	if cfg.openFiles == nil {
		cfg.openFiles = openFilesLimit
	}
	return &examination{cfg: cfg, probes: map[string]*probe{}}
}

func (e *examination) close() {
	for _, end := range e.shutDown {
		end()
	}
}

// parallel is how many calls of one check are made at a time, as when the gateway
// looks at its streams.
const parallel = 8
