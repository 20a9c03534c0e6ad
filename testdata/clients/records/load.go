package records

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Loader is a client that can write a load, with its default settings.
type Loader interface {
	// Load writes the records of the load and tells the tally of each answer; it
	// returns when all are answered.
	Load(ctx context.Context, load Load, tally *Tally) error
}

// Load is records of a size, so many a second for so many seconds.
type Load struct {
	Bootstrap, Topic    string
	Size, Rate, Seconds int
}

func writeLoad(client Client, load Load, out *Output) error {
	loader, ok := client.(Loader)
	if !ok {
		return errors.New("this program writes no load")
	}
	var tally Tally
	if err := loader.Load(context.Background(), load, &tally); err != nil {
		return err
	}
	tally.print(out)
	return nil
}

// loadStep is how often the records that are due are sent.
const loadStep = 10 * time.Millisecond

// Each calls send for each record when it is due. When send waits, the records due
// meanwhile are sent at once afterwards.
func (l Load) Each(send func(key, value []byte)) {
	begin := time.Now()
	for sent := 0; ; time.Sleep(loadStep) {
		passed := time.Since(begin)
		if passed >= time.Duration(l.Seconds)*time.Second {
			return
		}
		for due := int(passed.Seconds() * float64(l.Rate)); sent < due; sent++ {
			send(l.record(sent))
		}
	}
}

// record is the key, key-i, and the value, i in decimal, filled up with letters x.
func (l Load) record(i int) (key, value []byte) {
	value = make([]byte, 0, max(l.Size, 20))
	value = strconv.AppendInt(value, int64(i), 10)
	for len(value) < l.Size {
		value = append(value, 'x')
	}
	return fmt.Appendf(nil, "key-%d", i), value
}

// Tally counts what became of records. It is safe for concurrent use.
type Tally struct {
	mu           sync.Mutex
	acknowledged int
	refused      map[string]int
}

// Answered counts a record: err is nil when it was acknowledged.
func (t *Tally) Answered(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.acknowledged++
		return
	}
	if t.refused == nil {
		t.refused = map[string]int{}
	}
	t.refused[err.Error()]++
}

func (t *Tally) print(out *Output) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(out, "acknowledged %d\n", t.acknowledged)
	for _, message := range slices.Sorted(maps.Keys(t.refused)) {
		fmt.Fprintf(out, "refused %d %q\n", t.refused[message], message)
	}
}
