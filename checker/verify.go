package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// violation is a promise that was not kept.
type violation struct {
	Rule    string
	Message string
}

func (v violation) String() string { return v.Rule + ": " + v.Message }

// The rules, by the promise that each checks.
const (
	ruleAtOnce   = "complaint"
	ruleLost     = "acknowledged record missing"
	ruleForeign  = "unknown record"
	ruleContent  = "content changed"
	ruleOffset   = "wrong offset told"
	ruleOrder    = "order broken"
	ruleRepeats  = "unexplained repeats"
	ruleMoved    = "moved records"
	ruleTwice    = "offset served twice"
	ruleSkipped  = "offset skipped"
	ruleServed   = "served what is not stored"
	ruleReplayed = "group went back behind a commit"
	ruleHigh     = "high watermark"
	ruleRange    = "OFFSET_OUT_OF_RANGE for an offset that exists"
)

// verify checks a history against every promise, and returns what was not kept.
func verify(h *history) []violation {
	v := &verifier{history: h, places: map[recordID][]place{}}
	for _, text := range h.Complaints {
		v.add(ruleAtOnce, "%s", text)
	}
	v.index()
	v.checkAcknowledged()
	v.checkOrder()
	v.checkRepeats()
	v.checkMoved()
	v.checkSessions()
	v.checkGroups()
	v.checkViews()
	return v.found
}

type verifier struct {
	*history
	places map[recordID][]place // where each record is stored, in order
	found  []violation
}

// place is where a record is stored.
type place struct {
	partition int32
	offset    int64
}

func (p place) String() string { return fmt.Sprintf("%d@%d", p.partition, p.offset) }

func (v *verifier) add(rule, format string, args ...any) {
	v.found = append(v.found, violation{rule, fmt.Sprintf(format, args...)})
}

// listed shortens what a message names.
func listed[T any](all []T) string {
	const most = 12
	var b strings.Builder
	for i, one := range all {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(all)-most)
			break
		}
		fmt.Fprintf(&b, " %v", one)
	}
	return b.String()
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// index notes where records are stored, and that each is one that was sent, with
// the content that it was sent with.
func (v *verifier) index() {
	for _, partition := range sortedKeys(v.Stored) {
		for _, r := range v.Stored[partition] {
			at := place{partition, r.Offset}
			switch sent := v.Sent[r.ID]; {
			case sent == nil:
				v.add(ruleForeign, "%v holds record %v, which nobody sent", at, r.ID)
			case sent.Digest != r.Digest:
				v.add(ruleContent, "record %v at %v is not what was sent", r.ID, at)
			}
			v.places[r.ID] = append(v.places[r.ID], at)
		}
	}
}

// inOrder gives the records that were sent, by producer, partition and number.
func (h *history) inOrder() []*sent {
	all := make([]*sent, 0, len(h.Sent))
	for _, s := range h.Sent {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *sent) int { return compareIDs(a.ID, b.ID) })
	return all
}

// checkAcknowledged: what was acknowledged is stored, at the offset that was told
// if one was.
func (v *verifier) checkAcknowledged() {
	var lost []string
	for _, s := range v.inOrder() {
		if !s.acknowledged() {
			continue
		}
		places := v.places[s.ID]
		if len(places) == 0 {
			lost = append(lost, s.ID.String())
			continue
		}
		if s.Offset >= 0 && !slices.Contains(places, place{s.ID.Partition, s.Offset}) {
			v.add(ruleOffset, "record %v was acknowledged at %v and stands at%s", s.ID, place{s.ID.Partition, s.Offset}, listed(places))
		}
	}
	if len(lost) > 0 {
		v.add(ruleLost, "%d records:%s", len(lost), listed(lost))
	}
}

