package status

import "time"

// Snapshot is the state of the gateway at one moment, and the JSON of
// /status.json. Fields are added but neither renamed nor removed.
type Snapshot struct {
	// At is the time of the snapshot.
	At time.Time `json:"at"`
	// Version and Commit name the running build.
	Version string `json:"version"`
	Commit  string `json:"commit"`
	// Started is when the process began, UptimeSeconds how long ago.
	Started       time.Time `json:"started"`
	UptimeSeconds int64     `json:"uptime_seconds"`
	// Ready is what /readyz answers; NotReady is why not, empty when ready.
	Ready    bool   `json:"ready"`
	NotReady string `json:"not_ready,omitempty"`
	// Degraded says what DIS refuses of a gateway that is ready, one sentence each.
	Degraded []string `json:"degraded"`
	// Listeners are the addresses that are open for Kafka clients.
	Listeners []Listener `json:"listeners"`
	// Clients are the open connections that asked for something last, by number.
	Clients List[Client] `json:"clients"`
	// Topics are the busiest of those that the gateway knows of, by name.
	Topics List[Topic] `json:"topics"`
	// Groups are the consumer groups that are in use or whose committed offsets
	// passed by, those furthest behind first, then by name.
	Groups List[Group] `json:"groups"`
	// Errors are what DIS refused or did not answer, the latest first. Equal ones
	// are one entry.
	Errors List[Error] `json:"dis_errors"`
}

// List is the first maxShown of so many.
type List[T any] struct {
	Total   int `json:"total"`
	LeftOut int `json:"left_out"`
	Items   []T `json:"items"`
}

// listOf takes the beginning of a list; total counts what it is the beginning of.
func listOf[T any](items []T, total int) List[T] {
	shown := items[:min(len(items), maxShown)]
	if shown == nil {
		shown = []T{} // not null
	}
	return List[T]{Total: total, LeftOut: total - len(shown), Items: shown}
}

// maxShown is the most entries of each list.
const maxShown = 100

// Listener is an address for Kafka clients.
type Listener struct {
	Address string `json:"address"`
	// Advertised is where clients are told to connect, empty for the local address
	// of each connection.
	Advertised string `json:"advertised,omitempty"`
	Auth       string `json:"auth"`
}

// Client is an open connection. ClientID, Software and Version are the client's own
// words.
type Client struct {
	// Connection is the number under which log lines name it.
	Connection int64     `json:"connection"`
	Address    string    `json:"address"`
	ClientID   string    `json:"client_id"`
	Software   string    `json:"software"`
	Version    string    `json:"software_version"`
	Since      time.Time `json:"since"`
	Requests   int64     `json:"requests"`
	// LastAPI is the name of the last request's API, empty before the first.
	LastAPI string    `json:"last_api"`
	LastAt  time.Time `json:"last_at"`
}

// Topic is what a topic carries through this gateway. The rates are of the last
// rateWindow, and 0 until they are known.
type Topic struct {
	Name       string `json:"name"`
	Partitions int    `json:"partitions"`
	// In is what DIS acknowledged of what producers wrote, Out what consumers got.
	In  Rate `json:"in"`
	Out Rate `json:"out"`
}

// Rate is per second.
type Rate struct {
	Records float64 `json:"records_per_second"`
	Bytes   float64 `json:"bytes_per_second"`
}

// Group is a consumer group.
type Group struct {
	Name string `json:"name"`
	// State is Kafka's name of it. A group that is known by its offsets alone is
	// Empty.
	State string `json:"state"`
	// Type is classic or consumer (KIP-848), empty where it is not known.
	Type    string `json:"type"`
	Members int    `json:"members"`
	// Lag is null until a committed offset of the group and the end of its
	// partition were both seen.
	Lag *Lag `json:"lag"`
}

// Lag counts the records that a group has not committed, as far as this gateway
// knows: the end that it saw last less the offset that it stored or read last.
type Lag struct {
	Records int64 `json:"records"`
	// Partitions are those that have a committed offset, Unknown those of them
	// whose end was not seen, which Records leaves out.
	Partitions int `json:"partitions"`
	Unknown    int `json:"unknown_partitions"`
	// The partition that is furthest behind.
	WorstTopic     string `json:"worst_topic"`
	WorstPartition int32  `json:"worst_partition"`
	WorstRecords   int64  `json:"worst_records"`
}

// Error is what DIS refused or did not answer, once or several times alike.
type Error struct {
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	Count int64     `json:"count"`
	// Operation is the call, such as PutRecords.
	Operation string `json:"operation"`
	// Stream is the one that was named, empty where none was.
	Stream string `json:"stream"`
	// HTTPStatus is 0 where no answer came, and 200 where DIS refused single
	// records.
	HTTPStatus int `json:"http_status"`
	// Code is DIS's, such as DIS.4303, empty where the answer had none.
	Code    string `json:"code"`
	Message string `json:"message"`
	// RequestID is DIS's id of the last of the requests.
	RequestID string `json:"dis_request_id"`
}
