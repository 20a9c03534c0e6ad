// Package produce writes record batches of Kafka producers into DIS: in order,
// acknowledged only when stored, and once as far as a gateway can see to that.
//
// # The way of a batch
//
// Submit checks the frame of the batch and asks the idempotence window (window.go)
// whether it is new, a repeat or out of sequence. A new batch is queued at the
// writer of its partition (writer.go). The writer opens the next batches
// (open.go), that is decompresses and checks them, encodes their records into a
// chunk (chunk.go) and hands the chunk to the stream (stream.go), which joins
// the chunks of several partitions into one PutRecords. The writer then settles
// the outcome of each record (settle.go) and goes on; it has one chunk at a time,
// so that at most one PutRecords is in flight for a partition, and the next
// carries all that came meanwhile. A writer is a goroutine that lives only while
// its partition has work. Where nearly all producers send their next batches as soon
// as they are answered, the next request waits a moment for them (returning.go).
//
// A message set of a producer of before Kafka 0.11 goes the same way as a batch. It
// has no producer id, and how many records it has shows when it is opened.
//
// # What may be answered when
//
// A batch is untouched while DIS surely stored nothing of it: it was not sent,
// or every record was refused, or the request never got through. An untouched
// batch that is in no request at its deadline is dropped and answered
// NOT_ENOUGH_REPLICAS (19), which promises that it is not written. Any other
// batch is finished whatever it takes; at its deadline the answer is
// REQUEST_TIMED_OUT (7), and a repeat of an idempotent producer joins the work
// that goes on. Batches of a partition are answered in the order they came.
//
// # Pacing
//
// DIS documents how many records and bytes a second a partition takes, and throttles
// single records beyond that, which costs order where it does not refuse a whole
// suffix. So a partition has a token bucket of each (pacer.go, pacers.go), and its
// writer waits until they suffice for the chunk (pace.go). Where DIS throttles all
// the same, the bucket fills more slowly for a while.
//
// A batch of thousands of records then takes seconds. One that would not be stored
// by its deadline is not begun, since what is begun has to be finished, and the time
// of those that a client sends ahead counts from their turn (timelimit.go).
//
// # Locks
//
// Engine.mu guards the queues, the state of batches, the window and the streams.
// It is never held during I/O, decompression or a callback. The budgets have
// locks of their own, taken inside it or without it, never around it. What only
// a writer touches (its chunk, the payloads it has open) needs no lock: a batch
// is opened, encoded and settled by the one goroutine of its partition.
//
// # Memory
//
// Two budgets share Config.BufferBytes half and half: frames as they are
// received, which the gateway asks room for as they arrive (room.go), and
// decompressed payloads. Two, because a frame waits for payload space: in a single
// budget, frames alone could fill it and wait for each other. A payload waits for
// nothing but DIS, so payload space always comes free again, and then the frame
// does.
//
// Among payloads there is no waiting while holding either. A writer with an
// empty chunk holds nothing and may wait, until the deadline of the batch at
// hand. A writer with records in its chunk sends these when there is no room for
// more. Decompression starts small and asks for more as it grows; when there is
// no more, it gives back what it has, waits for the larger amount in the queue,
// first come first served, and starts again. A batch larger than the whole payload
// budget is refused as too large.
package produce
