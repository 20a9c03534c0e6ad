package main

import (
	"fmt"
	"slices"
	"strings"
)

// The kinds of trouble that are not faults of the DIS itself.
const (
	killDIS        = "kill-dis"        // kill -9, started again on its data
	restartDIS     = "restart-dis"     // SIGTERM, started again
	killGateway    = "kill-gateway"    // kill -9, another takes its place
	restartGateway = "restart-gateway" // SIGTERM, another takes its place
	cutClients     = "cut-clients"     // every connection of clients is reset
	cutDIS         = "cut-dis"         // every connection from the gateway to DIS is reset
	scaleUp        = "scale-up"
	scaleDown      = "scale-down"
)

// disFaults are the faults of docs/embedded-dis.md but forbidden, which clients are
// right to give up on.
var disFaults = []string{
	"latency", "error-5xx", "error-429", "throttle", "throttle-suffix", "hole", "lost-reply",
	"expired-cursors", "sequence-gaps", "stale-end", "empty-reads",
}

var events = []string{killDIS, restartDIS, killGateway, restartGateway, cutClients, cutDIS, scaleUp, scaleDown}

var allKinds = slices.Concat(disFaults, events)

// reads are the calls whose failure leaves no doubt about records.
var reads = []string{"GetRecords", "GetCursor", "DescribeStream", "ListStreams"}

// exactKinds are those under which every record that the gateway counts as sent
// again after an unknown outcome really was stored the first time: only then
// does the count tell how many repeats there are, and not just how many there
// may be. A write that is answered with 5xx is in doubt too, though the DIS here
// never stores it; in these runs only reads are.
var exactKinds = []string{
	"latency", "error-5xx", "error-429", "throttle", "lost-reply", "expired-cursors", "sequence-gaps", "stale-end", "empty-reads", cutClients,
}

// parseKinds reads -kinds; "" is all.
func parseKinds(text string) ([]string, error) {
	if text == "" {
		return allKinds, nil
	}
	kinds := strings.Split(text, ",")
	for _, kind := range kinds {
		if !slices.Contains(allKinds, kind) {
			return nil, fmt.Errorf("-kinds: %q is none of %s", kind, strings.Join(allKinds, ", "))
		}
	}
	return kinds, nil
}

// inOrder gives the kinds in the order of allKinds, each once: a schedule depends
// on which kinds were asked for, not on how they were written.
func inOrder(kinds []string) []string {
	var ordered []string
	for _, kind := range allKinds {
		if slices.Contains(kinds, kind) {
			ordered = append(ordered, kind)
		}
	}
	return ordered
}
