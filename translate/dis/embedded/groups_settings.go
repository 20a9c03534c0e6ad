package embedded

import (
	"cmp"
	"fmt"
	"time"
)

const (
	defaultSyncDelay      = 100 * time.Millisecond
	defaultSessionTimeout = 30 * time.Second

	// defaultRebalanceTimeout is that of the Kafka adapter, for members that
	// name none.
	defaultRebalanceTimeout = 20 * time.Second
	maxRebalanceTimeout     = 30 * time.Minute
)

// GroupSettings shape the group coordinator that the Kafka adapter's consumers
// use. The times of the service are not documented.
type GroupSettings struct {
	// SyncDelay is how long a rebalance waits for further members at least,
	// counted from the join or change that started it; the members sleep that
	// long. 0 means 100 ms. The service is said to take about 20 s.
	SyncDelay time.Duration
	// SessionTimeout is how long a member may be silent before its partitions
	// are given to others. 0 means 30 s: three of the adapter's heartbeats.
	// It must be longer than SyncDelay.
	SessionTimeout time.Duration
}

func (g GroupSettings) withDefaults() GroupSettings {
	g.SyncDelay = cmp.Or(g.SyncDelay, defaultSyncDelay)
	g.SessionTimeout = cmp.Or(g.SessionTimeout, defaultSessionTimeout)
	return g
}

func (g GroupSettings) mistakes() (mistakes []error) {
	if g.SyncDelay < 0 {
		mistakes = append(mistakes, fmt.Errorf("Groups.SyncDelay %v is negative", g.SyncDelay))
	}
	if g.SessionTimeout <= g.SyncDelay {
		mistakes = append(mistakes, fmt.Errorf("Groups.SessionTimeout %v: want more than Groups.SyncDelay, %v",
			g.SessionTimeout, g.SyncDelay))
	}
	return mistakes
}
