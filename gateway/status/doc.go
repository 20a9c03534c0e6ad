// Package status is the page on which an operator sees at one glance whether the
// gateway works: who is connected, what the topics carry, how far the groups are
// behind, and what DIS refused last.
//
// It shows what is in memory anyway and never asks DIS. However many people look,
// the state is gathered once a second at most, and no list is longer than
// maxShown. The page loads nothing but its own style and script, from the same
// address, and works without the script. Names that come from clients are text
// wherever they are shown, and what could make text look like something else,
// control and direction characters, is replaced.
package status
