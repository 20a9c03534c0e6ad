package produce

// queue holds the chunks that are to be sent, oldest first. It keeps count of what they
// hold: that is looked at for every chunk that comes or goes, and a stream may have
// thousands of partitions.
type queue struct {
	chunks         []*chunk
	records, bytes int // of all of them
}

func (q *queue) empty() bool { return len(q.chunks) == 0 }

func (q *queue) first() *chunk { return q.chunks[0] }

func (q *queue) push(c *chunk) {
	q.chunks = append(q.chunks, c)
	q.count(c, 1)
}

// pop takes the first one out.
func (q *queue) pop() {
	q.count(q.chunks[0], -1)
	q.chunks[0] = nil
	q.chunks = q.chunks[1:]
}

// change does what takes something out of a chunk in the queue.
func (q *queue) change(c *chunk, do func()) {
	q.count(c, -1)
	do()
	q.count(c, 1)
}

func (q *queue) count(c *chunk, sign int) {
	q.records += sign * len(c.items)
	q.bytes += sign * c.bytes
}
