package embedded

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
)

// request is a verified request on its way to the function that serves it.
type request struct {
	operation string
	project   string
	path      []string // the variable parts of the path, in order
	query     query
	body      []byte
	// protobuf is true when the body is protobuf and the answer shall be; only
	// the calls that carry records look at it.
	protobuf bool
}

// reply is an answer; a nil body is an empty one.
type reply struct {
	status   int
	body     []byte
	protobuf bool // otherwise JSON

	// What faults do to the answer.
	delay time.Duration
	lost  bool // the connection is cut instead
}

func jsonReply(status int, value any) (reply, error) {
	body, err := json.Marshal(value)
	return reply{status: status, body: body}, err
}

func emptyReply(status int) (reply, error) { return reply{status: status}, nil }

// serve answers one HTTP request. Whatever happens inside, the client gets a
// DIS answer and other requests go on.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.faults != nil && r.URL.Path == faultsPath {
		s.controlFaults(w, r)
		return
	}
	id := requestID()
	answer, err := s.answer(r)
	if err != nil {
		refused := s.errorReply(id, r, err)
		refused.delay = answer.delay
		answer = refused
	}
	if !s.wait(r.Context(), s.config.Latency+answer.delay) {
		return
	}
	if answer.lost {
		panic(http.ErrAbortHandler)
	}
	answer.write(w, id)
}

func (answer *reply) write(w http.ResponseWriter, id string) {
	header := w.Header()
	header.Set("X-Request-Id", id)
	header.Set("Content-Type", contentTypeJSON)
	if answer.protobuf {
		header.Set("Content-Type", contentTypeProtobuf+"; charset=utf-8")
	}
	header.Set("Content-Length", strconv.Itoa(len(answer.body)))
	if answer.status == http.StatusNoContent {
		header.Del("Content-Type")
		header.Del("Content-Length")
	}
	w.WriteHeader(answer.status)
	// A failed write means that the client is gone; nobody is left to be told.
	_, _ = w.Write(answer.body)
}

// answer reads, verifies and processes a request. A panic becomes an error.
func (s *Server) answer(r *http.Request) (answer reply, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.config.Logger.Error().Interface("panic", cause).Bytes("stack", debug.Stack()).
				Str("path", r.URL.Path).Msg("embedded DIS request panicked")
			err = internalError()
		}
	}()
	sent, err := s.readBody(r)
	if err != nil {
		return reply{}, err
	}
	defer sent.release()
	if err := s.verifier.verify(r, sent.sum); err != nil {
		return reply{}, err
	}
	route, request, err := s.match(r)
	if err != nil {
		return reply{}, err
	}
	if request.body, err = decompress(r.Header, sent.bytes); err != nil {
		return reply{}, err
	}
	request.protobuf = saysProtobuf(r.Header)
	request.operation = route.operation
	if !s.running.start() {
		return reply{}, &apiError{http.StatusServiceUnavailable, internalError().code, "System error. [shutting down]"}
	}
	defer s.running.done()
	return s.process(route, request)
}

func (s *Server) errorReply(id string, r *http.Request, err error) reply {
	var refused *apiError
	if !errors.As(err, &refused) {
		s.config.Logger.Error().Err(err).Str("request", id).Str("method", r.Method).Str("path", r.URL.Path).
			Msg("embedded DIS request failed")
		refused = internalError()
	}
	body, err := refused.body()
	if err != nil { // two strings always marshal
		panic(err)
	}
	return reply{status: refused.status, body: body}
}

// wait is false when the client has gone meanwhile. Closing the server ends the
// wait.
func (s *Server) wait(ctx context.Context, latency time.Duration) bool {
	if latency == 0 {
		return true
	}
	timer := time.NewTimer(latency)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.closing:
		return true
	case <-ctx.Done():
		return false
	}
}

func requestID() string {
	var id [16]byte
	rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}
