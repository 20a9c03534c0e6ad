package main

import (
	"slices"
	"testing"
	"time"
)

// epoch is when the histories of these tests begin.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func after(ms int) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

// kept is a history in which every promise was kept: two producers, two
// partitions, an assigned consumer, a group of two members one after the other,
// and a watcher.
func kept() *history {
	r := newRecorder(schedule{Partitions: 2})
	h := &r.h
	h.Lives = []life{{Began: epoch}}
	for number := range 6 {
		for partition := range int32(2) {
			for _, producer := range []string{"p0", "p1"} {
				store(h, recordID{producer, partition, number}, partition, 10*number)
			}
		}
	}
	for partition := range int32(2) {
		all := h.Stored[partition]
		h.Sessions = append(h.Sessions,
			&session{Consumer: "a0", Partition: partition, Began: epoch, Records: slices.Clone(all)},
			&session{Consumer: "g0", Group: "g", Partition: partition, Began: epoch, Records: slices.Clone(all[:7])},
			&session{Consumer: "g1", Group: "g", Partition: partition, Began: after(500), Records: slices.Clone(all[5:])})
		h.Commits = append(h.Commits, commit{"g", partition, 5, after(400)})
		h.Views = append(h.Views, view{partition, after(100), after(101), 3, 0, 12}, view{partition, after(200), after(201), -1, 0, 12})
	}
	return h
}

// store sends and acknowledges a record and stores it in a partition.
func store(h *history, id recordID, partition int32, at int) *sent {
	s := &sent{ID: id, Digest: uint64(1000*id.Number) + uint64(id.Partition), At: after(at), Done: after(at + 5), Offset: -1}
	h.Sent[id] = s
	again(h, s, partition)
	if partition == id.Partition {
		s.Offset = h.Ends[partition] - 1
	}
	return s
}

// again stores a record that was sent once more.
func again(h *history, s *sent, partition int32) {
	h.Stored[partition] = append(h.Stored[partition], stored{h.Ends[partition], s.ID, s.Digest})
	h.Ends[partition]++
}

// drop removes a stored record, and what was read of it.
func drop(h *history, partition int32, i int) {
	offset := h.Stored[partition][i].Offset
	gone := func(r stored) bool { return r.Offset == offset }
	h.Stored[partition] = slices.DeleteFunc(h.Stored[partition], gone)
	for _, s := range h.Sessions {
		if s.Partition == partition {
			s.Records = slices.DeleteFunc(s.Records, gone)
		}
	}
}

// readOn lets the assigned consumer and the last group member read what was
// stored after kept was made.
func readOn(h *history) {
	for _, s := range h.Sessions {
		all := h.Stored[s.Partition]
		at, _ := indexOf(all, s.Records[len(s.Records)-1].Offset)
		if s.Consumer != "g0" {
			s.Records = append(s.Records, all[at+1:]...)
		}
	}
}

func swap(h *history, partition int32, i, j int) {
	all := h.Stored[partition]
	all[i], all[j] = all[j], all[i]
	all[i].Offset, all[j].Offset = all[j].Offset, all[i].Offset
	h.Sent[all[i].ID].Offset, h.Sent[all[j].ID].Offset = all[i].Offset, all[j].Offset
	for _, s := range h.Sessions {
		for k := range s.Records {
			if where, found := indexOf(all, s.Records[k].Offset); found && s.Partition == partition {
				s.Records[k] = all[where]
			}
		}
	}
}

func (h *history) find(consumer string, partition int32) *session {
	for _, s := range h.Sessions {
		if s.Consumer == consumer && s.Partition == partition {
			return s
		}
	}
	return nil
}

// cutPlain has the producer of a record not send again, while connections are cut.
func cutPlain(h *history, at int) {
	h.Schedule.Steps = append(h.Schedule.Steps, step{Kind: cutClients})
	h.Schedule.Producers = append(h.Schedule.Producers, producerPlan{Name: h.Stored[0][at].ID.Producer, Kind: plain})
}

