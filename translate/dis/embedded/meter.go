package embedded

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// counter is one of the numbers that are kept per minute.
type counter int

const (
	countPutBytes counter = iota
	countPutRecords
	countPutRequests  // that were answered with 200
	countPutMicros    // spent on them
	countPutThrottled // requests with a record that was refused
	countGetBytes
	countGetRecords
	countGetRequests
	countGetMicros
	countGetThrottled
	counters
)

// counts are the numbers of one minute.
type counts [counters]int64

func (c *counts) add(more *counts) {
	for i := range c {
		c[i] += more[i]
	}
}

// minuteCounts are the counts of the minute that begins at a multiple of 60
// seconds since the Unix epoch.
type minuteCounts struct {
	minute int64
	counts counts
}

// meter counts what happens in a stream or a partition. It holds the minutes
// that are not in the store yet: two or three, since they are stored every
// minute.
type meter struct {
	mu      sync.Mutex
	minutes []minuteCounts // ascending
}

func minuteOf(ms int64) int64 { return ms / time.Minute.Milliseconds() }

func (m *meter) add(ms int64, more *counts) {
	minute := minuteOf(ms)
	m.mu.Lock()
	defer m.mu.Unlock()
	at, found := m.find(minute)
	if !found {
		m.minutes = slices.Insert(m.minutes, at, minuteCounts{minute: minute})
	}
	m.minutes[at].counts.add(more)
}

func (m *meter) find(minute int64) (int, bool) {
	return slices.BinarySearchFunc(m.minutes, minute, func(c minuteCounts, minute int64) int { return int(c.minute - minute) })
}

// before copies the minutes before a given one.
func (m *meter) before(minute int64) []minuteCounts {
	m.mu.Lock()
	defer m.mu.Unlock()
	end, _ := m.find(minute)
	return slices.Clone(m.minutes[:end])
}

// drop forgets counts that were copied before and are stored now.
func (m *meter) drop(stored []minuteCounts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range stored {
		at, found := m.find(s.minute)
		if !found {
			continue
		}
		left := &m.minutes[at].counts
		for i := range left {
			left[i] -= s.counts[i]
		}
		if *left == (counts{}) {
			m.minutes = slices.Delete(m.minutes, at, at+1)
		}
	}
	if len(m.minutes) == 0 {
		m.minutes = nil
	}
}

func (c *counts) encode() []byte {
	var value []byte
	for _, n := range c {
		value = binary.AppendUvarint(value, uint64(n))
	}
	return value
}

// decodeCounts reads what encode wrote; a version with more counters may have
// written more.
func decodeCounts(value []byte) (c counts, ok bool) {
	for i := range c {
		n, size := binary.Uvarint(value)
		if size <= 0 {
			return counts{}, false
		}
		c[i], value = int64(n), value[size:]
	}
	return c, true
}
