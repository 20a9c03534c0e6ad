package fetch

import "time"

// await registers the want, so that changes wake its fetch, and if it may be
// read makes a session read at its position.
func (p *partition) await(w *want, read bool, now time.Time) {
	p.stream.mu.Lock()
	defer p.stream.mu.Unlock()
	if _, waits := p.wants[w]; !waits {
		p.wants[w] = struct{}{}
		p.stream.watch.waiting++
	}
	if p.version != w.version { // something happened since the last look
		w.notify()
		return
	}
	if read && p.readable() {
		p.sessionAt(w.position, now).want(now)
	}
}

// readable is false when sessions would read what must not be served.
func (p *partition) readable() bool { return !p.stream.gone && p.stream.successor == nil }

// leave withdraws a want, and lets a session that nobody waits for end. The stream and
// the session were in use until now: between two fetches of a consumer, however long it
// waits in each, the watch goes on and a check keeps its place in line.
func (p *partition) leave(w *want) {
	p.stream.mu.Lock()
	defer p.stream.mu.Unlock()
	s, now := p.sessions[w.position], time.Now()
	if _, waits := p.wants[w]; waits {
		delete(p.wants, w)
		p.stream.watch.waiting--
		p.stream.watch.usedAt = now
		if s != nil {
			s.usedAt = now
		}
	}
	if s != nil && s.running && !s.reading && !s.wanted() {
		s.wakeUp()
	}
}

// prepare reads ahead for a consumer that is being answered and will ask for
// the records from end on, unless the cache has enough of them. One that got
// nothing has nothing but this to get on; one that was served up to the end of
// the partition will wait at the tail like any other.
func (p *partition) prepare(end int64, served bool, now time.Time) {
	p.stream.mu.Lock()
	defer p.stream.mu.Unlock()
	if !p.readable() {
		return
	}
	ahead := 0
	for c := p.chunkAt(end); c != nil; c = p.chunkAt(end) {
		ahead += len(c.data)
		end = c.next
		if ahead >= p.stream.engine.cfg.ReadBytes/2 {
			return
		}
	}
	s := p.sessions[end]
	if !served && ahead == 0 {
		s = p.sessionAt(end, now)
	}
	if s != nil && (end < p.high || !served) {
		s.readAhead(now)
	}
}
