package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// checkSessions: each session got every stored record between its first and its
// last one, once, in the order of offsets; an assigned consumer from the start
// of the partition to its end.
func (v *verifier) checkSessions() {
	reached := map[string]map[int32]bool{} // assigned consumers: the partitions they read
	for _, s := range v.Sessions {
		if s.Group == "" {
			if reached[s.Consumer] == nil {
				reached[s.Consumer] = map[int32]bool{}
			}
			reached[s.Consumer][s.Partition] = true
		}
		v.checkSession(s)
	}
	for _, consumer := range sortedKeys(reached) {
		for _, partition := range sortedKeys(v.Stored) {
			if len(v.Stored[partition]) > 0 && !reached[consumer][partition] {
				v.add(ruleSkipped, "consumer %s got nothing of partition %d, which has %d records", consumer, partition, len(v.Stored[partition]))
			}
		}
	}
}

func (v *verifier) checkSession(s *session) {
	all := v.Stored[s.Partition]
	if len(s.Records) == 0 {
		return
	}
	at := 0
	if s.Group != "" {
		at, _ = indexOf(all, s.Records[0].Offset)
	}
	for i := range s.Records {
		got := &s.Records[i]
		where, found := indexOf(all, got.Offset)
		switch {
		case !found:
			v.add(ruleServed, "consumer %s got %v, which does not exist", s.Consumer, place{s.Partition, got.Offset})
			return
		case *got != all[where]:
			v.add(ruleServed, "consumer %s got record %v at %v, where %v is stored (or its bytes differ)", s.Consumer, got.ID, place{s.Partition, got.Offset}, all[where].ID)
			return
		case where < at:
			v.add(ruleTwice, "consumer %s got %v after it had got %v", s.Consumer, place{s.Partition, got.Offset}, place{s.Partition, s.Records[i-1].Offset})
			return
		case where > at:
			v.add(ruleSkipped, "consumer %s did not get %v to %v, but %v", s.Consumer, place{s.Partition, all[at].Offset}, place{s.Partition, all[where-1].Offset}, place{s.Partition, got.Offset})
			return
		}
		at++
	}
	if s.Group == "" && at < len(all) {
		v.add(ruleSkipped, "consumer %s did not get %v to %v, the last", s.Consumer, place{s.Partition, all[at].Offset}, place{s.Partition, all[len(all)-1].Offset})
	}
}

func indexOf(all []stored, offset int64) (int, bool) {
	return slices.BinarySearchFunc(all, offset, func(r stored, offset int64) int { return cmp.Compare(r.Offset, offset) })
}

// checkGroups: together the members of a group got everything, and none began
// before what the group had committed when it got the partition.
func (v *verifier) checkGroups() {
	groups := map[string]map[int32]map[int64]bool{}
	for _, s := range v.Sessions {
		if s.Group == "" {
			continue
		}
		if groups[s.Group] == nil {
			groups[s.Group] = map[int32]map[int64]bool{}
		}
		got := groups[s.Group][s.Partition]
		if got == nil {
			got = map[int64]bool{}
			groups[s.Group][s.Partition] = got
		}
		for _, r := range s.Records {
			got[r.Offset] = true
		}
		if len(s.Records) > 0 {
			v.checkStart(s)
		}
	}
	for _, group := range sortedKeys(groups) {
		for _, partition := range sortedKeys(v.Stored) {
			var missing []place
			for _, r := range v.Stored[partition] {
				if !groups[group][partition][r.Offset] {
					missing = append(missing, place{partition, r.Offset})
				}
			}
			if len(missing) > 0 {
				v.add(ruleSkipped, "group %s got %d offsets of partition %d never:%s", group, len(missing), partition, listed(missing))
			}
		}
	}
}

func (v *verifier) checkStart(s *session) {
	for _, c := range v.Commits {
		if c.Group == s.Group && c.Partition == s.Partition && c.Done.Before(s.Began) && s.Records[0].Offset < c.Offset {
			v.add(ruleReplayed, "member %s began at %v, after %v was committed", s.Consumer, place{s.Partition, s.Records[0].Offset}, place{c.Partition, c.Offset})
			return
		}
	}
}

// checkViews: the high watermark is never above the end of the partition, never
// goes back, and is above everything that was acknowledged before; no offset that
// exists is out of range. The last three hold within the life of one gateway.
func (v *verifier) checkViews() {
	type seen struct {
		life int
		high int64
	}
	before := map[int32]seen{}
	acks := v.acknowledgedByPartition()
	if !slices.ContainsFunc(v.Views, func(look view) bool { return look.Code == 0 && look.High >= 0 }) {
		v.add(ruleHigh, "none was seen in %d looks", len(v.Views))
	}
	for _, look := range v.Views {
		last, known := before[look.Partition]
		life, within := v.lifeOf(look.Asked, look.Answered)
		if look.Code == kerr.OffsetOutOfRange.Code && look.Offset >= 0 && known && last.life == life && look.Offset <= last.high {
			v.add(ruleRange, "%v: the high watermark was %v before", place{look.Partition, look.Offset}, place{look.Partition, last.high})
		}
		if look.Code != 0 || look.High < 0 {
			continue
		}
		if end := v.Ends[look.Partition]; look.High > end {
			v.add(ruleHigh, "asked at %v: %v, but no record ever came beyond %v", place{look.Partition, look.Offset}, place{look.Partition, look.High}, place{look.Partition, end})
		}
		if !within {
			continue
		}
		if known && last.life == life && look.High < last.high {
			v.add(ruleHigh, "went back from %v to %v", place{look.Partition, last.high}, place{look.Partition, look.High})
		}
		if acked := acks[look.Partition].before(v.Lives[life].Began, look.Asked); look.High <= acked {
			v.add(ruleHigh, "%v, after %v was acknowledged", place{look.Partition, look.High}, place{look.Partition, acked})
		}
		before[look.Partition] = seen{life, look.High}
	}
}

// lifeOf finds the gateway that was there from one time to the other.
func (v *verifier) lifeOf(from, to time.Time) (number int, within bool) {
	for i, l := range v.Lives {
		if !from.Before(l.Began) && (l.Stopping.IsZero() || to.Before(l.Stopping)) {
			return i, true
		}
	}
	return -1, false
}

// acknowledgements are those of one partition by the time they came, each with
// the highest offset so far.
type acknowledgements []*sent

func (v *verifier) acknowledgedByPartition() map[int32]acknowledgements {
	all := map[int32]acknowledgements{}
	for _, s := range v.Sent {
		if s.acknowledged() && s.Offset >= 0 {
			all[s.ID.Partition] = append(all[s.ID.Partition], s)
		}
	}
	return all
}

// before is the highest offset of a record that was sent after the one time and
// acknowledged before the other, -1 for none.
func (a acknowledgements) before(sentAfter, doneBefore time.Time) int64 {
	highest := int64(-1)
	for _, s := range a {
		if s.At.After(sentAfter) && s.Done.Before(doneBefore) {
			highest = max(highest, s.Offset)
		}
	}
	return highest
}