// cases are histories with one thing changed, and the rules that it breaks.
var cases = []struct {
	name   string
	change func(h *history)
	rules  []string
}{
	{"nothing", func(*history) {}, nil},
	{"something was wrong at once", func(h *history) { h.Complaints = []string{"a client error"} }, []string{ruleAtOnce}},

	{"an acknowledged record is missing", func(h *history) { drop(h, 0, 3) }, []string{ruleLost}},
	{"a record without an acknowledgement is missing", func(h *history) {
		h.Sent[h.Stored[0][3].ID].Done = time.Time{}
		drop(h, 0, 3)
	}, nil},
	{"a record that nobody sent", func(h *history) { delete(h.Sent, h.Stored[0][3].ID) }, []string{ruleForeign}},
	{"other bytes in DIS", func(h *history) { h.Sent[h.Stored[0][3].ID].Digest++ }, []string{ruleContent}},
	{"an offset one too high", func(h *history) { h.Sent[h.Stored[0][3].ID].Offset++ }, []string{ruleOffset}},
	{"an offset that is not known", func(h *history) { h.Sent[h.Stored[0][3].ID].Offset = -1 }, nil},

	{"two records change places", func(h *history) { swap(h, 0, 4, 6) }, []string{ruleOrder}},
	{"two records change places by a hole", func(h *history) { swap(h, 0, 4, 6); h.Counts[holeRecords] = 1 }, nil},
	{"two holes counted as one", func(h *history) { swap(h, 0, 4, 6); swap(h, 1, 4, 6); h.Counts[holeRecords] = 1 }, []string{ruleOrder}},
	{"records of different producers change places", func(h *history) { swap(h, 0, 4, 5) }, nil},
	{"two records change places where connections are cut", func(h *history) { cutPlain(h, 6); swap(h, 0, 4, 6) }, []string{ruleOrder}},
	{"one on its way over a connection that was cut comes late", func(h *history) {
		cutPlain(h, 6)
		h.Sent[h.Stored[0][4].ID].Done = time.Time{}
		swap(h, 0, 4, 6)
	}, nil},
	{"a repeat comes behind later records", func(h *history) {
		again(h, h.Sent[h.Stored[0][2].ID], 0)
		readOn(h)
		h.Counts[ambiguousRecords] = 1
	}, []string{ruleOrder}},
	{"a scale-down ends a repeat in front of a record that its producer is told was refused", func(h *history) {
		cutShort(h)
		h.Sent[h.Stored[0][10].ID].Done = time.Time{}
	}, nil},
	{"a scale-down ends a repeat in front of a record that goes to another partition", func(h *history) {
		cutShort(h)
		s := h.Sent[h.Stored[0][10].ID]
		again(h, s, 1)
		s.Offset = -1
		readOn(h)
		h.Counts[movedRecords], h.Counts[ambiguousRecords] = 1, 2
	}, nil},
	{"a scale-down ends a repeat in front of a record that is acknowledged", cutShort, []string{ruleOrder}},
	{"a repeat ends in front of a record that its producer is told was refused", func(h *history) {
		cutShort(h)
		h.Schedule.Steps = nil
		h.Sent[h.Stored[0][10].ID].Done = time.Time{}
	}, []string{ruleOrder}},

	{"a repeat that was not counted", func(h *history) {
		again(h, h.Sent[h.Stored[0][10].ID], 0)
		readOn(h)
	}, []string{ruleRepeats}},
	{"a repeat that was counted", func(h *history) {
		again(h, h.Sent[h.Stored[0][10].ID], 0)
		readOn(h)
		h.Counts[ambiguousRecords] = 1
	}, nil},
	{"an exact run with fewer repeats than counted", func(h *history) {
		h.Schedule.Exact = true
		h.Counts[ambiguousRecords] = 1
	}, []string{ruleRepeats}},
	{"a record on its way at a stop is repeated", func(h *history) {
		stopAt(h, 52)
		again(h, h.Sent[h.Stored[0][10].ID], 0)
		readOn(h)
	}, nil},
	{"a record acknowledged before a stop is repeated", func(h *history) {
		stopAt(h, 60)
		again(h, h.Sent[h.Stored[0][10].ID], 0)
		readOn(h)
	}, []string{ruleRepeats}},

	{"a moved record", func(h *history) { move(h); h.Schedule.Steps = []step{{Kind: scaleDown}}; h.Counts[movedRecords] = 1 }, nil},
	{"a moved record that was not counted", func(h *history) { move(h); h.Schedule.Steps = []step{{Kind: scaleDown}} }, []string{ruleMoved}},
	{"a moved record without a scale-down", func(h *history) { move(h); h.Counts[movedRecords] = 1 }, []string{ruleMoved}},
	{"a record counted as moved that was not", func(h *history) {
		h.Schedule.Steps = []step{{Kind: scaleDown}}
		h.Counts[movedRecords] = 1
	}, []string{ruleMoved}},
	{"a moved record with an offset", func(h *history) {
		move(h).Offset = 12
		h.Views = []view{{High: 0}} // later ones would have to show it
		h.Schedule.Steps = []step{{Kind: scaleDown}}
		h.Counts[movedRecords] = 1
	}, []string{ruleOffset, ruleMoved}},

	{"an offset served twice", func(h *history) {
		s := h.find("a0", 1)
		s.Records = slices.Insert(s.Records, 4, s.Records[3])
	}, []string{ruleTwice}},
	{"an assigned consumer goes back", func(h *history) {
		s := h.find("a0", 1)
		s.Records = append(s.Records, s.Records...)
	}, []string{ruleTwice}},
	{"an offset skipped", func(h *history) {
		s := h.find("a0", 1)
		s.Records = slices.Delete(s.Records, 4, 5)
	}, []string{ruleSkipped}},
	{"an assigned consumer begins late", func(h *history) {
		s := h.find("a0", 1)
		s.Records = s.Records[1:]
	}, []string{ruleSkipped}},
	{"an assigned consumer ends early", func(h *history) {
		s := h.find("a0", 1)
		s.Records = s.Records[:11]
	}, []string{ruleSkipped}},
	{"an assigned consumer gets nothing of a partition", func(h *history) {
		h.Sessions = slices.DeleteFunc(h.Sessions, func(s *session) bool { return s.Consumer == "a0" && s.Partition == 1 })
	}, []string{ruleSkipped}},
	{"offsets that DIS left out", func(h *history) {
		h.Sent[h.Stored[1][4].ID].Done = time.Time{}
		drop(h, 1, 4)
	}, nil},
	{"other bytes served", func(h *history) { h.find("a0", 1).Records[4].Digest++ }, []string{ruleServed}},
	{"a record that is not stored", func(h *history) { h.find("a0", 1).Records[11].Offset = 99 }, []string{ruleServed}},
	{"a record served at another offset", func(h *history) { h.find("a0", 1).Records[4].ID = h.Stored[1][5].ID }, []string{ruleServed}},

	{"a member skips within its session", func(h *history) {
		s := h.find("g0", 0)
		s.Records = slices.Delete(s.Records, 2, 3)
	}, []string{ruleSkipped, ruleSkipped}},
	{"the next member begins too late", func(h *history) {
		s := h.find("g1", 0)
		s.Records = s.Records[3:]
	}, []string{ruleSkipped}},
	{"the next member begins before the commit", func(h *history) {
		s := h.find("g1", 0)
		s.Records = slices.Clone(h.Stored[0][4:])
	}, []string{ruleReplayed}},

	{"a high watermark above the end", func(h *history) { h.Views[0].High = 13; h.Views[1].High = 13 }, []string{ruleHigh, ruleHigh}},
	{"no high watermark", func(h *history) { h.Views = nil }, []string{ruleHigh}},
	{"a high watermark that goes back", func(h *history) { h.Views[1].High = 12; h.Views[1].High-- }, []string{ruleHigh, ruleHigh}},
	{"a high watermark below what was acknowledged", func(h *history) { h.Views[0].High = 11 }, []string{ruleHigh}},
	{"a high watermark that was lower in another life", func(h *history) {
		h.Lives = []life{{Began: epoch, Stopping: after(150), Ended: after(160)}, {Began: after(170)}}
		h.Views[1].High = 11
	}, nil},
	{"out of range at an offset that exists", func(h *history) { h.Views[1].Offset, h.Views[1].Code, h.Views[1].High = 12, 1, -1 }, []string{ruleRange}},
	{"out of range beyond the end", func(h *history) { h.Views[1].Offset, h.Views[1].Code, h.Views[1].High = 13, 1, -1 }, nil},
}

