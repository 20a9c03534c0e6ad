package wire

import (
	"encoding/json"
	"testing"
)

func TestTextAcceptsNumbers(t *testing.T) {
	for input, want := range map[string]Text{
		`"12"`: "12", `12`: "12", `9223372036854775808`: "9223372036854775808", `-1`: "-1", `null`: "", `""`: "", `"a\"b"`: `a"b`,
	} {
		got := Text("before")
		if err := json.Unmarshal([]byte(input), &got); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", input, got, err, want)
		}
	}
	for _, input := range []string{`true`, `{}`, `[]`} {
		if err := json.Unmarshal([]byte(input), new(Text)); err == nil {
			t.Errorf("%s: want an error", input)
		}
	}
}

func TestRecordRetriable(t *testing.T) {
	for code, want := range map[string]bool{
		"DIS.4303": true, "DIS.5000": true, "DIS.5250": true,
		"": false, "DIS.5": false, "DIS.4302": false, "DIS.4305": false, "DIS.4116": false, "XDIS.5250": false,
	} {
		if got := RecordRetriable(code); got != want {
			t.Errorf("%q: %t, want %t", code, got, want)
		}
	}
}
