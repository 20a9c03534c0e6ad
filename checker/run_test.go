package main

import (
	"path/filepath"
	"testing"
)

// TestASeed runs an exact seed and one with every event: the promises are kept,
// and the checker gets to the end.
func TestASeed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes and takes 20 s")
	}
	dir := t.TempDir()
	binary, err := build(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{4, 6} {
		t.Run(settings{kinds: allKinds}.replay(seed), func(t *testing.T) {
			t.Parallel()
			plan, out, err := runIn(settings{kinds: allKinds, binary: binary}, seed, filepath.Join(dir, t.Name()))
			if err != nil {
				t.Fatalf("%v\n%s", err, plan.String())
			}
			for _, v := range verify(out.history) {
				t.Errorf("violation: %v", v)
			}
			if t.Failed() {
				t.Log(plan.String())
			}
			if out.history.acknowledged() == 0 || out.history.served() == 0 || len(out.hits) == 0 {
				t.Errorf("nothing was tested: %s", out.history.summary())
			}
		})
	}
}
