package fetch

import "github.com/kafka-dis-gateway/kafka-dis-gateway/translate"

// tells reports whether a failure is news for who reads the log: that of one stream
// or partition is; of an outage, which every one of them will notice, the first is.
func (e *Engine) tells(err error) bool {
	return translate.ScopeOf(err) != translate.ScopeAll || !e.away.Swap(true)
}
