// Package fetch reads DIS partitions for Kafka consumers: the long poll of
// Fetch, the watermarks, and the lookups of ListOffsets.
//
// What DIS returns is encoded once, as a chunk of v2 record batches, and kept
// in a cache by offset; every consumer that asks for those offsets shares the
// bytes. On a miss a cursor session reads from DIS at exactly the missing
// offset. There is one session per position, so all consumers at the tail of a
// partition wait on the same one and cost one read, and a consumer further
// back has one of its own that stays warm from fetch to fetch. A session runs
// only while someone waits at its position, or for one read ahead of a consumer
// that was just served.
//
// At the end of a partition a session polls for a moment after something arrived,
// at growing intervals. From then on the partition is watched: one describe of
// its stream tells, for all partitions at once, which of them have records that
// were not read. All these calls, and a read of each watched partition every
// two minutes for safety, share one budget (Config.IdlePolls). With S streams that are
// watched, a record that another program wrote is read at the latest
//
//	1 s + S / (0.45 * IdlePolls) and the time of two calls
//
// after it was written. Mostly the turns are spread, and it is the longer of the
// two: a second up to 45 streams, 4.5 s with 200, at the default. A record that was stored through this gateway wakes the
// readers of its partition at once.
//
// The idle calls begin at common times, ten of them a second, since to wake an idle
// process costs more than a call. A describe begins with those before it, up to a
// tenth of a second early, never late.
//
// What a consumer is told about the ends of a partition comes from DIS alone:
// from DescribeStream, from records that were read, and from produces through
// this gateway. The offset that a consumer asks for is never evidence, and the
// answer OFFSET_OUT_OF_RANGE, which makes consumers jump, needs the agreement
// of fresh describes.
//
// Locks are taken in this order: Engine.mu, stream.mu, then cache.mu, or checks.mu and
// Engine.spawning. No call to DIS is made while one is held.
package fetch
