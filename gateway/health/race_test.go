//go:build race

package health

import "runtime"

// Timers of a synctest bubble that fire on two processors at once make the race
// detector abort the process (golang/go#78156), see package gateway.
func init() { runtime.GOMAXPROCS(1) }
