package produce

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// part is what DIS has of a batch that it then refused: some of its records were stored,
// and those that had to be sent again met a partition that a scale-down had retired, say.
// The producer is told to try again, and sends the whole batch. Of an idempotent one only
// the rest is stored then, as the window would have it.
type part struct {
	of     batchID
	places indexes
	stored int
}

// batchID tells whether a batch of a producer is the same as an earlier one.
type batchID struct {
	epoch    int16
	base     int32
	count    int
	checksum uint32
}

func idOf(f record.Frame) batchID {
	return batchID{f.ProducerEpoch, f.BaseSequence, f.Count, f.Checksum}
}

// leavePart keeps what DIS has of a batch that was refused in a way that its producer
// tries again. Where the next try cannot be told from a new batch, its records will be
// in DIS twice, and are counted.
func (b *pending) leavePart() {
	if b.refusal == nil || b.stored == 0 || b.silent || !triedAgain(b.refusal.Code) {
		return
	}
	e, left := b.partition.stream.engine, part{b.id, b.places, b.stored}
	if b.owner == nil || b.owner.epoch != b.id.epoch || !e.window.has(b.owner) {
		e.noteTwice(left)
		return
	}
	b.owner.forgetPart(b.id)
	b.owner.parts = append(b.owner.parts, left)
	if len(b.owner.parts) > windowBatches {
		e.noteTwice(b.owner.parts[0])
		b.owner.parts = slices.Delete(b.owner.parts, 0, 1)
	}
}

// triedAgain reports whether clients send a batch again after the code.
func triedAgain(code int16) bool {
	kafka := kerr.TypedErrorForCode(code)
	return kafka != nil && kafka.Retriable
}

// noteTwice counts records that will be in DIS twice.
func (e *Engine) noteTwice(p part) { e.metrics.ambiguousRecords.Add(int64(p.stored)) }

// truthful makes of an answer by which nothing of the batch would be in DIS one that
// holds, where an earlier try has left a part there.
func (b *pending) truthful(result Result) Result {
	if b.stored == 0 {
		return result
	}
	switch result.Code {
	case kerr.NotEnoughReplicas.Code:
		result.Code = kerr.RequestTimedOut.Code
	case closing.Code:
	default:
		return result
	}
	result.Message = fmt.Sprintf("%d of %d records are in DIS, the rest was not written", b.stored, b.count)
	return result
}

// resume has a batch that comes again store the rest alone. It gives the parts that
// nobody comes back for: those of an earlier epoch, and one in whose place another
// batch comes.
func (p *producer) resume(b *pending) (abandoned []part) {
	p.parts = slices.DeleteFunc(p.parts, func(left part) bool {
		switch {
		case left.of == b.id:
			b.places, b.stored = left.places.clone(), left.stored
			return false // until the rest is stored
		case left.of.epoch != b.id.epoch, left.of.base == b.id.base:
			abandoned = append(abandoned, left)
			return true
		}
		return false
	})
	return abandoned
}

func (p *producer) forgetPart(of batchID) {
	p.parts = slices.DeleteFunc(p.parts, func(left part) bool { return left.of == of })
}

// indexes is a set of indexes of records, which mostly come in order.
type indexes struct {
	before int              // all below are in it
	beyond map[int]struct{} // and these
}

func (s *indexes) add(i int) {
	if i != s.before {
		if s.beyond == nil {
			s.beyond = make(map[int]struct{})
		}
		s.beyond[i] = struct{}{}
		return
	}
	for s.before++; len(s.beyond) > 0; s.before++ {
		if _, have := s.beyond[s.before]; !have {
			return
		}
		delete(s.beyond, s.before)
	}
}

func (s *indexes) have(i int) bool {
	_, have := s.beyond[i]
	return have || i < s.before
}

func (s *indexes) clone() indexes { return indexes{s.before, maps.Clone(s.beyond)} }
