package oracle

import (
	"fmt"
	"strings"
)

// names gives what differs from run to run a name that does not.
type names struct {
	hidden  []string // pairs for a strings.Replacer
	aliases map[string]string
	counts  map[string]int
}

func newNames() *names {
	return &names{aliases: map[string]string{}, counts: map[string]int{}}
}

// hide replaces text wherever it is shown.
func (n *names) hide(text, by string) { n.hidden = append(n.hidden, text, by) }

func (n *names) clean(text string) string { return strings.NewReplacer(n.hidden...).Replace(text) }

// alias is the name of a value, which is the next of its kind when it is new.
func (n *names) alias(kind, value string) string {
	name, known := n.aliases[kind+value]
	if !known {
		n.counts[kind]++
		name = fmt.Sprintf("%s%d", kind, n.counts[kind])
		n.aliases[kind+value] = name
	}
	return name
}

// call gives a value of a kind a name before it is seen.
func (n *names) call(kind, value, name string) { n.aliases[kind+value] = name }

// The kinds of values that are shown by aliases.
const (
	kindMember   = "M"
	kindProducer = "P"
	kindTopic    = "T"
	kindCluster  = "cluster"
	kindSession  = "session"
	kindPort     = "port"
)
