package groupcoord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// fakeOffsets is an OffsetStore in memory whose calls can be held and failed.
type fakeOffsets struct {
	mu      sync.Mutex
	stored  map[string]map[TopicPartition]CommittedOffset
	commits [][]OffsetCommit // calls, in the order of their start
	// requests are those for which each of the calls was made.
	requests []string
	fetches  int
	refuse   map[TopicPartition]int16 // codes of Commit
	unread   map[TopicPartition]int16 // codes of Fetch
	down     bool                     // FetchAll and Groups fail
	gate     chan struct{}            // not nil: Commit takes one token before it stores
	delay    time.Duration            // of Fetch and FetchAll
}

// fakeOldest is where every partition of a fakeOffsets begins.
const fakeOldest = 3

func newFakeOffsets() *fakeOffsets {
	return &fakeOffsets{
		stored: make(map[string]map[TopicPartition]CommittedOffset),
		refuse: make(map[TopicPartition]int16),
		unread: make(map[TopicPartition]int16),
	}
}

func (f *fakeOffsets) Commit(ctx context.Context, group string, offsets []OffsetCommit) []CommittedOffset {
	f.mu.Lock()
	f.commits = append(f.commits, slices.Clone(offsets))
	f.requests = append(f.requests, fmt.Sprint(Requests(ctx)))
	gate := f.gate
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return failed(offsets, codeLoading, ctx.Err().Error())
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	results := make([]CommittedOffset, len(offsets))
	for i, o := range offsets {
		results[i] = CommittedOffset{TopicPartition: o.TopicPartition, Offset: o.Offset, Metadata: o.Metadata, Code: f.refuse[o.TopicPartition]}
		switch {
		case results[i].Code != 0:
		case o.Offset < 0:
			delete(f.stored[group], o.TopicPartition)
		default:
			f.put(group, results[i])
		}
	}
	return results
}

// put stores an offset behind the coordinator's back; f.mu is held.
func (f *fakeOffsets) put(group string, o CommittedOffset) {
	if f.stored[group] == nil {
		f.stored[group] = make(map[TopicPartition]CommittedOffset)
	}
	f.stored[group][o.TopicPartition] = o
}

func (f *fakeOffsets) set(group string, tp TopicPartition, offset int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put(group, CommittedOffset{TopicPartition: tp, Offset: offset})
}

func (f *fakeOffsets) wait(ctx context.Context) {
	f.mu.Lock()
	f.fetches++
	delay := f.delay
	f.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
	}
}

func (f *fakeOffsets) Fetch(ctx context.Context, group string, partitions []TopicPartition) []CommittedOffset {
	f.wait(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	results := make([]CommittedOffset, len(partitions))
	for i, tp := range partitions {
		o, ok := f.stored[group][tp]
		if !ok {
			o = CommittedOffset{TopicPartition: tp, Offset: -1}
		}
		if code := f.unread[tp]; code != 0 {
			o = CommittedOffset{TopicPartition: tp, Offset: -1, Code: code}
		}
		results[i] = o
	}
	return results
}

func (f *fakeOffsets) Oldest(ctx context.Context, partitions []TopicPartition) []CommittedOffset {
	f.wait(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	results := make([]CommittedOffset, len(partitions))
	for i, tp := range partitions {
		results[i] = CommittedOffset{TopicPartition: tp, Offset: fakeOldest}
		if f.down {
			results[i] = CommittedOffset{TopicPartition: tp, Offset: -1, Code: codeLoading}
		}
	}
	return results
}

func (f *fakeOffsets) FetchAll(ctx context.Context, group string) ([]CommittedOffset, error) {
	f.wait(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, errors.New("offset store is down")
	}
	return slices.Collect(maps.Values(f.stored[group])), nil
}

func (f *fakeOffsets) Groups(ctx context.Context) ([]string, error) {
	f.wait(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, errors.New("offset store is down")
	}
	return slices.Collect(maps.Keys(f.stored)), nil
}

func (f *fakeOffsets) Exists(ctx context.Context, group string) (bool, error) {
	f.wait(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return false, errors.New("offset store is down")
	}
	return f.stored[group] != nil, nil
}

func (f *fakeOffsets) Delete(ctx context.Context, group string) (int16, string) {
	f.wait(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.down:
		return codeLoading, "offset store is down"
	case f.stored[group] == nil:
		return codeGroupIDNotFound, ""
	}
	delete(f.stored, group)
	return 0, ""
}

// calls is what was committed so far.
func (f *fakeOffsets) calls() [][]OffsetCommit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.commits)
}

func (f *fakeOffsets) reads() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetches
}

// fakeStore is a Store that can be slow and fail.
type fakeStore struct {
	MemoryStore
	mu                   sync.Mutex
	loadDelay, saveDelay time.Duration
	loadErr, saveErr     error
	saves                int
}

func (s *fakeStore) Load(ctx context.Context, group string) ([]byte, error) {
	s.mu.Lock()
	delay, err := s.loadDelay, s.loadErr
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return s.MemoryStore.Load(ctx, group)
}

func (s *fakeStore) Save(ctx context.Context, group string, snapshot []byte, token int64) error {
	s.mu.Lock()
	s.saves++
	delay, err := s.saveDelay, s.saveErr
	s.mu.Unlock()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return s.MemoryStore.Save(ctx, group, snapshot, token)
}

// fakeOwners gives leases that tests can end.
type fakeOwners struct {
	mu       sync.Mutex
	token    int64
	owner    string
	err      error
	lost     chan struct{}
	deadline time.Time
	released int
}

func (o *fakeOwners) Acquire(context.Context, string) (Lease, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return Lease{}, o.err
	}
	o.token++
	o.lost = make(chan struct{})
	return Lease{
		Owner: o.owner,
		Token: o.token,
		Lost:  o.lost,
		Deadline: func() time.Time {
			o.mu.Lock()
			defer o.mu.Unlock()
			return o.deadline
		},
		Release: func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.released++
		},
	}, nil
}

// moveTo gives the groups to another gateway.
func (o *fakeOwners) moveTo(owner string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.owner = owner
	close(o.lost)
}
