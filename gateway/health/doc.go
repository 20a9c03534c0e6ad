// Package health tells of what use the gateway is at the moment: whether it should get
// clients, and what of their requests DIS does not take.
//
// It learns that from the calls of DIS that the gateway makes anyway. A failed one
// concerns every call, those for a stream, or nobody but who asked; translate.ScopeOf
// decides it, for this package and for what the other parts log.
//
//   - Every call: when several have failed in a row, DIS is away, or refuses the gateway
//     as a whole. The gateway is not ready, and asks DIS itself until it answers. That is
//     one line of the log and one for its end, however many requests fail meanwhile.
//   - A stream: when DIS has taken no write, no read or no commit of it for 30 s, while
//     it is there otherwise, the gateway is degraded. It stays ready for what works, and
//     one line of the log, a metric, /readyz and the status page say what does not.
//   - Who asked: that says nothing of health. The client gets the error, and DIS is there.
//
// Whoever drains the gateway makes it not ready too, whatever DIS does.
//
// Order of locks: refusals, then readiness. The others are never held together.
package health
