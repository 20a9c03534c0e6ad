package topics

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// aliases reads TOPIC=STREAM and TOPIC=id:ID.
func aliases(t *testing.T, texts ...string) *translate.Names {
	t.Helper()
	names := new(translate.Names)
	for _, text := range texts {
		topic, stream, _ := strings.Cut(text, "=")
		alias := translate.Alias{Topic: topic, Stream: translate.StreamRef{Name: stream}}
		if id, isID := strings.CutPrefix(stream, "id:"); isID {
			alias.Stream = translate.StreamRef{ID: id}
		}
		if err := names.Add(alias); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// openWith makes a catalog with names that ends with the test's bubble.
func openWith(t *testing.T, f *fakeDIS, names *translate.Names) *Catalog {
	t.Helper()
	c := New(Config{ProjectID: "p", Names: names}, f)
	t.Cleanup(c.Close)
	return c
}

// share makes a stream of another account.
func (f *fakeDIS) share(id, name string, partitions int) {
	d := running(name, partitions)
	d.StreamID = id
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.elsewhere == nil {
		f.elsewhere = map[string]*wire.DescribeStreamResponse{}
	}
	f.elsewhere[id] = d
}

func (f *fakeDIS) describesOf(stream string) int {
	_, describes := f.counts(stream)
	return describes
}

func TestAliasOfAName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("orders_v1", "other", "shadowed")
		c := New(Config{
			ProjectID: "p", Names: aliases(t, "orders.v1=orders_v1", "shadowed=other"),
			Records: func(topic string) record.Policy { return record.Policy{LogAppendTime: topic == "orders.v1"} },
		}, f)
		t.Cleanup(c.Close)
		wantTopics(t, c, "orders.v1:1", "shadowed:1")
		topic, err := c.Topic(t.Context(), "orders.v1")
		if err != nil || topic.Name != "orders.v1" || topic.StreamName != "orders_v1" || topic.StreamID != "id-orders_v1" ||
			topic.ID != TopicID("p", "id-orders_v1") || !topic.Records.LogAppendTime || topic.Shared() {
			t.Errorf("topic %+v, %v", topic, err)
		}
		if found, err := c.TopicByID(t.Context(), topic.ID); err != nil || found.Name != "orders.v1" {
			t.Errorf("by id: %+v, %v", found, err)
		}
		if n := f.describesOf("shadowed"); n != 0 {
			t.Errorf("%d describes of a stream whose name is an alias", n)
		}
		if topic, err := c.Topic(t.Context(), "shadowed"); err != nil || topic.StreamName != "other" {
			t.Errorf("topic %+v, %v", topic, err)
		}
	})
}

// The stream of an alias is the topic of that name alone.
func TestStreamWithAnAliasHasNoOtherName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("orders_v1")
		c := openWith(t, f, aliases(t, "orders.v1=orders_v1"))
		wantTopics(t, c, "orders.v1:1")
		if topic, err := c.Topic(t.Context(), "orders_v1"); !errors.Is(err, translate.ErrHidden) || !strings.Contains(err.Error(), "orders.v1") {
			t.Errorf("under its own name: %+v, %v", topic, err)
		}
		if _, err := c.Create(t.Context(), CreateRequest{Name: "orders_v1", Partitions: 1}); !errors.Is(err, translate.ErrHidden) {
			t.Errorf("create under its own name: %v", err)
		}
		if _, err := c.Delete(t.Context(), "orders_v1"); !errors.Is(err, translate.ErrHidden) {
			t.Errorf("delete under its own name: %v", err)
		}
	})
}

func TestAliasIsCreatedAndDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := openWith(t, f, aliases(t, "orders.v1=orders_v1"))
		would, err := c.Create(t.Context(), CreateRequest{Name: "orders.v1", Partitions: 2, ValidateOnly: true})
		if err != nil || would.Name != "orders.v1" || would.StreamName != "orders_v1" {
			t.Errorf("validated %+v, %v", would, err)
		}
		go func() {
			time.Sleep(time.Second)
			f.running("orders_v1", 2)
		}()
		topic, err := c.Create(t.Context(), CreateRequest{Name: "orders.v1", Partitions: 2})
		if err != nil || topic.Name != "orders.v1" || topic.StreamName != "orders_v1" || len(topic.Partitions) != 2 {
			t.Fatalf("created %+v, %v", topic, err)
		}
		wantPartitions(t, c, "orders.v1", 2)
		f.recreate("orders_v1", "another", 9000)
		time.Sleep(6 * time.Second)
		again := wantPartitions(t, c, "orders.v1", 2)
		if again.StreamID != "another" || again.ID == topic.ID {
			t.Errorf("made again elsewhere: %+v", again)
		}
		if _, err := c.TopicByID(t.Context(), topic.ID); !errors.Is(err, translate.ErrUnknownID) {
			t.Errorf("the earlier id: %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			f.change("orders_v1", nil)
		}()
		if _, err := c.DeleteByID(t.Context(), again.ID); err != nil {
			t.Fatal(err)
		}
		wantTopics(t, c)
		if _, err := c.Topic(t.Context(), "orders.v1"); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Errorf("deleted: %v", err)
		}
	})
}

func TestAliasOfAnID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("ours")
		f.share("abc", "ours", 3) // the name of the other account's stream may be one of ours
		f.set("ours", 1)
		c := openWith(t, f, aliases(t, "partner.events=id:abc", "gone=id:xyz"))
		id := TopicID("p", "abc")
		if topic, err := c.TopicByID(t.Context(), id); err != nil || topic.Name != "partner.events" {
			t.Errorf("by id, before any list: %+v, %v", topic, err)
		}
		wantTopics(t, c, "ours:1", "partner.events:3")
		topic, err := c.Topic(t.Context(), "partner.events")
		if err != nil || topic.StreamName != "" || topic.StreamID != "abc" || topic.ID != id || !topic.Shared() {
			t.Errorf("topic %+v, %v", topic, err)
		}
		if _, err := c.Topic(t.Context(), "gone"); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Errorf("an id that DIS does not know: %v", err)
		}
		for what, err := range map[string]error{
			"create": creating(c.Create(t.Context(), CreateRequest{Name: "gone", Partitions: 1})),
			"delete": creating(c.Delete(t.Context(), "partner.events")),
		} {
			var refused translate.Failure
			if !errors.As(err, &refused) || refused.Code != codeTopicAuthorization || !strings.Contains(refused.Message, "id ") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, err := c.CreateMissing(t.Context(), CreateRequest{Name: "gone", Partitions: 1}); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Errorf("create because it is missing: %v", err)
		}
	})
}

func creating(_ *translate.Topic, err error) error { return err }

// No list shows what changes in a stream of another account.
func TestSharedStreamIsDescribedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var texts, want, after []string
		for i := range 3 * sharedPerRefresh {
			f.share(fmt.Sprintf("id%02d", i), fmt.Sprintf("s%02d", i), 1)
			texts = append(texts, fmt.Sprintf("t.%02d=id:id%02d", i, i))
			want, after = append(want, fmt.Sprintf("t.%02d:1", i)), append(after, fmt.Sprintf("t.%02d:2", i))
		}
		c := openWith(t, f, aliases(t, texts...))
		wantTopics(t, c, want...)
		for i := range 3 * sharedPerRefresh {
			f.share(fmt.Sprintf("id%02d", i), fmt.Sprintf("s%02d", i), 2)
		}
		time.Sleep(16 * time.Second) // three refreshes
		wantTopics(t, c, after...)
		if got := f.describesOf("id id00"); got != 2 {
			t.Errorf("%d describes in the time of three refreshes, want 2: there are three times as many as one refresh describes", got)
		}
		// One that nobody asks for any more costs nothing, and is looked at again when
		// someone does.
		time.Sleep(6 * time.Minute)
		c.mu.Lock()
		c.use(time.Now())
		c.mu.Unlock()
		time.Sleep(6 * time.Second)
		before := f.describesOf("id id00")
		time.Sleep(time.Minute)
		if got := f.describesOf("id id00"); got != before {
			t.Errorf("%d describes of a stream that nobody uses", got-before)
		}
		f.share("id00", "s00", 5)
		wantPartitions(t, c, "t.00", 5)
	})
}

