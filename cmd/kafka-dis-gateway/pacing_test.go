package main

import (
	"strings"
	"testing"
)

func TestPacing(t *testing.T) {
	for text, want := range map[string]float64{"documented": 1, "off": 0, "50%": 0.5, "12.5%": 0.125, "200%": 2} {
		if got, err := parsePacing(text); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "on", "50", "%", "0%", "-5%", "1001%", "NaN%", "Inf%"} {
		if got, err := parsePacing(text); err == nil || !strings.Contains(err.Error(), "documented, off, or a percentage") {
			t.Errorf("%q: %v, %v; want a refusal that names what is allowed", text, got, err)
		}
	}
}

// TestPacingFollowsTheEmbeddedDIS: without limits there is nothing to keep to.
func TestPacingFollowsTheEmbeddedDIS(t *testing.T) {
	for _, test := range []struct {
		args []string
		want float64
	}{
		{nil, 0},
		{[]string{"--dis-limits", "documented"}, 1},
		{[]string{"--dis-limits", "documented", "--pacing", "off"}, 0},
		{[]string{"--pacing", "50%"}, 0.5},
	} {
		d, mistakes := parseDev(t, test.args...)
		if mistakes != nil || d.pacing != test.want {
			t.Errorf("dev %v: pacing %v, %v; want %v", test.args, d.pacing, mistakes, test.want)
		}
	}
	if _, mistakes := parseDev(t, "--pacing", "fast"); len(mistakes) != 1 || !strings.Contains(mistakes[0], `--pacing: "fast" is not allowed`) {
		t.Errorf("mistakes %q", mistakes)
	}
}
