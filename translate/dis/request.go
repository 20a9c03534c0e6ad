package dis

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// request is one call, however often it is attempted.
type request struct {
	operation string
	method    string
	url       string // without query, path percent-encoded
	query     url.Values
	body      *body // nil for none
	// invalid says why the call cannot be sent at all.
	invalid error
	// decode reads the body of a successful answer, nil when there is nothing to
	// read. It must not keep the bytes.
	decode func(answer []byte) error
	// once forbids a second attempt.
	once bool
	// doneBefore is the error code that tells a repeat that an earlier attempt
	// had succeeded.
	doneBefore string
}

// newRequest builds a call below a base URL. The segments of the path are
// encoded; one that a server could read as another path is refused.
func newRequest(operation, method, base string, segments ...string) *request {
	r := &request{operation: operation, method: method, query: url.Values{}}
	path := strings.Builder{}
	path.WriteString(base)
	for _, segment := range segments {
		switch segment {
		case "":
			r.invalid = errors.New("a name is empty")
		case ".", "..":
			r.invalid = fmt.Errorf("%q cannot be a name", segment)
		}
		path.WriteByte('/')
		path.WriteString(escapeSegment(segment))
	}
	r.url = path.String()
	return r
}

// set adds a query parameter unless it is empty.
func (r *request) set(name, value string) *request {
	if value != "" {
		r.query.Set(name, value)
	}
	return r
}

// json sets the body.
func (r *request) json(content any) *request {
	return r.encoded(func(dst []byte) ([]byte, error) {
		text, err := json.Marshal(content)
		return append(dst, text...), err
	})
}

func (r *request) encoded(encode func(dst []byte) ([]byte, error)) *request {
	body, err := newBody(encode)
	if err != nil {
		r.invalid = fmt.Errorf("encode body: %w", err)
		return r
	}
	r.body = body
	return r
}

// into says where the answer is decoded to.
func (r *request) into(result any) *request {
	r.decode = func(answer []byte) error { return json.Unmarshal(answer, result) }
	return r
}

// release ends the caller's use of the body.
func (r *request) release() {
	if r.body != nil {
		r.body.release()
	}
}

// fullURL is the URL with the query in the form that is signed.
func (r *request) fullURL() string {
	if len(r.query) == 0 {
		return r.url
	}
	return r.url + "?" + canonicalQuery(r.query)
}
