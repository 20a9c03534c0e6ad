package produce

import (
	"sync"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// maxRequestRecords is how many records one PutRecords carries: the API names no
// limit, the Java SDK never sends more.
const maxRequestRecords = 1000

// item says which record of which batch stands at a place of a chunk.
type item struct {
	batch *pending
	index int
}

// chunk is what a writer wants to store next: records of one partition in their
// order. The writer owns it, except while it waits in stream.put.
type chunk struct {
	writer    *partition
	partition wire.Text
	items     []item
	records   []wire.PutRecord // parallel to items
	bytes     int              // data of all records

	// Where the pointers of records[i] point to.
	keys   [maxRequestRecords]string
	stamps [maxRequestRecords]int64

	sending int  // how many of the first items the running request carries
	alone   bool // not to be joined with other partitions
	outcome chan outcome
}

// outcome is what became of a request, as far as one chunk is concerned.
type outcome struct {
	results []wire.PutResult // one for each record sent
	err     error
	shared  bool            // the request carried other partitions too
	settled *sync.WaitGroup // has one for each writer of the request; nil when there was none
}

// awaitOthers waits for the other writers of the request. None goes on before all have
// settled theirs, which may lead to a hold for all.
func (o outcome) awaitOthers() {
	if o.settled != nil {
		o.settled.Done()
		o.settled.Wait()
	}
}

var chunks = sync.Pool{New: func() any {
	return &chunk{
		items:   make([]item, 0, maxRequestRecords),
		records: make([]wire.PutRecord, 0, maxRequestRecords),
	}
}}

func (c *chunk) empty() bool { return len(c.items) == 0 }

// room is how much a chunk may hold.
type room struct{ records, bytes int }

// fits reports whether a record of the size may join the chunk. The first one
// always may.
func (c *chunk) fits(bytes int, r room) bool {
	return c.empty() || (len(c.items) < r.records && c.bytes+bytes <= r.bytes)
}

func (c *chunk) add(b *pending, e *record.Stored) {
	at := len(c.items)
	c.items = append(c.items, item{b, b.encoded})
	c.records = append(c.records, wire.PutRecord{Data: e.Data, PartitionID: c.partition})
	c.stamps[at] = e.Timestamp
	c.records[at].Timestamp = &c.stamps[at]
	if e.HasKey {
		c.keys[at] = e.PartitionKey
		c.records[at].PartitionKey = &c.keys[at]
	}
	c.bytes += len(e.Data)
}

// take moves records of an open batch into the chunk until one of the two is
// done. It passes over those that DIS has from an earlier try.
func (c *chunk) take(b *pending, r room) {
	var next record.Record
	for b.encoded < b.count {
		if !b.hasSpare {
			// The batch was walked through when it was opened, so there is a record.
			if more, err := b.scanner.Next(&next); err != nil || !more {
				panic("produce: a checked batch has lost its records")
			}
			if b.places.have(b.encoded) {
				b.encoded++
				continue
			}
			b.encode(&next)
		}
		b.hasSpare = !c.fits(len(b.spare.Data), r)
		if b.hasSpare {
			return
		}
		c.add(b, &b.spare)
		b.encoded++
	}
	b.spare = record.Stored{}
}

// retain keeps the items for which keep is true, in their order.
func (c *chunk) retain(keep func(i int) bool) {
	kept, bytes := 0, 0
	for i := range c.items {
		if !keep(i) {
			continue
		}
		bytes += len(c.records[i].Data)
		if kept != i {
			c.move(kept, i)
		}
		kept++
	}
	clear(c.items[kept:])
	clear(c.records[kept:])
	clear(c.keys[kept:len(c.items)])
	c.items, c.records, c.bytes = c.items[:kept], c.records[:kept], bytes
}

func (c *chunk) move(to, from int) {
	c.items[to], c.records[to] = c.items[from], c.records[from]
	c.stamps[to], c.keys[to] = c.stamps[from], c.keys[from]
	c.records[to].Timestamp = &c.stamps[to]
	if c.records[to].PartitionKey != nil {
		c.records[to].PartitionKey = &c.keys[to]
	}
}

func (c *chunk) dropFinished() {
	c.retain(func(i int) bool { return !c.items[i].batch.finished })
}

// prepare drops what has expired, and decides how much of the rest is sent:
// the first batch only when it is to be alone, and no more than limit bytes.
func (c *chunk) prepare(limit int) {
	c.dropFinished()
	bytes := 0
	for c.sending = 0; c.sending < len(c.items); c.sending++ {
		bytes += len(c.records[c.sending].Data)
		if c.sending > 0 && (bytes > limit || c.alone && c.items[c.sending].batch != c.items[0].batch) {
			return
		}
	}
}

// batches calls do for each batch that the running request carries.
func (c *chunk) batches(do func(*pending)) {
	for i := range c.sending {
		if i == 0 || c.items[i].batch != c.items[i-1].batch {
			do(c.items[i].batch)
		}
	}
}

func (c *chunk) sentBytes() int {
	bytes := 0
	for i := range c.sending {
		bytes += len(c.records[i].Data)
	}
	return bytes
}
