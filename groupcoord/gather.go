package groupcoord

import "sync"

// gatherWidth is how many groups of one request are asked at a time: each that
// is not in memory costs a goroutine, and calls of the stores.
const gatherWidth = 64

// gather asks several groups for one request and collects their answers.
type gather[R any] struct {
	ask  func(i int, put func(R))
	done func([]R)

	mu      sync.Mutex
	results []R
	next    int // the first that was not asked yet
	running int
	left    int
	filling bool // somebody is in fill
}

// gatherAll calls ask for 0 to n-1, which calls put once, now or later and from
// any goroutine. When all have, done gets what they put, in order.
func gatherAll[R any](n int, ask func(i int, put func(R)), done func([]R)) {
	g := &gather[R]{ask: ask, done: done, results: make([]R, n), left: n}
	if n == 0 {
		done(g.results)
		return
	}
	g.fill()
}

// fill asks as many as may be asked at a time. Where an answer comes at once it
// is called again inside itself, and leaves the work to the outer call.
func (g *gather[R]) fill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.filling {
		return
	}
	g.filling = true
	for g.next < len(g.results) && g.running < gatherWidth {
		i := g.next
		g.next++
		g.running++
		g.mu.Unlock()
		g.ask(i, func(result R) { g.put(i, result) })
		g.mu.Lock()
	}
	g.filling = false
}

func (g *gather[R]) put(i int, result R) {
	g.mu.Lock()
	g.results[i] = result
	g.running--
	g.left--
	last := g.left == 0
	g.mu.Unlock()
	if last {
		g.done(g.results)
		return
	}
	g.fill()
}
