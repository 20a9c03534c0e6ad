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
			v.add(ruleServed, "consumer %s got offset %d of partition %d, which does not exist", s.Consumer, got.Offset, s.Partition)
			return
		case *got != all[where]:
			v.add(ruleServed, "consumer %s got record %v at %d@%d, where %v is stored (or its bytes differ)", s.Consumer, got.ID, s.Partition, got.Offset, all[where].ID)
			return
		case where < at:
			v.add(ruleTwice, "consumer %s got offset %d of partition %d after it had got %d", s.Consumer, got.Offset, s.Partition, s.Records[i-1].Offset)
			return
		case where > at:
			v.add(ruleSkipped, "consumer %s did not get offsets %d to %d of partition %d, but %d", s.Consumer, all[at].Offset, all[where-1].Offset, s.Partition, got.Offset)
			return
		}
		at++
	}
	if s.Group == "" && at < len(all) {
		v.add(ruleSkipped, "consumer %s got partition %d only to offset %d of %d", s.Consumer, s.Partition, all[at].Offset, all[len(all)-1].Offset)
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
			var missing []int64
			for _, r := range v.Stored[partition] {
				if !groups[group][partition][r.Offset] {
					missing = append(missing, r.Offset)
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
			v.add(ruleReplayed, "member %s began partition %d at %d, after %d was committed", s.Consumer, s.Partition, s.Records[0].Offset, c.Offset)
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
			v.add(ruleRange, "partition %d, offset %d: the high watermark was %d before", look.Partition, look.Offset, last.high)
		}
		if look.Code != 0 || look.High < 0 {
			continue
		}
		if end := v.Ends[look.Partition]; look.High > end {
			v.add(ruleHigh, "partition %d asked at %d: %d, but no record ever came beyond %d", look.Partition, look.Offset, look.High, end)
		}
		if !within {
			continue
		}
		if known && last.life == life && look.High < last.high {
			v.add(ruleHigh, "partition %d went back from %d to %d", look.Partition, last.high, look.High)
		}
		if acked := acks[look.Partition].before(v.Lives[life].Began, look.Asked); look.High <= acked {
			v.add(ruleHigh, "partition %d: %d, after offset %d was acknowledged", look.Partition, look.High, acked)
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
