package groupcoord

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTopicsOfAConsumerGroupChange(t *testing.T) {
	topics := newFakeTopics("t:2")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		a := r.beater("a", "t", "u")
		wantList(r, "joins", a.join(), "t0", "t1")

		topics.set("t:3")
		r.sleep(5 * time.Second)
		want(r, "state", r.describeConsumers(1).State, "Assigning")
		wantList(r, "grown", a.beat(), "t0", "t1", "t2")
		want(r, "epoch", a.epoch, 3)

		topics.set("u:1")
		r.sleep(5 * time.Second)
		wantList(r, "created", a.beat(), "t0", "t1", "t2", "u0")

		topics.remove("t")
		r.sleep(5 * time.Second)
		wantList(r, "deleted", a.beat(), "u0")
		a.has("u0")
		want(r, "state", r.describeConsumers(1).State, "Stable")
		epoch := a.epoch
		r.sleep(30 * time.Second)
		a.beat()
		want(r, "nothing changes", a.epoch, epoch)
	})
}

func TestPatternSubscription(t *testing.T) {
	topics := newFakeTopics("app-a:1", "app-b:1", "my-app-c:1", "other:1")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		a := r.beater("a")
		a.pattern = ptr("app-.*")
		wantList(r, "the whole name counts", a.join(), "app-a0", "app-b0")
		topics.set("app-c:2")
		r.sleep(5 * time.Second)
		wantList(r, "a new topic", a.beat(), "app-a0", "app-b0", "app-c0", "app-c1")
		topics.remove("app-a")
		r.sleep(5 * time.Second)
		wantList(r, "a topic goes", a.beat(), "app-b0", "app-c0", "app-c1")
		a.has("app-b0", "app-c0", "app-c1")

		a.pattern, a.topics = ptr("(?i)OTHER|app-b"), []string{"app-c"}
		wantList(r, "both, and other", a.follow(), "app-b0", "app-c0", "app-c1", "other0")
		d := r.describeConsumers(1).Members[0]
		want(r, "pattern", *d.SubscribedTopicRegex, "(?i)OTHER|app-b")
		wantList(r, "names", d.SubscribedTopics, "app-c")

		a.pattern = ptr("")
		wantList(r, "names alone", a.follow(), "app-c0", "app-c1")
	})
}

