// Package embedded is a DIS that runs inside a Go program: the REST API of the
// service over HTTP, with its ids, cursor texts, error codes, limits and request
// signatures, over a pebble store on the local disk.
//
// It is the development default and the test double of the gateway. It shares
// only package wire with the DIS client: signatures are checked by a verifier
// of its own, so a mistake in the client's signer does not cancel out.
//
// # Guarantees
//
// A put, a checkpoint and every administrative change is answered after the
// store has synced it to disk; what was acknowledged survives kill -9. Sequence
// numbers are dense per partition, start at 0 and are never used twice while
// the stream exists. Metrics are stored once a minute and when the server closes;
// a killed server loses the counts of the last minutes. A reader never sees a record before an earlier one of the
// same partition, and never one that is not yet synced. Memory is proportional
// to the number of streams, partitions and apps, not to what is stored.
//
// When the disk refuses a write, every later write is answered with DIS.5000
// until the server is opened again; reads go on.
//
// # Faults
//
// With Config.Faults the service misbehaves on demand, for tests of clients; the
// kinds are those of FaultKind. A control endpoint on the same listener, which
// wants no signature, then shows and changes what is in force:
//
//	GET /faults     200, the plan with the number of hits of each fault
//	PUT /faults     200, puts another plan in force; unknown fields are refused
//	DELETE /faults  204, ends all faults
//
//	{"seed": 7, "faults": [
//	  {"kind": "throttle-suffix", "from": 5, "probability": 0.1},
//	  {"kind": "lost-reply", "operations": ["PutRecords"], "count": 3},
//	  {"kind": "latency", "latency": "150ms"}]}
//
// A fault that leaves sequence numbers out, or that loses a reply, changes what
// the guarantees above promise; all other faults leave what is stored as it is.
//
// # Key layout, format 1
//
// The first byte of a key is its kind. Integers in keys are big-endian. Streams
// and apps carry a number that is never used again, so that a stream or app
// created under an old name shares nothing with its predecessor.
//
//	0x00 "format"                              decimal text of the format number
//	'N'                                        last stream or app number given out, 8 bytes
//	'S' stream8                                stream with its partitions, JSON
//	'A' app8                                   app, JSON
//	'C' app8 stream8 partition4                checkpoint: sequence number (8), metadata
//	'L' stream8 partition4                     oldest readable sequence number (8); absent means 0
//	'M' stream8 partition4 minute8             what was counted in a minute: uvarints; partition 0xffffffff is the whole stream
//	'R' stream8 partition4 first8              chunk: consecutive records of one put
//	'T' stream8 partition4 segment8 max8       time index entry: first sequence number of its chunk (8)
//	'D' stream8 task8                          transfer task, JSON; its number is one of those of streams and apps
//	'P' stream8 task8 partition4               progress of a transfer task in a partition, JSON
//
// A chunk is the unit of storage, of the time index and of expiry: a header
// (arrival time in ms, 8 bytes; number of records, uvarint), then per record
// the timestamp (ms, zig-zag varint), 0 or 1 + the length of the partition key
// (uvarint) and the key, the length of the data (uvarint) and the data. Where
// the number of records is 0, a uvarint follows and ends the chunk: sequence
// numbers that were left out on purpose, by a fault. Arrival times never go back
// from one chunk of a partition to the next.
//
// The time index answers "the first record with a time of at least t", with
// times in any order. Chunks are grouped into segments by first sequence number
// >> 16. Within a segment an entry is written whenever a chunk raises the
// segment's greatest timestamp; max8 is that timestamp with its sign bit
// flipped, so entries are sorted by time and by position at once.
//
// # Locks
//
// Taken in this order: Server.delivering, Server.admin, stream.mu, transfer.mu, app.mu, app.groupMu, partition.mu
// (ascending by partition number), catalog.mu, Server.metering, meter.mu.
package embedded
