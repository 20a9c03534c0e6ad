package produce

import (
	"math"
	"time"
)

// returning holds the next request to DIS back for a moment, while producers that
// were just answered are about to send their next batches.
//
// Most producers wait for answers before they go on, after one request or after
// five, as Kafka's own do. Were the first that comes back written at once, the
// others, a moment later, would wait for DIS twice: for the answer to the first,
// and for their own. It would stay so: two groups that take turns, each with twice
// the latency and half the throughput.
//
// So the stream counts how many requests come soon after so many were answered.
// Only where nearly all do are they waited for, and no longer than until they are
// there. Producers that send whenever they have something seldom make as much of it by
// chance: their records take up to a few hundredths longer.
type returning struct {
	share    float64       // how many of those answered came back soon, smoothed
	took     time.Duration // the last request to DIS
	answered int           // requests of producers in this burst
	came     int           // requests since its first answer
	begin    time.Time     // the first answer of the burst
	last     time.Time     // the last answer or request
	hold     *hold         // nil: nothing is held back
}

// hold is one such moment.
type hold struct {
	over    chan struct{} // closed at its end
	resting int           // writers that wait for that
	timer   *time.Timer
}

// A burst is over when nothing happens for a fifth of the time that DIS takes, and in
// any case after half of it, or longestBurst.
const (
	soonPart     = 5
	burstPart    = 2
	longestBurst = 15 * time.Millisecond
)

const (
	// nearlyAll is the share of returns from which they are waited for. Requests that
	// come by chance seldom make as much of it.
	nearlyAll = 0.75
	// smoothing is the weight of the last burst in the share.
	smoothing = 0.25
	// quick is the time of DIS below which there is nothing to gain.
	quick = 2 * time.Millisecond
)

// until is when the burst is over if nothing more happens.
func (r *returning) until() time.Time {
	all := min(r.took/burstPart, longestBurst)
	return earlier(r.last.Add(min(r.took/soonPart, all)), r.begin.Add(all))
}

// expected is how many requests are waited for.
func (r *returning) expected() int {
	if r.took < quick || r.share < nearlyAll {
		return 0
	}
	return int(math.Round(r.share * float64(r.answered)))
}

// noteAnswer counts a producer's request that was answered.
func (r *returning) noteAnswer(now time.Time) {
	if now.After(r.until()) {
		if r.answered > 0 {
			r.share += smoothing * (min(float64(r.came)/float64(r.answered), 1) - r.share)
		}
		r.answered, r.came, r.begin = 0, 0, now
	}
	r.answered++
	r.last = now
}

// noteRequest counts a producer's request if it comes soon after answers.
func (r *returning) noteRequest(now time.Time) {
	if now.After(r.until()) {
		return
	}
	r.came++
	r.last = now
}

// submission is what a producer sent in one request, and waits for.
type submission struct {
	open   int     // batches without an answer
	stream *stream // where it counts; nil: nothing of it has waited for DIS
}

// answeredOne notes that a batch is answered, whatever the answer: after the last one
// its producer goes on.
func (of *submission) answeredOne() {
	if of.open--; of.open == 0 && of.stream != nil {
		of.stream.answered()
	}
}

func (s *stream) answered() {
	now := time.Now()
	r := &s.returning
	if r.hold != nil && now.After(r.until()) {
		s.release() // its timer is late, and no hold outlasts its burst
	}
	r.noteAnswer(now)
	if r.hold != nil || r.came >= r.expected() || s.engine.closed {
		return
	}
	h := &hold{over: make(chan struct{})}
	h.timer = time.AfterFunc(r.until().Sub(now), func() { s.noMoreCome(h) })
	r.hold = h
}

// cameOne notes that a batch came, or one that repeats a batch on its way.
func (s *stream) cameOne(of *submission) {
	if of.stream != nil {
		return
	}
	of.stream = s
	r := &s.returning
	r.noteRequest(time.Now())
	if r.hold != nil && r.came >= r.expected() {
		s.release()
	}
}

// noMoreCome ends a hold when its burst is over.
func (s *stream) noMoreCome(h *hold) {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	r := &s.returning
	if r.hold != h {
		return
	}
	if left := time.Until(r.until()); left > 0 {
		h.timer.Reset(left)
		return
	}
	s.release()
}

// release has the resting writers go on, together, if there are any.
func (s *stream) release() {
	h := s.returning.hold
	if h == nil {
		return
	}
	s.returning.hold = nil
	h.timer.Stop()
	s.atWork += h.resting
	close(h.over)
	s.forgetIfIdle()
}

// restForReturning waits while requests are held back, unless enough for a whole
// one waits here already.
func (p *partition) restForReturning() {
	s := p.stream
	s.engine.mu.Lock()
	h := s.returning.hold
	if h == nil || p.wholeRequestWaits() {
		s.engine.mu.Unlock()
		return
	}
	h.resting++
	s.atWork--
	s.launch()
	s.engine.mu.Unlock()
	<-h.over
}

// wholeRequestWaits counts what is left of the batch that goes on, and all behind it.
func (p *partition) wholeRequestWaits() bool {
	records, bytes := 0, 0
	if b := p.goesOn(); b != nil {
		records, bytes = b.left()
	}
	for _, b := range p.waiting {
		records, bytes = records+b.count, bytes+b.frameSize
	}
	return p.stream.wholeRequest(records, bytes)
}

// left is what of the batch is not in a chunk yet, the bytes as far as they are known.
func (b *pending) left() (records, bytes int) {
	records = b.count - b.encoded
	if !b.opened {
		return records, b.frameSize
	}
	return records, int(int64(b.size) * int64(records) / int64(b.count))
}
