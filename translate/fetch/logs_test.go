package fetch

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// sharedLog is a log that several goroutines write.
type sharedLog struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (s *sharedLog) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

// all are the lines, and empties the log.
func (s *sharedLog) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := slices.Collect(strings.Lines(s.log.String()))
	s.log.Reset()
	return found
}

// warnings are the lines of that level, and empties the log.
func (s *sharedLog) warnings() (found []string) {
	for _, line := range s.all() {
		if strings.Contains(line, `"level":"warn"`) {
			found = append(found, line)
		}
	}
	return found
}

// TestAnOutageIsOneLine, however many partitions are read and however long it lasts;
// the next one is another.
func TestAnOutageIsOneLine(t *testing.T) {
	log := &sharedLog{}
	both := func(d *fakeDIS) { d.fill(0, 10, "v"); d.fill(1, 10, "v") }
	inBubble(t, Config{Logger: zerolog.New(log).Level(zerolog.InfoLevel)}, both, func(b *bench) {
		b.fetch(0)
		readBoth := func() {
			for range 20 {
				for partition := range int32(2) {
					b.others.Go(func() { b.engine.Fetch(context.Background(), b.request(partition, 10)) })
				}
				time.Sleep(3 * time.Second)
			}
		}
		for outage := range 2 {
			b.dis.set(func(d *fakeDIS) { d.fail = failing500("") })
			readBoth()
			if lines := log.warnings(); len(lines) != 1 {
				b.Errorf("outage %d: %d lines:\n%s", outage, len(lines), strings.Join(lines, ""))
			}
			b.dis.set(func(d *fakeDIS) { d.fail = nil })
			readBoth()
			if lines := log.warnings(); len(lines) != 0 {
				b.Errorf("after outage %d:\n%s", outage, strings.Join(lines, ""))
			}
		}
	})
}

// TestDescribesThatFailAreToldToTheirEnd: once when they begin, once when they are over.
func TestDescribesThatFailAreToldToTheirEnd(t *testing.T) {
	log := &sharedLog{}
	inBubble(t, Config{Logger: zerolog.New(log).Level(zerolog.InfoLevel)}, tenRecords, func(b *bench) {
		b.fetch(0)
		for range 2 {
			b.dis.set(func(d *fakeDIS) { d.fail = always("DescribeStream", "DIS.4116") })
			read := func() { b.engine.Fetch(context.Background(), b.request(0, 10)); time.Sleep(3 * time.Second) }
			for range 5 {
				read()
			}
			b.dis.set(func(d *fakeDIS) { d.fail = nil })
			for range 5 {
				read()
			}
			lines := log.all()
			if len(lines) != 2 || !strings.Contains(lines[0], "cannot describe the stream") || !strings.Contains(lines[0], "DIS.4116") ||
				!strings.Contains(lines[1], `"level":"info","topic":"`+b.topic.Name+`","failures":`) || !strings.Contains(lines[1], "the stream is described again") {
				b.Errorf("log %q", lines)
			}
		}
	})
}

// TestTroubleOfOneStreamIsTold although another outage was.
func TestTroubleOfOneStreamIsTold(t *testing.T) {
	log := &sharedLog{}
	inBubble(t, Config{Logger: zerolog.New(log).Level(zerolog.InfoLevel)}, tenRecords, func(b *bench) {
		b.engine.away.Store(true)
		b.dis.set(func(d *fakeDIS) { d.fail = always("GetCursor", "DIS.4116") })
		b.engine.Fetch(dis.WithCallers(context.Background(), dis.Caller{Connection: 8, Correlation: 1}), b.request(0, 0))
		lines := log.warnings()
		if len(lines) != 1 || !strings.Contains(lines[0], `"request":"8/1"`) || !strings.Contains(lines[0], "DIS.4116") {
			b.Errorf("%d lines: %q", len(lines), lines)
		}
	})
}

// TestReadsNameTheRequestsThatWait, all that one read serves, while somebody logs that.
func TestReadsNameTheRequestsThatWait(t *testing.T) {
	for level, want := range map[zerolog.Level]int{zerolog.DebugLevel: 2, zerolog.InfoLevel: 0} {
		inBubble(t, Config{Logger: zerolog.New(&sharedLog{}).Level(level)}, tenRecords, func(b *bench) {
			for correlation := range int32(2) {
				b.others.Go(func() {
					ctx := dis.WithCallers(context.Background(), dis.Caller{Connection: 8, Correlation: correlation})
					request := b.request(0, 10)
					request.MaxWait = 10 * time.Second
					b.engine.Fetch(ctx, request)
				})
			}
			time.Sleep(time.Second)
			b.engine.Advance(b.topic, 0, b.dis.put(0, "v")+1)
			b.others.Wait()
			most := map[dis.Caller]bool{}
			b.dis.set(func(d *fakeDIS) {
				for _, callers := range d.callers {
					if len(callers) > len(most) {
						for _, c := range callers {
							most[c] = true
						}
					}
				}
			})
			if len(most) != want || want > 0 && !(most[dis.Caller{Connection: 8}] && most[dis.Caller{Connection: 8, Correlation: 1}]) {
				b.Errorf("at level %s a read names %v", level, most)
			}
		})
	}
}
