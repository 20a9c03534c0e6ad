package gateway

import (
	"bytes"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzFrame feeds the frame decoder a stream of bytes as the reader does. It
// must end in a frame or a badFrame and never panic, and a request that it
// accepts must survive being encoded.
func FuzzFrame(f *testing.F) {
	for _, a := range apiTable(Config{}, Parts{}) {
		for version := a.min; version <= a.max; version++ {
			f.Add(newClientFrame(smallRequest(a.key, version)))
		}
	}
	f.Add(frame(10, 18, 99, 0, 0, 0, 1, 0xff, 0xff))
	f.Add(frame(1<<31-1, 3, 9))
	f.Add(frame(14, 3, 1, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	apis := map[int16]*api{}
	for _, a := range apiTable(Config{}, Parts{}) {
		apis[a.key.Int16()] = a
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		r := bytes.NewReader(input)
		for r.Len() > 0 {
			req, err := decodeNext(r, apis)
			if err != nil {
				var bad badFrame
				if !errors.As(err, &bad) {
					t.Fatalf("error of an unexpected kind: %v", err)
				}
				return
			}
			req.AppendTo(nil)
		}
	})
}

func decodeNext(r *bytes.Reader, apis map[int16]*api) (kmsg.Request, error) {
	p, err := readPrefix(r)
	if err != nil {
		return nil, err
	}
	a, ok := apis[p.key]
	if !ok {
		return nil, notServed(p)
	}
	if err := a.accepts(p); err != nil {
		return nil, err
	}
	rest, err := readRest(r, p, noSteps)
	if err != nil {
		return nil, err
	}
	_, req, err := a.decode(p, rest)
	return req, err
}

// noSteps reads without a bound of time and memory.
var noSteps = frameSteps{grow: func(int) error { return nil }, read: func() {}}
