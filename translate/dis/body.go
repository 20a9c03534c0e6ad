package dis

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// maxPooledBytes keeps a rare giant body from staying in the pool.
const maxPooledBytes = 8 << 20

// buffers holds memory for request and answer bodies.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// body is the encoded body of a request. Its memory goes back to the pool when
// the call is over and the transport has closed every reader: the transport may
// still be reading when an early answer has ended the attempt.
type body struct {
	bytes  []byte
	sha256 string
	memory *[]byte
	users  atomic.Int32
}

// newBody encodes a body with one user, the caller.
func newBody(encode func(dst []byte) ([]byte, error)) (*body, error) {
	memory := buffers.Get().(*[]byte)
	encoded, err := encode((*memory)[:0])
	if err != nil {
		buffers.Put(memory)
		return nil, err
	}
	b := &body{bytes: encoded, sha256: hexSHA256(encoded), memory: memory}
	b.users.Store(1)
	return b, nil
}

func (b *body) release() {
	if b.users.Add(-1) > 0 {
		return
	}
	recycle(b.memory, b.bytes)
}

// recycle gives grown memory back to the pool.
func recycle(memory *[]byte, grown []byte) {
	if cap(grown) > maxPooledBytes {
		return
	}
	*memory = grown[:0]
	buffers.Put(memory)
}

// attach makes b the body of a request, also of the transport's own repeats on
// a connection that turned out to be closed before anything was sent.
func (b *body) attach(r *http.Request) {
	r.ContentLength = int64(len(b.bytes))
	r.Body = b.reader()
	r.GetBody = func() (io.ReadCloser, error) { return b.reader(), nil }
}

func (b *body) reader() *bodyReader {
	b.users.Add(1)
	return &bodyReader{body: b, rest: bytes.NewReader(b.bytes)}
}

// bodyReader reads a body once. Close may come from another goroutine than
// Read and more than once.
type bodyReader struct {
	mu   sync.Mutex
	body *body // nil when closed
	rest *bytes.Reader
}

// Read fails after Close: the memory may belong to another call by then.
func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	return r.rest.Read(p)
}

// Close ends this use of the body.
func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.body != nil {
		r.body.release()
		r.body = nil
	}
	return nil
}
