package main

import (
	"fmt"
	"sync"
	"time"
)

// history is what a run saw from outside: everything that the verifier needs.
type history struct {
	Schedule schedule
	Sent     map[recordID]*sent
	Sessions []*session
	Commits  []commit
	Views    []view
	Lives    []life
	// Counts are the gateway's metrics, summed over its processes.
	Counts map[string]int64
	// Stored is what DIS holds in the end, by partition in the order of offsets,
	// and Ends the next offset of each.
	Stored map[int32][]stored
	Ends   map[int32]int64
	// Complaints are what was wrong at once, such as an error that a client should
	// not have got.
	Complaints []string
	// Notes are for people: faults, events and what a client was told besides.
	Notes []note
}

// sent is a record that a producer handed to its client.
type sent struct {
	ID     recordID
	Digest uint64
	At     time.Time
	Done   time.Time // of the acknowledgement; zero when there was none
	Offset int64     // as told, -1 for unknown
	// Refused is when the client gave the record up, and Refusal why.
	Refused time.Time
	Refusal string
}

func (s *sent) acknowledged() bool { return !s.Done.IsZero() }

// stored is a record that was read: from DIS, or by a consumer.
type stored struct {
	Offset int64
	ID     recordID
	Digest uint64
}

// session is what one consumer read from a partition without an interruption
// that it was told of: for an assigned consumer from the start of the partition
// to the end of the run, for a member of a group while it owned the partition.
type session struct {
	Consumer  string
	Group     string
	Partition int32
	Began     time.Time
	Records   []stored
	At        []time.Time // of the records
}

// commit is an offset that a group member committed with success.
type commit struct {
	Group     string
	Partition int32
	Offset    int64
	Done      time.Time
}

// view is one look at the ends of a partition, by Fetch or ListOffsets.
type view struct {
	Partition int32
	Asked     time.Time
	Answered  time.Time
	Offset    int64 // that was fetched from; -1 of ListOffsets
	Code      int16
	High      int64
}

// life is one gateway process.
type life struct {
	Began    time.Time // it takes connections
	Stopping time.Time // it was told to stop, or killed; zero for the last one
	Ended    time.Time
}

// note is an event that only people ask for.
type note struct {
	At   time.Time
	Who  string // the client, "" for none
	Text string
}

// recorder collects a history while the run goes on.
type recorder struct {
	mu sync.Mutex
	h  history
}

func newRecorder(s schedule) *recorder {
	return &recorder{h: history{
		Schedule: s, Sent: make(map[recordID]*sent), Counts: make(map[string]int64),
		Stored: make(map[int32][]stored), Ends: make(map[int32]int64),
	}}
}

func (r *recorder) sending(id recordID, c *content) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Sent[id] = &sent{ID: id, Digest: c.digest(), At: time.Now(), Offset: -1}
}

func (r *recorder) acknowledged(id recordID, offset int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Sent[id].Done, r.h.Sent[id].Offset = time.Now(), offset
}

func (r *recorder) refused(id recordID, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.h.Sent[id]
	s.Refused, s.Refusal = time.Now(), err.Error()
}

func (r *recorder) complain(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.note("", "complaint: %s", text)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Complaints = append(r.h.Complaints, text)
}

// note keeps what the verifier does not ask for, of a client or, with "", of the
// run.
func (r *recorder) note(who, format string, args ...any) {
	n := note{time.Now(), who, fmt.Sprintf(format, args...)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Notes = append(r.h.Notes, n)
}

func (r *recorder) begin(consumer, group string, partition int32) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &session{Consumer: consumer, Group: group, Partition: partition, Began: time.Now()}
	r.h.Sessions = append(r.h.Sessions, s)
	return s
}

func (r *recorder) read(s *session, offset int64, c content) {
	record, err := newStored(offset, &c)
	if err != nil {
		r.complain("consumer %s, partition %d, offset %d: %v", s.Consumer, s.Partition, offset, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Records, s.At = append(s.Records, record), append(s.At, time.Now())
}

func newStored(offset int64, c *content) (stored, error) {
	id, err := identify(c)
	return stored{Offset: offset, ID: id, Digest: c.digest()}, err
}

func (r *recorder) committed(c commit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Commits = append(r.h.Commits, c)
}

func (r *recorder) looked(v view) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Views = append(r.h.Views, v)
}

func (r *recorder) lives(change func([]life) []life) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.h.Lives = change(r.h.Lives)
}

func (r *recorder) count(counts map[string]int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, value := range counts {
		r.h.Counts[name] += value
	}
}

// lastRead says how far the consumers of a group, or one assigned consumer,
// have read a partition: the offset after the last one, 0 before the first.
func (r *recorder) lastRead(consumer, group string, partition int32) (next int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.h.Sessions {
		same := s.Consumer == consumer
		if group != "" {
			same = s.Group == group
		}
		if n := len(s.Records); same && s.Partition == partition && n > 0 {
			next = max(next, s.Records[n-1].Offset+1)
		}
	}
	return next
}
