package topics

import (
	"slices"
	"time"
)

// sharedPerRefresh is how many of the streams that are known by their id alone are
// described again at each refresh, those first that were not for the longest time.
// No list shows a change of them, so a describe of each has to.
const sharedPerRefresh = 8

// applyShared names the streams to describe of those that the list cannot show,
// since they belong to another account, and adds their topics to the listed ones.
func (c *cache) applyShared(listed map[string]bool, started int64, now time.Time, reach scope, describeEvery time.Duration) (due []string) {
	var again []string
	for _, alias := range c.aliases.ByID() {
		name, e := alias.Topic, c.entry(alias.Topic)
		if listed[name] { // it is one of this project
			continue
		}
		listed[name] = true
		e.listing = listing{streamID: alias.Stream.ID}
		switch {
		case e.described >= started:
		case !reach.all && now.Sub(e.used) > describeEvery: // whoever asks for it gets it described
			e.invalidated = c.tick()
		case e.described == 0, e.invalidated > e.described:
			due = append(due, name)
		default:
			again = append(again, name)
		}
	}
	slices.SortFunc(again, func(a, b string) int { return c.entries[a].checked.Compare(c.entries[b].checked) })
	return append(due, again[:min(len(again), sharedPerRefresh)]...)
}