// checkOrder: what a producer wrote to a partition stands in the order in which
// it was written, but for as many records as the gateway counted as holes. A
// record that is there more than once is in order if one of its places is, and
// the last places of all records are in order too: a repeat never comes behind
// what was written later.
//
// The order holds for one connection. A producer that does not send again goes on over
// a new one without knowing what becomes of its last requests on the old one, which
// may still be on their way to the gateway: where connections are cut, only what it
// has heard of counts. An idempotent producer sends those again first.
//
// And a scale-down may end a partition in the middle of a repeat, so that the last
// place of what it did not come to is in front of the last place of what it repeated.
func (v *verifier) checkOrder() {
	type source struct {
		producer     string
		chosen, real int32
	}
	numbers, settled := map[source][]int{}, map[source][]int{}
	var sources []source
	for _, partition := range sortedKeys(v.Stored) {
		for _, r := range v.Stored[partition] {
			if v.onItsWayWhenCut(r.ID) {
				continue
			}
			from := source{r.ID.Producer, r.ID.Partition, partition}
			if numbers[from] == nil {
				sources = append(sources, from)
			}
			numbers[from] = append(numbers[from], r.ID.Number)
			if !v.cutShort(r.ID) {
				settled[from] = append(settled[from], r.ID.Number)
			}
		}
	}
	var wrong int64
	var where []string
	for _, from := range sources {
		out := max(outOfOrder(numbers[from]), outOfOrder(lastOnly(settled[from])))
		if out > 0 {
			wrong += int64(out)
			where = append(where, fmt.Sprintf("producer %s partition %d stored in %d: %d (first %v)", from.producer, from.chosen, from.real, out, recordID{from.producer, from.chosen, firstBack(numbers[from])}))
		}
	}
	holes, uncounted := v.Counts[holeRecords], int64(len(v.inFlightAtStops()))
	if wrong > holes+uncounted {
		v.add(ruleOrder, "%d records are out of order, %d were counted as holes, and of %d no count was seen: %s",
			wrong, holes, uncounted, strings.Join(where, "; "))
	}
}

// onItsWayWhenCut reports whether a record may have come by a connection that its
// producer had given up, behind what it sent over the next one.
func (v *verifier) onItsWayWhenCut(id recordID) bool {
	sent := v.Sent[id]
	return v.Schedule.has(cutClients) && sent != nil && !sent.acknowledged() &&
		slices.ContainsFunc(v.Schedule.Producers, func(p producerPlan) bool { return p.Name == id.Producer && p.Kind == plain })
}

// cutShort reports whether a scale-down may have ended the repeats of a record where it
// stands: DIS refused it from there on, and its producer was told so or it went to the
// partition that took over.
func (v *verifier) cutShort(id recordID) bool {
	if !v.Schedule.has(scaleDown) {
		return false
	}
	sent := v.Sent[id]
	moved := slices.ContainsFunc(v.places[id], func(at place) bool { return at.partition != id.Partition })
	return moved || sent != nil && !sent.acknowledged()
}

// outOfOrder is how many different numbers cannot be part of one rising
// sequence: all but the longest that there is.
func outOfOrder(numbers []int) int {
	different := map[int]bool{}
	var tails []int // tails[i]: the smallest end of a rising sequence of i+1 numbers
	for _, n := range numbers {
		different[n] = true
		at, _ := slices.BinarySearch(tails, n)
		if at == len(tails) {
			tails = append(tails, n)
		} else {
			tails[at] = n
		}
	}
	return len(different) - len(tails)
}

// lastOnly leaves out all but the last of equal numbers.
func lastOnly(numbers []int) []int {
	seen := map[int]bool{}
	var kept []int
	for _, n := range slices.Backward(numbers) {
		if !seen[n] {
			seen[n] = true
			kept = append(kept, n)
		}
	}
	slices.Reverse(kept)
	return kept
}

// firstBack is the first number that is smaller than the one before, for a
// message.
func firstBack(numbers []int) int {
	for i := 1; i < len(numbers); i++ {
		if numbers[i] < numbers[i-1] {
			return numbers[i]
		}
	}
	return -1
}
