package produce

import (
	"fmt"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// load is a client that keeps a number of batches on their way, in order. While
// some are to be sent again it sends no others, as sarama and librdkafka do.
type load struct {
	rig     *rig
	records func(batch int) []byte
	manners

	mu       sync.Mutex
	again    int // batches that are to be sent again
	noMore   sync.Cond
	attempts int // the most that a batch needed
	failed   []string
	next     int // batch to be sent
	batches  int
	told     time.Duration // the longest throttle time
}

// manners are how many requests a client sends ahead, their timeout_ms, and how often
// it sends a batch again.
type manners struct {
	inFlight int
	timeout  time.Duration
	retries  int
}

const retryPause = 100 * time.Millisecond

// run sends for so long and returns when all is answered. The requests take their
// turns as those of a connection do.
func (l *load) run(length time.Duration) {
	l.noMore.L = &l.mu
	end := time.Now().Add(length)
	slots := make(chan struct{}, l.inFlight)
	var order turns
	var all sync.WaitGroup
	for ; time.Now().Before(end); l.next++ {
		n := l.next
		slots <- struct{}{}
		l.awaitRetries()
		records := l.records(n)
		all.Go(func() {
			defer func() { <-slots }()
			l.deliver(&order, n, records)
		})
		synctest.Wait() // until it is on its way: they must keep their order
	}
	all.Wait()
}

func (l *load) awaitRetries() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.again > 0 {
		l.noMore.Wait()
	}
}

func (l *load) deliver(order *turns, n int, records []byte) {
	for attempt := 0; ; attempt++ {
		mine := order.take()
		result := l.rig.submit(Batch{Records: records, Timeout: l.timeout, Turn: mine.turn}).wait()
		mine.leave()
		goOn := false
		l.mu.Lock()
		l.told = max(l.told, result.ThrottleTime)
		l.attempts = max(l.attempts, attempt+1)
		if attempt > 0 {
			l.again--
			l.noMore.Broadcast()
		}
		if result.Code == 0 {
			l.batches++
		} else if result.Code != 19 || attempt == l.retries {
			l.failed = append(l.failed, fmt.Sprintf("batch %d, attempt %d: code %d %s", n, attempt+1, result.Code, result.Message))
		} else {
			l.again++
			goOn = true
		}
		l.mu.Unlock()
		if !goOn {
			return
		}
		time.Sleep(retryPause)
	}
}

// turns is the order of requests on a connection, whose answers leave in it.
type turns struct {
	mu    sync.Mutex
	queue []*request
}

type request struct {
	of    *turns
	since time.Time
	first chan struct{}
}

func (o *turns) take() *request {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := &request{of: o, first: make(chan struct{})}
	o.queue = append(o.queue, r)
	if len(o.queue) == 1 {
		r.begin()
	}
	return r
}

func (r *request) begin() {
	r.since = time.Now()
	close(r.first)
}

func (r *request) turn() (time.Time, bool) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.since, !r.since.IsZero()
}

// leave waits for the answers before it.
func (r *request) leave() {
	<-r.first
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.of.queue = r.of.queue[1:]
	if len(r.of.queue) > 0 {
		r.of.queue[0].begin()
	}
}

// batches are different ones of so many records of a size.
func (r *rig) batches(count, size int) func(int) []byte {
	values := sameValues(count, size)
	return func(batch int) []byte { return plain(r.t, values(batch)...) }
}

// sameValues are the values of a batch: its number, theirs, and what fills them up.
func sameValues(count, size int) func(int) []string {
	return func(batch int) []string {
		values := make([]string, count)
		for i := range values {
			head := fmt.Sprintf("%d-%d-", batch, i)
			values[i] = head + strings.Repeat("x", size-len(head))
		}
		return values
	}
}
