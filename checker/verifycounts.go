package main

import "fmt"

// countsIncomplete holds for a run in which a gateway was stopped: what it
// counted in its last moment was not seen.
func (v *verifier) countsIncomplete() bool {
	return v.Schedule.has(killGateway, restartGateway)
}

// during says how often a gateway stopped while a record was on its way: its
// producer had sent it, or was about to, and had no acknowledgement yet.
func (v *verifier) during(s *sent) (stops int) {
	for _, l := range v.Lives {
		if l.Stopping.IsZero() || s.At.After(l.Ended) || s.acknowledged() && s.Done.Before(l.Stopping) {
			continue
		}
		stops++
	}
	return stops
}

// inFlightAtStops are the records that were on their way when a gateway stopped.
func (v *verifier) inFlightAtStops() map[recordID]int {
	all := map[recordID]int{}
	if v.countsIncomplete() {
		for id, s := range v.Sent {
			if n := v.during(s); n > 0 {
				all[id] = n
			}
		}
	}
	return all
}

// repeatsPerStop is how often a record on its way may repeat because a gateway
// stopped: once because its client sends it to the next gateway, and once
// because the gateway that stopped had sent it again after it was last asked
// for its counts.
const repeatsPerStop = 2

// checkRepeats: records are in DIS more than once only as far as the gateway
// counted records that it sent again, and in an exact run just as often.
func (v *verifier) checkRepeats() {
	stops := v.inFlightAtStops()
	var repeats, unexplained int64
	var which []string
	for _, s := range v.inOrder() {
		extra := len(v.places[s.ID]) - 1
		if extra <= 0 {
			continue
		}
		repeats += int64(extra)
		if over := extra - repeatsPerStop*stops[s.ID]; over > 0 {
			unexplained += int64(over)
			which = append(which, fmt.Sprintf("%v at%s", s.ID, listed(v.places[s.ID])))
		}
	}
	counted := v.Counts[ambiguousRecords]
	switch {
	case unexplained > counted:
		v.add(ruleRepeats, "%d repeats that no stop explains, %d records counted as sent again; the repeated:%s", unexplained, counted, listed(which))
	case v.Schedule.Exact && repeats != counted:
		v.add(ruleRepeats, "%d repeats, %d records counted as sent again, all of which were stored before; the repeated:%s", repeats, counted, listed(which))
	}
}

// checkMoved: a record stands in another partition than its producer chose only
// after a scale-down, with an unknown offset, and once for each time that it was
// counted: a place whose acknowledgement was lost was not.
func (v *verifier) checkMoved() {
	var moved, places, gray int64
	var which []string
	stops := v.inFlightAtStops()
	for _, s := range v.inOrder() {
		away := 0
		for _, at := range v.places[s.ID] {
			if at.partition != s.ID.Partition {
				away++
			}
		}
		if away == 0 {
			continue
		}
		moved++
		places += int64(away)
		if stops[s.ID] > 0 {
			gray++
		}
		which = append(which, fmt.Sprintf("%v at%s", s.ID, listed(v.places[s.ID])))
		if away == len(v.places[s.ID]) && s.Offset >= 0 {
			v.add(ruleMoved, "record %v was moved to%s and acknowledged at offset %d", s.ID, listed(v.places[s.ID]), s.Offset)
		}
	}
	counted := v.Counts[movedRecords]
	switch {
	case moved > 0 && !v.Schedule.has(scaleDown):
		v.add(ruleMoved, "%d records without a scale-down:%s", moved, listed(which))
	case counted > places || counted < moved-gray:
		v.add(ruleMoved, "%d records stand at %d places of another partition, %d were on their way when a gateway stopped, and %d were counted:%s",
			moved, places, gray, counted, listed(which))
	}
}
