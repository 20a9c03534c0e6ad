package harmless

import "testing"

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"two\n  lines\tand\r\nmore ":     "two lines and more",
		"\x1b[2J\x1b]0;owned\a":          "\ufffd[2J\ufffd]0;owned\ufffd",
		"\u009b31m \u202ekcab \x7f":      "\ufffd31m \ufffdkcab \ufffd",
		"not \xff UTF-8":                 "not \ufffd UTF-8",
		"größe ≤ 1 MiB: “as it is” 流…":   "größe ≤ 1 MiB: “as it is” 流…",
		"nothing follows a zero\x00byte": "nothing follows a zero\ufffdbyte",
	} {
		if got := OneLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
