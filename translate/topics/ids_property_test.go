package topics

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestIDsOfStreamsThatComeAndGo lets streams be made, deleted and made again
// behind the catalog's back, with failures and restarts, and holds it to what
// clients rely on: an id never gives another topic than its own; it is called
// unknown only when its stream is gone, or so new that nobody can know it; and
// once DIS answers again the catalog knows exactly what there is.
func TestIDsOfStreamsThatComeAndGo(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{
			"make", "make", "delete", "make again", "make again", "fail", "one fails", "calm", "calm", "sleep", "sleep",
			"by name", "by name", "by id", "by id", "by id", "list", "invalidate", "restart",
		}), 10, 80).Draw(r, "steps")
		picks := rapid.SliceOfN(rapid.IntRange(0, 1000), len(steps), len(steps)).Draw(r, "picks")
		listIDs := rapid.Bool().Draw(r, "the list shows ids")
		var flaw string
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, listIDs)
			for i, step := range steps {
				if w.step(step, picks[i]); w.flaw != "" {
					break
				}
			}
			if w.flaw == "" {
				w.settle()
			}
			w.catalog.Close()
			flaw = w.flaw
		})
		if flaw != "" {
			r.Fatal(flaw)
		}
	})
}

// world is a DIS and a catalog of it, and what is true.
type world struct {
	t       *testing.T
	dis     *fakeDIS
	catalog *Catalog
	streams []*madeStream
	flaw    string
}

type madeStream struct {
	name, id string
	born     time.Time
	dead     bool
}

func newWorld(t *testing.T, listIDs bool) *world {
	w := &world{t: t, dis: newFake()}
	w.dis.listIDs = listIDs
	w.restart()
	return w
}

func (w *world) restart() {
	if w.catalog != nil {
		w.catalog.Close()
	}
	w.catalog = New(Config{ProjectID: "p"}, w.dis)
}

// notice is the time in which a new stream may still be unknown: a negative
// answer holds for a second, and DIS takes its time.
const notice = 1500 * time.Millisecond

func (w *world) step(step string, pick int) {
	name := []string{"a", "b", "c"}[pick%3]
	switch step {
	case "make":
		w.make(name)
	case "delete":
		w.delete(name)
	case "make again":
		w.delete(name)
		w.make(name)
	case "fail":
		w.dis.failWith(errDown)
	case "one fails":
		w.dis.describeFails(name, errDown)
	case "calm":
		w.dis.failWith(nil)
		w.dis.describeFails("", nil)
	case "sleep":
		time.Sleep(time.Duration(pick*pick) * 10 * time.Millisecond / 100)
	case "by name":
		w.byName(name)
	case "by id":
		if len(w.streams) > 0 {
			w.byID(w.streams[pick%len(w.streams)])
		}
	case "list":
		w.list()
	case "invalidate":
		w.catalog.Invalidate(name)
	case "restart":
		w.restart()
	}
}

func (w *world) flawed(format string, args ...any) {
	if w.flaw == "" {
		w.flaw = fmt.Sprintf(format, args...)
	}
}

func (w *world) living(name string) *madeStream {
	for _, s := range w.streams {
		if s.name == name && !s.dead {
			return s
		}
	}
	return nil
}

func (w *world) make(name string) {
	if w.living(name) != nil {
		return
	}
	s := &madeStream{name: name, id: fmt.Sprintf("stream-%d", len(w.streams)), born: time.Now()}
	w.streams = append(w.streams, s)
	w.dis.set(name, 1)
	w.dis.recreate(name, s.id, int64(1000+len(w.streams)))
}

func (w *world) delete(name string) {
	if s := w.living(name); s != nil {
		s.dead = true
		w.dis.change(name, nil)
	}
}

func (w *world) byID(s *madeStream) {
	age := time.Since(s.born)
	topic, err := w.catalog.TopicByID(w.t.Context(), idOf(s.id))
	switch {
	case err == nil && (topic.ID != idOf(s.id) || topic.StreamID != s.id || topic.Name != s.name):
		w.flawed("the id of %s gives %+v", s.id, topic)
	case errors.Is(err, translate.ErrUnknownID) && !s.dead && age > notice:
		w.flawed("the id of %s, which is there for %s, is called unknown: %v", s.id, age, err)
	}
}

func (w *world) byName(name string) {
	s := w.living(name)
	topic, err := w.catalog.Topic(w.t.Context(), name)
	switch {
	case err == nil && topic.ID != idOf(topic.StreamID), err == nil && topic.ID == [16]byte{}:
		w.flawed("topic %s has the id of another: %+v", name, topic)
	case dis.HasCode(err, wire.CodeStreamNotFound) && s != nil && time.Since(s.born) > notice:
		w.flawed("topic %s is called missing: %v", name, err)
	}
}

func (w *world) list() {
	all, err := w.catalog.Topics(w.t.Context())
	if err != nil {
		return
	}
	for _, topic := range all {
		if (topic.ID == [16]byte{}) != (len(topic.Partitions) == 0) {
			w.flawed("listed with partitions and without an id, or the reverse: %+v", topic)
		}
	}
}

// settle lets DIS answer and the refreshing find out.
func (w *world) settle() {
	w.step("calm", 0)
	w.list()
	time.Sleep(2 * time.Minute) // the longest pause of a refresh that failed
	w.list()
	time.Sleep(notice)
	for _, s := range w.streams {
		topic, err := w.catalog.TopicByID(w.t.Context(), idOf(s.id))
		switch {
		case s.dead && !errors.Is(err, translate.ErrUnknownID):
			w.flawed("at the end the id of %s, which is gone, gives %+v, %v", s.id, topic, err)
		case !s.dead && (err != nil || topic.Name != s.name):
			w.flawed("at the end the id of %s gives %+v, %v", s.id, topic, err)
		}
	}
}
