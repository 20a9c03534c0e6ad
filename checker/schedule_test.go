package main

import (
	"fmt"
	"slices"
	"testing"
)

// TestScheduleIsAFunctionOfTheSeed: a seed can be replayed.
func TestScheduleIsAFunctionOfTheSeed(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(200) {
		one, other := newSchedule(seed, allKinds), newSchedule(seed, allKinds)
		if one.String() != other.String() || fmt.Sprint(one) != fmt.Sprint(other) {
			t.Fatalf("seed %d gave two schedules:\n%s%s", seed, one.String(), other.String())
		}
		one.Seed = 0
		if before, known := seen[fmt.Sprint(one)]; known {
			t.Errorf("seeds %d and %d have the same schedule", before, seed)
		}
		seen[fmt.Sprint(one)] = seed
	}
	backwards := slices.Clone(allKinds)
	slices.Reverse(backwards)
	one, other := newSchedule(7, allKinds), newSchedule(7, backwards)
	if fmt.Sprint(one) != fmt.Sprint(other) {
		t.Error("the order in which kinds are named changes the schedule")
	}
}

// TestSchedulesHoldEveryKind: what the fixed seeds of .ci/run plan has every kind
// of trouble in it, and a schedule has no other kinds than were asked for.
func TestSchedulesHoldEveryKind(t *testing.T) {
	planned := map[string]int{}
	exact := 0
	for seed := range uint64(12) {
		s := newSchedule(seed+1, allKinds)
		if s.Exact {
			exact++
		}
		for _, kind := range kindsOf(&s) {
			planned[kind]++
			if s.Exact && !slices.Contains(exactKinds, kind) {
				t.Errorf("seed %d is exact and has %s", s.Seed, kind)
			}
		}
	}
	for _, kind := range allKinds {
		if planned[kind] == 0 {
			t.Errorf("no seed plans %s", kind)
		}
	}
	if exact == 0 {
		t.Error("no seed is exact")
	}
	for seed := range uint64(50) {
		s := newSchedule(seed, []string{"hole", killDIS})
		for _, kind := range kindsOf(&s) {
			if kind != "hole" && kind != killDIS {
				t.Errorf("seed %d plans %s", seed, kind)
			}
		}
	}
}

func kindsOf(s *schedule) (kinds []string) {
	for _, p := range s.Steps {
		if p.Kind != setFaults {
			kinds = append(kinds, p.Kind)
		}
		for _, f := range p.Faults.Faults {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}
