// Package loglimit keeps a log readable, and the disk from filling, when something
// happens over and over: a client that sends garbage in a loop, a DIS that refuses
// every batch of a thousand partitions.
//
// Lines are of one kind when they have the level and the message in common; what
// tells them apart is in their fields. The first burst lines of a kind in a period
// are written. The others are counted, and the count is written at the end of the
// period, as one line of the kind with the field "suppressed". Debug and trace
// lines are all written: who asks for them wants to follow single requests.
package loglimit

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	burst  = 50
	period = 10 * time.Second
	// maxKinds bounds the kinds that are told apart. The messages of the gateway are
	// constants, so there are fewer; all further ones are one kind.
	maxKinds = 500
)

// Writer stands between a zerolog.Logger and where its lines go. It is safe for
// concurrent use.
type Writer struct {
	to io.Writer

	mu    sync.Mutex
	kinds map[kind]*count
}

// kind is what suppressed lines have in common.
type kind struct {
	level   zerolog.Level
	message string // as in the line: quoted JSON
}

// count is one kind in the current period.
type count struct {
	written, suppressed int
	ends                *time.Timer
}

var _ zerolog.LevelWriter = (*Writer)(nil)

// New makes a writer that passes lines on to another, one at a time.
func New(to io.Writer) *Writer { return &Writer{to: to, kinds: map[kind]*count{}} }

// Write passes a line without a level on.
func (w *Writer) Write(line []byte) (int, error) { return w.WriteLevel(zerolog.NoLevel, line) }

// WriteLevel passes a line on or counts it.
func (w *Writer) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if level >= zerolog.InfoLevel && level <= zerolog.ErrorLevel && !w.admit(level, line) {
		return len(line), nil
	}
	return w.to.Write(line)
}

// admit counts a line, and reports whether it is to be written.
func (w *Writer) admit(level zerolog.Level, line []byte) bool {
	k := kind{level, string(message(line))}
	c := w.kinds[k]
	if c == nil && len(w.kinds) >= maxKinds {
		k.message = `"other messages"`
		c = w.kinds[k]
	}
	if c == nil {
		c = &count{}
		c.ends = time.AfterFunc(period, func() { w.end(k) })
		w.kinds[k] = c
	}
	if c.written == burst {
		c.suppressed++
		return false
	}
	c.written++
	return true
}

// end closes the period of a kind. While lines were suppressed the next one begins
// at once, and writes none but the count: a loop costs one line a period.
func (w *Writer) end(k kind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.kinds[k]
	switch {
	case c == nil: // flushed
	case c.suppressed == 0:
		delete(w.kinds, k)
	default:
		w.tell(k, c)
		c.ends.Reset(period)
	}
}

// Flush writes the counts that are due; the last thing before the end.
func (w *Writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for k, c := range w.kinds {
		c.ends.Stop()
		w.tell(k, c)
		delete(w.kinds, k)
	}
}

// tell writes how many lines were suppressed.
func (w *Writer) tell(k kind, c *count) {
	if c.suppressed == 0 {
		return
	}
	log := zerolog.New(w.to)
	log.WithLevel(k.level).Timestamp().Int("suppressed", c.suppressed).Str("in_about", period.String()).
		RawJSON(zerolog.MessageFieldName, []byte(k.message)).Send()
	c.suppressed = 0
}

// messageField is how the message begins, the last field of each line. Texts of
// clients in other fields cannot contain it: their quotes are escaped.
var messageField = []byte(`,"` + zerolog.MessageFieldName + `":`)

// message is the quoted message of a line, "" for one that has none.
func message(line []byte) []byte {
	at := bytes.LastIndex(line, messageField)
	if at < 0 {
		return []byte(`""`)
	}
	return bytes.TrimSuffix(bytes.TrimSpace(line[at+len(messageField):]), []byte("}"))
}
