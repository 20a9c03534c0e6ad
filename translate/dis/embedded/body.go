package embedded

import (
	"crypto/sha256"
	"io"
	"net/http"
	"sync"
)

// maxBodyBytes is the documented limit of a signed body.
const maxBodyBytes = 12 << 20

const (
	// Bodies between these sizes are read into memory that was used before.
	smallestPooled = 32 << 10
	largestPooled  = 2 << 20
)

// sentBody is the body of a request as it was sent, before any decoding.
type sentBody struct {
	bytes []byte
	// sum is the SHA-256 of the bytes, or means nothing when the verifier does not
	// ask for it.
	sum    [sha256.Size]byte
	pooled *[]byte
}

var bodies = sync.Pool{New: func() any { return new([]byte) }}

// release gives the memory of the body to other requests.
func (b *sentBody) release() {
	if b.pooled != nil {
		bodies.Put(b.pooled)
	}
}

// readBody reads and hashes piece by piece: while one is hashed, the client sends
// the next.
func (s *Server) readBody(r *http.Request) (sent *sentBody, err error) {
	if r.ContentLength > maxBodyBytes {
		return nil, tooLarge("body", maxBodyBytes)
	}
	sent = &sentBody{}
	hash := sha256.New()
	var source io.Reader = io.LimitReader(r.Body, maxBodyBytes+1)
	if s.verifier.hashes(r) {
		source = io.TeeReader(source, hash)
	}
	if r.ContentLength >= 0 {
		sent.reserve(int(r.ContentLength))
		_, err = io.ReadFull(source, sent.bytes)
	} else {
		sent.bytes, err = io.ReadAll(source)
	}
	if err == nil && len(sent.bytes) > maxBodyBytes {
		return nil, tooLarge("body", maxBodyBytes)
	}
	if err != nil {
		return nil, invalidRequest("body", err)
	}
	hash.Sum(sent.sum[:0])
	return sent, nil
}

// reserve makes room for a body of known length.
func (b *sentBody) reserve(length int) {
	if length < smallestPooled || length > largestPooled {
		b.bytes = make([]byte, length)
		return
	}
	b.pooled = bodies.Get().(*[]byte)
	if cap(*b.pooled) < length {
		*b.pooled = make([]byte, length)
	}
	b.bytes = (*b.pooled)[:length]
}
