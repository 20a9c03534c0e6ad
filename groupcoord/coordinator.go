package groupcoord

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Client tells who sent a request: client.id and the remote address, both for
// DescribeGroups; the id is also the first part of generated member ids.
type Client struct {
	ID, Host string
	// Request is what log lines call the request.
	Request Request
}

// Coordinator serves the classic group protocol of Kafka.
//
// There is one method per API. Each queues the request at once, so that calls
// made one after the other are handled in that order, and calls reply exactly
// once: perhaps before the method has returned, perhaps minutes later, and also
// when ctx (that of the connection) has ended meanwhile; the answer is then for
// nobody, but the member stays in the group until its timeout, as in Kafka.
// reply must not block. A request belongs to the coordinator until its reply.
type Coordinator struct {
	cfg     Config
	offsets OffsetStore
	store   Store
	owners  Owners

	// ctx bounds all calls of the stores; it ends when Close gives up.
	ctx     context.Context
	cancel  context.CancelFunc
	closing chan struct{}
	wg      sync.WaitGroup

	matching chan struct{} // holds one token while heavy patterns are matched

	crowded shortage     // of room for groups
	refused atomic.Int64 // requests because of that
	// rebalances counts the generations of all groups.
	rebalances atomic.Int64

	mu     sync.Mutex
	closed bool
	actors map[string]*actor
}

// New makes a coordinator. It needs no start; end it with Close.
func New(cfg Config, offsets OffsetStore, store Store, owners Owners) *Coordinator {
	ctx, cancel := context.WithCancel(context.Background())
	return &Coordinator{
		cfg:      cfg.withDefaults(),
		offsets:  offsets,
		store:    store,
		owners:   owners,
		ctx:      ctx,
		cancel:   cancel,
		closing:  make(chan struct{}),
		matching: make(chan struct{}, 1),
		actors:   make(map[string]*actor),
	}
}

// Close answers waiting joins and syncs, and all requests from now on, with
// NOT_COORDINATOR, finishes the commits it has accepted, and returns when
// nothing runs any more. When ctx ends first, running calls of the stores are
// cancelled; the error says so.
func (c *Coordinator) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.closing)
	}
	c.mu.Unlock()
	defer c.crowded.forget()
	defer c.cfg.room.short.forget()

	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		c.cancel()
		return nil
	case <-ctx.Done():
		c.cancel()
		<-done
		return fmt.Errorf("close group coordinator, unfinished calls cancelled: %w", ctx.Err())
	}
}

// submit queues a request for its group.
func (c *Coordinator) submit(group string, r request) {
	if code := c.admit(group, r); code != 0 {
		r.refuse(code)
		return
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		r.refuse(codeNotCoordinator)
		return
	}
	a := c.actors[group]
	if a == nil && len(c.actors) >= c.cfg.MaxGroups {
		c.mu.Unlock()
		c.refused.Add(1)
		c.noteCrowded()
		r.refuse(codeNotAvailable)
		return
	}
	if a == nil {
		a = newActor(c, group)
		c.actors[group] = a
		c.wg.Go(a.run)
	}
	a.push(queued{at: time.Now(), event: r})
	c.mu.Unlock()
}

func (c *Coordinator) noteCrowded() {
	c.crowded.note(func() {
		c.cfg.Logger.Warn().Int("groups", c.cfg.MaxGroups).Msg("too many groups in memory: requests for further ones are refused; the end of that is logged, not each")
	}, func(refused int, after time.Duration) {
		c.cfg.Logger.Info().Int("refused", refused).Str("after", after.Round(time.Second).String()).Msg("there is room for further groups again")
	})
}

// admit decides by name alone whether a request is looked at.
func (c *Coordinator) admit(group string, r request) int16 {
	switch {
	case c.cfg.Off:
		return codeNotAuthorized
	case group == "" && !mayBeNameless(r):
		return codeInvalidGroupID
	case c.cfg.CheckGroup == nil:
		return 0
	}
	if err := c.cfg.CheckGroup(group); err != nil {
		c.cfg.Logger.Debug().Err(err).Msg("group refused by its name")
		return codeInvalidGroupID
	}
	return 0
}

// mayBeNameless says whether a request may name the group "". It has no members,
// but it has offsets, as in Kafka: a Java consumer of before 2.2 without a
// group.id reads and commits those.
func mayBeNameless(r request) bool {
	switch r.(type) {
	case *commitEvent, *fetchEvent, *describeEvent, *deleteEvent:
		return true
	default:
		return false
	}
}

// background runs f beside the groups unless the coordinator is closed.
func (c *Coordinator) background(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Go(f)
	return true
}

// retire takes a out of the map unless something was queued for it meanwhile.
func (c *Coordinator) retire(a *actor) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(a.queue) > 0 {
		return false
	}
	delete(c.actors, a.name)
	return true
}

// maxMemberPrefix is how much of a client or instance id becomes part of a
// member id. The rest would only cost memory.
const maxMemberPrefix = 64

// newMemberID makes the id of a new member: the instance id of a static one,
// the client id of others, and a UUID.
func newMemberID(client Client, instance *string) string {
	prefix := client.ID
	if instance != nil {
		prefix = *instance
	}
	return strings.ToValidUTF8(prefix[:min(len(prefix), maxMemberPrefix)], "") + "-" + uuid.NewString()
}
