package embedded

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// faults are the faults in force. Each draws from a random sequence of its own,
// so that one does not change what another hits.
type faults struct {
	mu      sync.Mutex
	plan    FaultPlan
	randoms []*rand.Rand
}

// newFaults is nil, which is valid and hits nothing, when faults are not enabled.
func newFaults(plan *FaultPlan) *faults {
	if plan == nil {
		return nil
	}
	f := &faults{}
	f.set(*plan)
	return f
}

func (f *faults) set(plan FaultPlan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = FaultPlan{Seed: plan.Seed, Faults: append([]Fault{}, plan.Faults...)}
	f.randoms = make([]*rand.Rand, len(f.plan.Faults))
	for i := range f.randoms {
		f.plan.Faults[i].Hits = 0
		f.randoms[i] = rand.New(rand.NewPCG(plan.Seed, uint64(i)))
	}
}

func (f *faults) get() FaultPlan {
	f.mu.Lock()
	defer f.mu.Unlock()
	return FaultPlan{Seed: f.plan.Seed, Faults: slices.Clone(f.plan.Faults)}
}

// hit decides whether a fault of a kind hits an operation, and counts it. It is
// asked only where the fault would change something.
func (f *faults) hit(kind FaultKind, operation string) (fault Fault, hit bool) {
	return f.hitAbove(kind, operation, math.MaxInt)
}

// hitAbove passes over faults that begin at a number of records or behind it.
func (f *faults) hitAbove(kind FaultKind, operation string, records int) (fault Fault, hit bool) {
	if f == nil {
		return Fault{}, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.plan.Faults {
		one := &f.plan.Faults[i]
		if one.Kind != kind || one.From >= records || !one.concerns(operation) {
			continue
		}
		if one.Probability == 0 || f.randoms[i].Float64() < one.Probability {
			one.Hits++
			return *one, true
		}
	}
	return Fault{}, false
}

// concerns reports whether the fault can still hit, and hits the operation.
func (f *Fault) concerns(operation string) bool {
	return (f.Count == 0 || f.Hits < f.Count) &&
		(len(f.Operations) == 0 || slices.Contains(f.Operations, operation))
}
