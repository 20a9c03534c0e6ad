package gateway

import "encoding/binary"

// produceElements counts the topics and partitions of a Produce body without
// decoding it, and stops above maxElements. Only a Produce frame can be so
// large that decoding it first, and counting then, would cost gigabytes. For a
// malformed body the count is of what comes before the mistake.
func produceElements(body []byte, version int16) (count int) {
	w := shape{rest: body, flexible: version >= 9}
	if version >= 3 {
		w.skip(w.length(2)) // transactional id
	}
	w.skip(2 + 4) // acks, timeout
	topics := w.length(4)
	for count += topics; topics > 0 && !w.broken && count <= maxElements; topics-- {
		if version >= firstIDProduce {
			w.skip(len(noTopicID))
		} else {
			w.skip(w.length(2)) // name
		}
		partitions := w.length(4)
		for count += partitions; partitions > 0 && !w.broken && count <= maxElements; partitions-- {
			w.skip(4)
			w.skip(w.length(4)) // records
			w.tags()
		}
		w.tags()
	}
	return count
}

// shape walks over a request body.
type shape struct {
	rest     []byte
	flexible bool
	broken   bool
}

func (w *shape) skip(n int) {
	if n < 0 || n > len(w.rest) {
		w.rest, w.broken = nil, true
		return
	}
	w.rest = w.rest[n:]
}

// length reads the length of a string, of bytes or of an array, null being 0. It
// takes so many bytes, or is compact (KIP-482).
func (w *shape) length(bytes int) int {
	if w.flexible {
		return max(0, w.uvarint()-1)
	}
	if len(w.rest) < bytes {
		w.skip(bytes)
		return 0
	}
	n := int(int16(binary.BigEndian.Uint16(w.rest)))
	if bytes == 4 {
		n = int(int32(binary.BigEndian.Uint32(w.rest)))
	}
	w.skip(bytes)
	return max(0, n)
}

func (w *shape) uvarint() int {
	n, size := binary.Uvarint(w.rest)
	if size <= 0 || n > maxProduceFrame {
		w.skip(-1)
		return 0
	}
	w.skip(size)
	return int(n)
}

func (w *shape) tags() {
	if !w.flexible {
		return
	}
	for left := w.uvarint(); left > 0 && !w.broken; left-- {
		w.uvarint()
		w.skip(w.uvarint())
	}
}
