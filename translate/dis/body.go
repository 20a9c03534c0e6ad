package dis

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// maxPooledBytes keeps a rare giant body from staying in the pool.
const maxPooledBytes = 8 << 20

// pool holds memory for bodies of one kind.
type pool struct{ sync.Pool }

// Requests and answers have a pool each: puts are large and their answers small,
// so that in one pool each would take what the other needs.
var requestBodies, answerBodies = newPool(), newPool()

func newPool() *pool { return &pool{sync.Pool{New: func() any { return new([]byte) }}} }

func (p *pool) get() *[]byte { return p.Get().(*[]byte) }

// recycle takes grown memory back.
func (p *pool) recycle(memory *[]byte, grown []byte) {
	if cap(grown) > maxPooledBytes {
		return
	}
	*memory = grown[:0]
	p.Put(memory)
}

// emptyBodyHash is the SHA-256 of nothing.
const emptyBodyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// body is the encoded body of a request; nil is the absence of one. Its memory
// goes back to the pool when the call is over and the transport has closed every
// reader: the transport may still be reading when an early answer has ended the
// attempt.
type body struct {
	bytes       []byte
	compression Compression
	plainLength int    // before compression
	sha256      string // of bytes; computed when a signature first asks for it
	memory      *[]byte
	users       atomic.Int32
}

// newBody encodes and compresses a body with one user, the caller. There is none
// without an encoder and for nothing encoded.
func newBody(encode func(dst []byte) ([]byte, error), compression Compression) (*body, error) {
	if encode == nil {
		return nil, nil
	}
	memory := requestBodies.get()
	encoded, err := encode((*memory)[:0])
	if err != nil || len(encoded) == 0 {
		requestBodies.Put(memory)
		return nil, err
	}
	b := &body{bytes: encoded, compression: compression, plainLength: len(encoded), memory: memory}
	if compression != CompressionNone {
		b.memory = requestBodies.get()
		b.bytes, err = compress((*b.memory)[:0], encoded, compression)
		requestBodies.recycle(memory, encoded)
		if err != nil {
			requestBodies.Put(b.memory)
			return nil, err
		}
	}
	b.users.Store(1)
	return b, nil
}

func (b *body) release() {
	if b == nil || b.users.Add(-1) > 0 {
		return
	}
	requestBodies.recycle(b.memory, b.bytes)
}

// hash is the lower-case hex SHA-256 of what is sent. Only the goroutine of the
// call asks for it.
func (b *body) hash() string {
	if b == nil {
		return emptyBodyHash
	}
	if b.sha256 == "" {
		b.sha256 = hexSHA256(b.bytes)
	}
	return b.sha256
}

// attach makes b the body of a request, also of the transport's own repeats on
// a connection that turned out to be closed before anything was sent.
func (b *body) attach(r *http.Request) {
	if b == nil {
		return
	}
	r.ContentLength = int64(len(b.bytes))
	r.Body = b.reader()
	r.GetBody = func() (io.ReadCloser, error) { return b.reader(), nil }
	if b.compression == CompressionNone {
		return
	}
	// The Java SDK announces the same compression for the answer.
	r.Header.Set(headerContentEncoding, string(b.compression))
	r.Header.Set(headerAcceptEncoding, string(b.compression))
	if name := lengthHeader(b.compression); name != "" {
		r.Header.Set(name, strconv.Itoa(b.plainLength))
	}
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
