package fetch

import "time"

// doubts are the offsets outside a partition's known ends that consumers asked
// for. An answer of OFFSET_OUT_OF_RANGE makes a consumer jump to the start or
// the end, so it is given only when DIS confirmed it after the question came.
type doubts map[int64]*doubt

type doubt struct {
	// askedAt is when the offset was first asked for, lastAt when last.
	askedAt, lastAt time.Time
	// deniedAt is the time of the first describe after askedAt by which the
	// offset lies beyond the end; zero before.
	deniedAt time.Time
}

// maxDoubts bounds the offsets that are remembered per partition.
const maxDoubts = 64

// ask finds or opens the doubt about an offset. One that nobody asked about for
// doubtLifetime starts anew.
func (d doubts) ask(offset int64, now time.Time) *doubt {
	found := d[offset]
	if found == nil || now.Sub(found.lastAt) > doubtLifetime {
		if found == nil && len(d) >= maxDoubts {
			d.dropOldest()
		}
		found = &doubt{askedAt: now}
		d[offset] = found
	}
	found.lastAt = now
	return found
}

func (d doubts) dropOldest() {
	var oldest int64
	var at time.Time
	for offset, doubt := range d {
		if at.IsZero() || doubt.lastAt.Before(at) {
			oldest, at = offset, doubt.lastAt
		}
	}
	delete(d, oldest)
}

// outside decides about an offset that is not within [logStart, high]: whether
// the consumer may be told so. If not yet, `again` is when to look again; zero
// when a describe is on its way, after which fetches look again anyway.
func (p *partition) outside(offset int64, now time.Time) (confirmed bool, again time.Time) {
	doubt := p.doubts.ask(offset, now)
	if offset < p.logStart {
		return p.below(offset, doubt, now)
	}
	return p.beyond(doubt, now)
}

// below needs one describe that was made for this question, or just before it.
func (p *partition) below(offset int64, doubt *doubt, now time.Time) (confirmed bool, again time.Time) {
	d := &p.stream.describes
	since := doubt.askedAt.Add(-describeShared)
	if d.fresh(since) {
		if said := d.latest.partitions[p.number]; said.known && offset < said.Oldest {
			return true, time.Time{}
		}
		since = d.latest.startedAt.Add(describeShared)
	}
	return false, p.describeAt(since, now)
}

// beyond needs two describes, both made after the question and beyondApart from
// each other; one, for a stream that has just taken another's place. Had either
// of them shown the offset, high would include it.
func (p *partition) beyond(doubt *doubt, now time.Time) (confirmed bool, again time.Time) {
	d := &p.stream.describes
	since := doubt.askedAt
	if !doubt.deniedAt.IsZero() {
		since = doubt.deniedAt.Add(beyondApart)
	}
	if !d.fresh(since) {
		return false, p.describeAt(since, now)
	}
	if !d.latest.partitions[p.number].known {
		return false, p.describeAt(d.latest.startedAt.Add(describeShared), now)
	}
	if p.stream.replaced(now) {
		return true, time.Time{}
	}
	if doubt.deniedAt.IsZero() {
		doubt.deniedAt = d.latest.startedAt
		return false, p.describeAt(doubt.deniedAt.Add(beyondApart), now)
	}
	return true, time.Time{}
}

// describeAt starts a describe when its time has come, or says when it will have.
func (p *partition) describeAt(due, now time.Time) (again time.Time) {
	if now.Before(due) {
		return due
	}
	return p.stream.refresh(due)
}
