package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// crowd are the members of many groups of the same size, all connected.
type crowd struct {
	groups [][]*member
}

// gatherCrowd connects the members, who have found their coordinators but not
// joined. The names are of this crowd alone.
func gatherCrowd(address, name string, groups, size int) (*crowd, error) {
	c := &crowd{}
	for i := range groups {
		group := &memberGroup{name: fmt.Sprintf("%s-%d", name, i), size: size}
		var members []*member
		for range size {
			m, err := newMember(address, group)
			if m != nil {
				members = append(members, m)
			}
			if err != nil {
				c.groups = append(c.groups, members)
				return c, errors.Join(err, c.hangUp())
			}
		}
		c.groups = append(c.groups, members)
		if err := members[0].findCoordinator(); err != nil {
			return c, errors.Join(fmt.Errorf("group %s: %w", group.name, err), c.hangUp())
		}
	}
	return c, nil
}

func (c *crowd) hangUp() error {
	return c.everybody(func(m *member) error { return m.Close() })
}

// everybody has all members do something at the same time.
func (c *crowd) everybody(do func(*member) error) error {
	var all errgroup.Group
	for _, group := range c.groups {
		for _, m := range group {
			all.Go(func() error { return do(m) })
		}
	}
	return all.Wait()
}

// assemble has all groups come together at once.
func (c *crowd) assemble() error { return c.everybody((*member).assemble) }

// assembleInTurn has one group come together after the other, each all at once.
// It returns how long each took.
func (c *crowd) assembleInTurn() (took []time.Duration, err error) {
	for i := range c.groups {
		one := crowd{c.groups[i : i+1]}
		begin := time.Now()
		if err := one.assemble(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
	}
	return took, nil
}

// leave ends all memberships.
func (c *crowd) leave() error { return c.everybody((*member).leave) }

// beat has every member send a heartbeat each interval, evenly spread, for so
// many intervals. It returns the times until the answers.
func (c *crowd) beat(interval time.Duration, intervals int) (took []time.Duration, err error) {
	var mu sync.Mutex
	begin := time.Now()
	err = c.everybody(func(m *member) error {
		mine := make([]time.Duration, 0, intervals)
		next := begin.Add(rand.N(interval))
		for range intervals {
			time.Sleep(time.Until(next))
			next = next.Add(interval)
			sent := time.Now()
			code, err := m.sendBeat()
			if err != nil || code != 0 {
				return fmt.Errorf("heartbeat of member %s: code %d, %w", m.id, code, err)
			}
			mine = append(mine, time.Since(sent))
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, mine...)
		return nil
	})
	return took, err
}
