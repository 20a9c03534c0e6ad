package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// How much is printed of the evidence; all of it is in the files.
const (
	excerptRules = 4   // whose first violation gets an excerpt
	excerptLines = 10  // of the history, and of the gateways' logs, for each
	excerptEach  = 5   // of the history for one of the names
	excerptWidth = 400 // bytes of a line
	// around is how far from an event of the history a line of the log may be: the
	// log's times are in milliseconds, and clients take a moment themselves.
	around = 50 * time.Millisecond
)

// named finds the records and places in the message of a violation, by which the
// evidence is searched.
var named = regexp.MustCompile(`\b\w+/\d+/\d+\b|\b\d+@\d+\b`)

// mentioned are events that name what a message names, some of the first names each,
// and what was done to the run just before and after them.
func mentioned(message string, events []event) []event {
	var names []string
	at := map[string][]int{} // where in events
	for _, name := range named.FindAllString(message, -1) {
		if _, again := at[name]; !again {
			names, at[name] = append(names, name), nil
		}
	}
	for i := range events {
		for _, name := range named.FindAllString(events[i].text, -1) {
			if known, wanted := at[name]; wanted && len(known) < excerptEach {
				at[name] = append(known, i)
			}
		}
	}
	var chosen []int
	for _, name := range names {
		for _, i := range at[name] {
			if len(chosen) < excerptLines && !slices.Contains(chosen, i) {
				chosen = append(chosen, i)
			}
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	slices.Sort(chosen)
	var found []event
	for _, i := range withSurroundings(chosen, events) {
		found = append(found, events[i])
	}
	return found
}

// withSurroundings adds the last event of the run itself before the chosen ones and
// the first one after them.
func withSurroundings(chosen []int, events []event) []int {
	ofRun := func(e event) bool { return e.who == "" }
	for i := chosen[0] - 1; i >= 0; i-- {
		if ofRun(events[i]) {
			chosen = slices.Insert(chosen, 0, i)
			break
		}
	}
	last := chosen[len(chosen)-1] + 1
	if i := slices.IndexFunc(events[last:], ofRun); i >= 0 {
		chosen = append(chosen, last+i)
	}
	return chosen
}

// logLine is a line of a gateway's log.
type logLine struct {
	where string // file and number
	text  string

	At       time.Time `json:"time"`
	Level    string    `json:"level"`
	ClientID string    `json:"client_id"`
	Request  string    `json:"request"`
	Requests []string  `json:"requests"`
	number   int       // among all lines
	call     bool      // of DIS
	distance time.Duration
}

// file is that of one gateway: each counts its connections, and so names its requests,
// from 1.
func (l logLine) file() string {
	file, _, _ := strings.Cut(l.where, ":")
	return file + ":"
}

// readLogs reads the logs of the gateways in a folder. Lines that are no JSON, of a
// crash, are the checker's complaints already.
func readLogs(dir string) (all []logLine, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "gateway-*.log"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<20)
		for number := 1; lines.Scan(); number++ {
			l := logLine{number: len(all), where: fmt.Sprintf("%s:%d", filepath.Base(name), number), text: lines.Text()}
			if json.Unmarshal(lines.Bytes(), &l) == nil {
				l.call = strings.Contains(l.text, `"operation":`)
				all = append(all, l)
			}
		}
		if err := lines.Err(); err != nil {
			_ = file.Close() // it was only read
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		_ = file.Close()
	}
	return all, nil
}

// related are the lines nearest to events: replies to the clients of the events,
// trouble, and the calls of DIS made for those replies.
func related(lines []logLine, events []event) []logLine {
	var near []logLine
	for _, l := range lines {
		l.distance = around
		for _, e := range events {
			if l.Level != "debug" || e.who != "" && l.ClientID == e.who {
				l.distance = min(l.distance, l.At.Sub(e.at).Abs())
			}
		}
		if l.distance < around {
			near = append(near, l)
		}
	}
	near = nearest(near, excerptLines*2/3)
	requests := map[string]bool{}
	for _, l := range near {
		if l.Request != "" {
			requests[l.file()+l.Request] = true
		}
	}
	calls := slices.DeleteFunc(slices.Clone(lines), func(l logLine) bool {
		return !l.call || !slices.ContainsFunc(append(l.Requests, l.Request), func(r string) bool { return requests[l.file()+r] })
	})
	chosen := map[string]logLine{}
	for _, l := range slices.Concat(near, calls[:min(len(calls), excerptLines-len(near))]) {
		chosen[l.where] = l
	}
	return slices.SortedFunc(maps.Values(chosen), func(a, b logLine) int {
		return cmp.Compare(a.number, b.number)
	})
}

func nearest(lines []logLine, most int) []logLine {
	slices.SortStableFunc(lines, func(a, b logLine) int { return cmp.Compare(a.distance, b.distance) })
	return lines[:min(len(lines), most)]
}

// excerpt is what the evidence says of what a message names: lines of the history,
// and lines of the gateways' logs at their times. Where a message names nothing it
// is the end of both.
func excerpt(message string, events []event, lines []logLine) string {
	found := mentioned(message, events)
	var logs []logLine
	if len(found) == 0 {
		found = events[max(0, len(events)-excerptLines):]
		loud := slices.DeleteFunc(slices.Clone(lines), func(l logLine) bool { return l.Level == "debug" })
		logs = loud[max(0, len(loud)-excerptLines):]
	} else {
		logs = related(lines, found)
	}
	var b strings.Builder
	for _, e := range found {
		fmt.Fprintf(&b, "    %s: %.*s\n", historyFile, excerptWidth, e.line(events[0].at))
	}
	for _, l := range logs {
		fmt.Fprintf(&b, "    %s: %.*s\n", l.where, excerptWidth, l.text)
	}
	return b.String()
}
