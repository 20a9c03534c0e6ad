package main

import (
	"bytes"
	"os"
	"testing"
)

// TestASeed runs an exact seed and one with every event: the promises are kept, the
// checker gets to the end, and leaves nothing behind.
func TestASeed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes and takes 20 s")
	}
	binary, err := build(t.TempDir(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{4, 6} {
		t.Run(settings{kinds: allKinds}.replay(seed), func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			r := newReport(t, settings{kinds: allKinds, binary: binary, logLevel: "debug"}, &out)
			r.run(seed)
			if err := r.finish(); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
			if r.totals.acknowledged == 0 || r.totals.served == 0 || len(r.hits) == 0 {
				t.Errorf("nothing was tested:\n%s", out.String())
			}
			for _, dir := range []string{r.evidence.dir, r.dir} {
				left, err := os.ReadDir(dir)
				if err != nil || len(left) > 0 {
					t.Errorf("%v left in %s, %v", left, dir, err)
				}
			}
		})
	}
}

// newReport keeps its evidence in a folder of the test.
func newReport(t *testing.T, s settings, out *bytes.Buffer) *report {
	keeping, err := newEvidence(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &report{settings: s, dir: t.TempDir(), out: out, evidence: keeping, hits: map[string]int{}}
}
