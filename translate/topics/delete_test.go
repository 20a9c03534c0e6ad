package topics

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func TestDeleteReturnsWhenTheStreamIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a", "b")
		c := open(t, f)
		wantTopics(t, c, "a:1", "b:1")
		go func() {
			time.Sleep(3 * time.Second)
			if _, err := c.Topic(t.Context(), "a"); !dis.HasCode(err, wire.CodeStreamNotFound) {
				t.Errorf("while it ends: %v", err)
			}
			f.change("a", nil)
		}()
		started := time.Now()
		topic, err := c.Delete(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if topic.StreamID != "id-a" {
			t.Errorf("deleted %+v", topic)
		}
		if took := time.Since(started); took < 3*time.Second || took > 6*time.Second {
			t.Errorf("took %v, the stream was gone after 3 s", took)
		}
		if _, err := c.Topic(t.Context(), "a"); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Errorf("afterwards: %v", err)
		}
		wantTopics(t, c, "b:1")
		if _, err := c.Delete(t.Context(), "a"); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Errorf("again: %v", err)
		}
	})
}

func TestDeleteOfAStreamInCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("a")
		f.change("a", func(d *wire.DescribeStreamResponse) { d.Status = wire.StreamCreating })
		c := open(t, f)
		go func() {
			time.Sleep(time.Second)
			f.change("a", nil)
		}()
		if _, err := c.Delete(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	})
}