// stopAt lets a gateway stop for 10 ms and another go on.
func stopAt(h *history, at int) {
	h.Schedule.Steps = []step{{Kind: killGateway}}
	h.Lives = []life{{Began: epoch, Stopping: after(at), Ended: after(at + 10)}, {Began: after(at + 20)}}
}

// cutShort repeats the last record but one of a producer in partition 0, in the time of
// a scale-down.
func cutShort(h *history) {
	again(h, h.Sent[h.Stored[0][8].ID], 0)
	readOn(h)
	h.Counts[ambiguousRecords] = 1
	h.Schedule.Steps = []step{{Kind: scaleDown}}
}

// move writes a record for partition 0 to partition 1, and everyone reads it.
func move(h *history) *sent {
	s := store(h, recordID{"p0", 0, 6}, 1, 60)
	readOn(h)
	return s
}

// TestEveryViolationIsSeen: the verifier finds what was made wrong, and that only.
func TestEveryViolationIsSeen(t *testing.T) {
	broken := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := kept()
			c.change(h)
			var rules []string
			for _, v := range verify(h) {
				rules = append(rules, v.Rule)
				broken[v.Rule] = true
			}
			if !slices.Equal(rules, c.rules) {
				t.Errorf("found %q, want %q:\n%v", rules, c.rules, verify(h))
			}
		})
	}
	for _, rule := range []string{
		ruleAtOnce, ruleLost, ruleForeign, ruleContent, ruleOffset, ruleOrder, ruleRepeats, ruleMoved,
		ruleTwice, ruleSkipped, ruleServed, ruleReplayed, ruleHigh, ruleRange,
	} {
		if !broken[rule] {
			t.Errorf("no case breaks the rule %q", rule)
		}
	}
}

func TestOutOfOrder(t *testing.T) {
	for _, c := range []struct {
		numbers []int
		want    int
	}{
		{nil, 0},
		{[]int{0, 1, 2, 5}, 0},
		{[]int{0, 1, 3, 4, 2, 5}, 1},             // a hole
		{[]int{0, 1, 2, 0, 1, 2, 3}, 0},          // sent again in order
		{[]int{0, 1, 3, 0, 1, 2, 3}, 0},          // sent again, the first time with a hole
		{[]int{5, 6, 7, 8, 0, 1, 2, 3, 4, 9}, 4}, // sent again behind later ones
	} {
		if got := outOfOrder(c.numbers); got != c.want {
			t.Errorf("outOfOrder(%v) = %d, want %d", c.numbers, got, c.want)
		}
	}
}
