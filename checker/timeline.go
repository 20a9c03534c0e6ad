package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"time"
)

// event is one line of a history for people.
type event struct {
	at   time.Time
	who  string // the client, by its client id, or a group; "" for the run itself
	text string
}

// stamp is the form of times in the evidence: that of the gateway's log, to the
// microsecond.
const stamp = "2006-01-02T15:04:05.000000Z07:00"

func (e *event) line(began time.Time) string {
	who := e.who
	if who == "" {
		who = "-"
	}
	return fmt.Sprintf("%s %+.6fs %s %s", e.at.Format(stamp), e.at.Sub(began).Seconds(), who, e.text)
}

// timeline puts everything that a run saw in the order in which it was seen.
// Records are named producer/partition/number and offsets partition@offset, as in
// the messages of violations.
func (h *history) timeline() []event {
	var all []event
	add := func(at time.Time, who, format string, args ...any) {
		all = append(all, event{at, who, fmt.Sprintf(format, args...)})
	}
	for _, s := range h.Sent {
		s.events(add)
	}
	for _, s := range h.Sessions {
		for i, r := range s.Records {
			if i < len(s.At) {
				add(s.At[i], s.Consumer, "read %v: %v", place{s.Partition, r.Offset}, r.ID)
			}
		}
	}
	for _, c := range h.Commits {
		add(c.Done, "group-"+c.Group, "committed %v", place{c.Partition, c.Offset})
	}
	for i := range h.Views {
		h.Views[i].events(add)
	}
	for i, l := range h.Lives {
		add(l.Began, "", "gateway %d takes connections", i+1)
		if !l.Stopping.IsZero() {
			add(l.Stopping, "", "gateway %d is told to stop, or killed", i+1)
		}
		if !l.Ended.IsZero() {
			add(l.Ended, "", "gateway %d has ended", i+1)
		}
	}
	for _, n := range h.Notes {
		add(n.At, n.Who, "%s", n.Text)
	}
	slices.SortStableFunc(all, func(a, b event) int { return a.at.Compare(b.at) })
	return all
}

func (s *sent) events(add func(at time.Time, who, format string, args ...any)) {
	add(s.At, s.ID.Producer, "sent %v", s.ID)
	switch {
	case s.acknowledged() && s.Offset >= 0:
		add(s.Done, s.ID.Producer, "acknowledged %v at %v", s.ID, place{s.ID.Partition, s.Offset})
	case s.acknowledged():
		add(s.Done, s.ID.Producer, "acknowledged %v at an unknown offset", s.ID)
	case !s.Refused.IsZero():
		add(s.Refused, s.ID.Producer, "refused %v: %s", s.ID, s.Refusal)
	}
}

func (v *view) events(add func(at time.Time, who, format string, args ...any)) {
	asked := fmt.Sprintf("fetched from %v", place{v.Partition, v.Offset})
	if v.Offset < 0 {
		asked = fmt.Sprintf("listed the end of partition %d", v.Partition)
	}
	add(v.Answered, watcherName, "%s, asked %v before: code %d, high watermark %v",
		asked, v.Answered.Sub(v.Asked).Round(time.Microsecond), v.Code, place{v.Partition, v.High})
}

// writeTimeline writes the events, each a line with the time since the first one.
func writeTimeline(w io.Writer, all []event) error {
	out := bufio.NewWriter(w)
	for i := range all {
		if _, err := fmt.Fprintln(out, all[i].line(all[0].at)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeStored writes what DIS holds in the end, and then what it does not.
func (h *history) writeStored(w io.Writer) error {
	out := bufio.NewWriter(w)
	seen := map[recordID]int{}
	for _, partition := range sortedKeys(h.Stored) {
		fmt.Fprintf(out, "partition %d: %d records, the next offset is %d\n", partition, len(h.Stored[partition]), h.Ends[partition])
		for _, r := range h.Stored[partition] {
			seen[r.ID]++
			fmt.Fprintf(out, "%v %v %s", place{partition, r.Offset}, r.ID, h.fate(r.ID))
			if n := seen[r.ID]; n > 1 {
				fmt.Fprintf(out, ", place %d of this record", n)
			}
			fmt.Fprintln(out)
		}
	}
	fmt.Fprintln(out, "not stored:")
	for _, s := range h.inOrder() {
		if seen[s.ID] == 0 {
			fmt.Fprintf(out, "- %v %s\n", s.ID, h.fate(s.ID))
		}
	}
	return out.Flush()
}

// fate is what a record's producer was told.
func (h *history) fate(id recordID) string {
	s := h.Sent[id]
	switch {
	case s == nil:
		return "never sent"
	case s.acknowledged() && s.Offset >= 0:
		return fmt.Sprintf("acknowledged at %v", place{id.Partition, s.Offset})
	case s.acknowledged():
		return "acknowledged at an unknown offset"
	case !s.Refused.IsZero():
		return "refused: " + s.Refusal
	}
	return "without an answer"
}
