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
	stream    string // that is named, for observers
	method    string
	url       string // without query, path percent-encoded
	query     url.Values
	// encode appends the body, nil for none.
	encode func(dst []byte) ([]byte, error)
	// protobuf asks for an answer with records in protobuf and says that the body,
	// if there is one, is of that form. All else is JSON.
	protobuf bool
	// invalid says why the call cannot be sent at all.
	invalid error
	// decode reads the body of a successful answer, nil when there is nothing to
	// read. It must not keep the bytes.
	decode func(answer []byte) error
	// decodeProto reads it when it is protobuf, whatever was asked for; nil where
	// only JSON makes sense. It may keep the bytes if keepsProto is set: they are in
	// the memory of keptIn, or where that is nil in memory of their own.
	decodeProto func(answer []byte) error
	keepsProto  bool
	keptIn      *[]byte
	// summarize, if set, completes what observers learn of a successful attempt.
	summarize func(*Call)
	// once forbids a second attempt.
	once bool
	// paced forbids one after a throttled attempt.
	paced bool
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
	for i, segment := range segments {
		if i > 0 && segments[i-1] == "streams" {
			r.stream = segment
		}
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

// of says which stream the call is about.
func (r *request) of(stream string) *request {
	r.stream = stream
	return r
}

// json sets the body.
func (r *request) json(content any) *request {
	r.encode = func(dst []byte) ([]byte, error) {
		text, err := json.Marshal(content)
		return append(dst, text...), err
	}
	return r
}

// into says where the answer is decoded to.
func (r *request) into(result any) *request {
	r.decode = func(answer []byte) error { return json.Unmarshal(answer, result) }
	return r
}

// fullURL is the URL with the query in the form that is signed.
func (r *request) fullURL() string {
	if len(r.query) == 0 {
		return r.url
	}
	return r.url + "?" + canonicalQuery(r.query)
}
