package groupcoord

import (
	"context"
	"sync/atomic"
	"time"
)

// Owners decides which gateway coordinates a group.
type Owners interface {
	// Acquire makes this gateway the owner of the group, or tells who is.
	// It may be called again for a group that is already owned.
	Acquire(ctx context.Context, group string) (Lease, error)
}

// Lease is the right to coordinate one group for a while.
type Lease struct {
	// Owner is the address of the gateway that owns the group; "" is this one.
	// The other fields matter only then.
	Owner string
	// Token grows with every change of owner; [Store] refuses older ones.
	Token int64
	// Deadline tells when the lease ends unless it is renewed; it moves as
	// renewals succeed. Nil or a zero time: never.
	Deadline func() time.Time
	// Lost is closed when the lease has ended or was taken. Nil: never.
	Lost <-chan struct{}
	// Release gives the lease back; called once, when the group goes out of
	// memory. Nil if there is nothing to do.
	Release func()
}

// outlives reports whether the lease is good until at least t.
func (l Lease) outlives(t time.Time) bool {
	if l.Deadline == nil {
		return true
	}
	end := l.Deadline()
	return end.IsZero() || end.After(t)
}

// LocalOwners is [Owners] for a single gateway: it owns every group for ever.
// The zero value is ready for use.
type LocalOwners struct {
	tokens atomic.Int64
}

var _ Owners = (*LocalOwners)(nil)

// Acquire implements [Owners].
func (o *LocalOwners) Acquire(context.Context, string) (Lease, error) {
	return Lease{Token: o.tokens.Add(1)}, nil
}