func TestPatterns(t *testing.T) {
	for _, tc := range []struct {
		pattern, name string
		matches       bool
	}{
		{"a|b", "ab", false},
		{"a|b", "b", true},
		{"^a$", "a", true},
		{".*", "", true},
		{`\Qa.b`, "a.b", true}, // quoted to the end
		{`\Qa.b`, "axb", false},
		{"a(?i)B", "ab", true},
		{"a", "a\n", false},
		{"(?m)^a$", "a\nb", false},
	} {
		re, err := compilePattern(tc.pattern)
		if err != nil {
			t.Errorf("%q: %v", tc.pattern, err)
			continue
		}
		if re.MatchString(tc.name) != tc.matches {
			t.Errorf("%q matches %q: %v", tc.pattern, tc.name, !tc.matches)
		}
	}
	for _, bad := range []string{"a)(b", "[", `a\`, "(?<!a)b", "*", strings.Repeat("a", maxPattern+1)} {
		if _, err := compilePattern(bad); err == nil {
			t.Errorf("%.20q is accepted", bad)
		}
	}
}

// A pattern of few bytes that stands for very many characters or ways to match is
// refused: compiling or matching it would take memory and processors from all others.
func TestPatternsAreBounded(t *testing.T) {
	for _, bad := range []string{
		strings.Repeat(`\pL`, 100),
		strings.Repeat(`\pL`, 30), // within the number of classes, too many ranges
		strings.Repeat(`(?i)[b-\x{10000}]`, maxPatternWide+1),
		strings.Repeat("ö", maxPatternWide+1),
		strings.Repeat("(.{500})", 100),
		strings.Repeat("(a{1000})", 40),
		strings.Repeat("(.*)", maxPatternChoices+1),
		strings.Repeat("x?", maxPatternChoices+1),
		strings.Repeat("(|x)", maxPatternChoices+1),
		".{0,101}",
		"(.*){101}",
		"(.{0,10}){11}",
	} {
		if _, err := compilePattern(bad); err == nil {
			t.Errorf("%.20q is accepted", bad)
		}
	}
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("%d%s", i, strings.Repeat("n", 60)))
	}
	for _, good := range []string{
		strings.Join(names, "|"),
		`\p{L}+-\pN{4}`,
		strings.Repeat("(.*)", maxPatternChoices),
		"[a-z]{1,64}",
		"(?i)orders-.*",
	} {
		if _, err := compilePattern(good); err != nil {
			t.Errorf("%.20q: %v", good, err)
		}
	}
}

// Those who send costly patterns wait for each other, and for nobody longer than a
// question to the catalog may take.
func TestHeavyPatternsTakeTurns(t *testing.T) {
	inConsumerBubble(t, Config{TopicsTimeout: 10 * time.Second}, newFakeTopics("t:1"), func(r *rig) {
		r.c.matching <- struct{}{} // somebody has the turn
		light := r.beater("light")
		light.pattern = ptr("t.*")
		wantList(r, "a light one does not wait", light.join(), "t0")
		heavy := r.beater("heavy")
		heavy.pattern = ptr("t|" + strings.Repeat("n", lightPattern))
		req := heavy.fullRequest()
		req.Group = "other"
		p := heavy.send(req)
		p.held()
		<-r.c.matching
		want(r, "after its turn", p.get().ErrorCode, 0)
	})
}

// Clients do not wait for a catalog that fails: they join with nothing, and get
// their partitions when it can be asked again.
func TestTopicCatalogFails(t *testing.T) {
	topics := newFakeTopics("t:1")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		topics.fail(true)
		a := r.beater("a", "t")
		wantList(r, "joins", a.join())
		topics.fail(false)
		r.sleep(5 * time.Second)
		wantList(r, "later", a.beat(), "t0")
		topics.fail(true)
		r.sleep(20 * time.Second)
		want(r, "stale beats wrong", len(a.beat()), 0)
		want(r, "epoch", a.epoch, 3)
	})
}

// Requests of one member keep their order while its topics are looked up, and
// those of others do not wait.
func TestLookupsKeepTheOrder(t *testing.T) {
	topics := newFakeTopics("t:2", "u:1")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		a, b := r.beater("a", "t"), r.beater("b", "u")
		a.join()
		topics.slow(2 * time.Second)
		join := b.send(b.fullRequest())
		req := b.request()
		req.MemberEpoch = -1
		leave := b.send(req)
		join.held()
		leave.held()
		want(r, "a is answered", len(a.beat()), 0)
		r.sleep(3 * time.Second)
		b.took(join)
		want(r, "left", leave.get().ErrorCode, 0)
		want(r, "members", len(r.describeConsumers(1).Members), 1)
	})
}

// A catalog that does not answer at all ends with its time.
func TestLookupTakesTooLong(t *testing.T) {
	topics := newFakeTopics("t:2")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		topics.slow(time.Hour)
		a := r.beater("a", "t")
		join := a.send(a.fullRequest())
		join.held()
		r.sleep(10 * time.Second)
		wantList(r, "joins with nothing", a.took(join))
	})
}

// Closing answers those who wait for a lookup.
func TestCloseDuringLookup(t *testing.T) {
	topics := newFakeTopics("t:2")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		topics.slow(2 * time.Second)
		a := r.beater("a", "t")
		join := a.send(a.fullRequest())
		join.held()
		r.restart()
		want(r, "answer", join.get().ErrorCode, codeNotCoordinator)
	})
}

// A topic that does not exist is asked for by name when somebody subscribes to it, and
// then looked for in the list of all.
func TestMissingTopicsAreNotAskedForByName(t *testing.T) {
	topics := newFakeTopics("t:1")
	inConsumerBubble(t, Config{}, topics, func(r *rig) {
		a := r.beater("a", "t", "missing")
		a.join()
		if !slices.Contains(topics.lastNames(), "missing") {
			t.Errorf("asked for %v", topics.lastNames())
		}
		r.sleep(r.c.cfg.TopicsInterval)
		if !slices.Equal(topics.lastNames(), []string{"t"}) {
			t.Errorf("asked again for %v", topics.lastNames())
		}
		topics.set("missing:1")
		r.sleep(r.c.cfg.TopicsInterval)
		wantList(r, "it exists", a.beat(), "missing0", "t0")
		r.sleep(r.c.cfg.TopicsInterval)
		if !slices.Equal(topics.lastNames(), []string{"missing", "t"}) {
			t.Errorf("asked for %v", topics.lastNames())
		}
	})
}
