//go:build race

package produce

import "runtime"

// Timers of a synctest bubble that fire on two processors at once make the race
// detector abort the process (golang/go#78156), in one of six runs of package
// groupcoord. With one processor they cannot, and the detector, which goes by
// what happened before what, sees as much.
func init() { runtime.GOMAXPROCS(1) }