// An alias by id may be of a stream of this project, which then is not shown under
// its own name either, whether the list shows ids or not.
func TestAliasOfAnIDOfThisProject(t *testing.T) {
	for _, listIDs := range []bool{false, true} {
		t.Run(fmt.Sprintf("list with ids %v", listIDs), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("ours", "other")
				f.listIDs = listIDs
				c := openWith(t, f, aliases(t, "alias=id:id-ours"))
				wantTopics(t, c, "alias:1", "other:1")
				if topic, err := c.Topic(t.Context(), "ours"); !errors.Is(err, translate.ErrHidden) {
					t.Errorf("under its own name: %+v, %v", topic, err)
				}
				if topic, err := c.TopicByID(t.Context(), TopicID("p", "id-ours")); err != nil || topic.Name != "alias" {
					t.Errorf("by id: %+v, %v", topic, err)
				}
				describes := f.describesOf("ours")
				time.Sleep(20 * time.Second)
				wantTopics(t, c, "alias:1", "other:1")
				if now := f.describesOf("ours"); now != describes {
					t.Errorf("%d describes of a stream that is known to be hidden", now-describes)
				}
			})
		})
	}
}

func TestHiddenTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("app-a", "app-secret", "other", "app_b")
		names := aliases(t, "app.b=app_b")
		names.Expose("app*")
		names.Hide("*-secret")
		c := openWith(t, f, names)
		wantTopics(t, c, "app-a:1", "app.b:1")
		for _, name := range []string{"app-secret", "other", "new", "app_b"} {
			if topic, err := c.Topic(t.Context(), name); !errors.Is(err, translate.ErrHidden) {
				t.Errorf("%s: %+v, %v", name, topic, err)
			}
		}
		if _, err := c.TopicByID(t.Context(), TopicID("p", "id-other")); !errors.Is(err, translate.ErrUnknownID) {
			t.Errorf("by id: %v", err)
		}
		if _, err := c.DeleteByID(t.Context(), TopicID("p", "id-other")); !errors.Is(err, translate.ErrUnknownID) {
			t.Errorf("delete by id: %v", err)
		}
		_, err := c.Create(t.Context(), CreateRequest{Name: "new", Partitions: 1})
		refused := translate.KafkaError(translate.CallCreateTopic, err)
		if refused.Code != 44 || !strings.Contains(refused.Message, "--expose-topics") {
			t.Errorf("create: %+v", refused)
		}
		if _, err := c.Delete(t.Context(), "other"); !errors.Is(err, translate.ErrHidden) {
			t.Errorf("delete: %v", err)
		}
		if _, err := c.CreateMissing(t.Context(), CreateRequest{Name: "app-secret", Partitions: 1}); !errors.Is(err, translate.ErrHidden) {
			t.Errorf("create because it is missing: %v", err)
		}
		if n := f.describesOf("other") + f.describesOf("app-secret") + f.describesOf("new"); n != 0 {
			t.Errorf("%d describes of hidden streams", n)
		}
	})
}

func TestMissingTopicIsCreatedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var log bytes.Buffer
		c := New(Config{ProjectID: "p", Names: aliases(t, "a.b=a_b"), Logger: zerolog.New(&log)}, f)
		t.Cleanup(c.Close)
		const clients = 100
		outcomes := make(chan error, clients)
		for range clients {
			go func() {
				if _, err := c.Topic(t.Context(), "a.b"); !dis.HasCode(err, wire.CodeStreamNotFound) {
					outcomes <- fmt.Errorf("before: %w", err)
					return
				}
				topic, err := c.CreateMissing(t.Context(), CreateRequest{Name: "a.b", Partitions: 2})
				if err == nil && (topic.Name != "a.b" || len(topic.Partitions) != 2) {
					err = fmt.Errorf("topic %+v", topic)
				}
				outcomes <- err
			}()
		}
		time.Sleep(time.Second)
		f.running("a_b", 2)
		for range clients {
			if err := <-outcomes; err != nil {
				t.Error(err)
			}
		}
		if f.creates != 1 {
			t.Errorf("%d creations", f.creates)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), `"topic":"a.b"`) {
			t.Errorf("log %s", log.String())
		}
		if _, err := c.CreateMissing(t.Context(), CreateRequest{Name: "a.b", Partitions: 2}); err != nil || f.creates != 1 {
			t.Errorf("once it is there: %v, %d creations", err, f.creates)
		}
	})
}

// A quota stays used up, and producers ask ten times a second.
func TestMissingTopicThatCannotBeCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.createFails = refusal("CreateStream", wire.CodeQuotaExceeded)
		var log bytes.Buffer
		c := New(Config{ProjectID: "p", Logger: zerolog.New(&log)}, f)
		t.Cleanup(c.Close)
		create := func() error { return creating(c.CreateMissing(t.Context(), CreateRequest{Name: "a", Partitions: 1})) }
		for range 50 {
			if err := create(); !dis.HasCode(err, wire.CodeQuotaExceeded) {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if f.creates < 4 || f.creates > 6 {
			t.Errorf("%d creations in 5 s, want one a second", f.creates)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), wire.CodeQuotaExceeded) {
			t.Errorf("log %s", log.String())
		}
		f.mu.Lock()
		f.createFails = nil
		f.mu.Unlock()
		go func() {
			time.Sleep(2 * time.Second)
			f.running("a", 1)
		}()
		time.Sleep(time.Second)
		if err := create(); err != nil {
			t.Errorf("with room again: %v", err)
		}
	})
}

// Another gateway was faster: its stream is used.
func TestMissingTopicThatAnotherGatewayCreates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := open(t, f)
		if _, err := c.Topic(t.Context(), "a"); !dis.HasCode(err, wire.CodeStreamNotFound) {
			t.Fatal(err)
		}
		f.set("a", 3)
		topic, err := c.CreateMissing(t.Context(), CreateRequest{Name: "a", Partitions: 1})
		if err != nil || len(topic.Partitions) != 3 {
			t.Errorf("topic %+v, %v", topic, err)
		}
	})
}

// A client that does not wait to the end leaves the creation to go on.
func TestMissingTopicIsCreatedWithoutTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := open(t, f)
		impatient, cancel := contextFor(t, 5*time.Second)
		defer cancel()
		if _, err := c.CreateMissing(impatient, CreateRequest{Name: "a", Partitions: 1}); !errors.Is(err, impatient.Err()) || err == nil {
			t.Errorf("error %v", err)
		}
		f.running("a", 1)
		time.Sleep(lastPoll)
		describes := f.describesOf("a")
		wantPartitions(t, c, "a", 1)
		if f.describesOf("a") != describes {
			t.Error("the creation did not see the stream run")
		}
	})
}

func TestNamesInLists(t *testing.T) {
	c := newCache("p", aliases(t, "a.b=a_b", "s=id:abc"))
	for _, name := range []string{"a.b", "s"} {
		c.entry(name).listing = listing{createTime: 1}
	}
	got := map[string]translate.StreamRef{}
	for _, topic := range c.topics() {
		got[topic.Name] = translate.StreamRef{Name: topic.StreamName, ID: topic.StreamID}
	}
	want := map[string]translate.StreamRef{"a.b": {Name: "a_b"}, "s": {ID: "abc"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("topics that are listed and not described: %s", diff)
	}
}
