package produce

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// askedFor keeps for whom each request was made.
type askedFor struct {
	*fakeDIS
	callers [][]dis.Caller
}

func (a *askedFor) PutRecords(ctx context.Context, put *wire.PutRecordsRequest) (*wire.PutRecordsResponse, error) {
	a.mu.Lock()
	a.callers = append(a.callers, dis.Callers(ctx))
	a.mu.Unlock()
	return a.fakeDIS.PutRecords(ctx, put)
}

// TestWritesNameTheirRequests: each that has records in it, once, and not those that
// only wait; nobody is named while nobody logs it.
func TestWritesNameTheirRequests(t *testing.T) {
	for level, want := range map[zerolog.Level]string{
		zerolog.DebugLevel: "[[1/1] [1/2 2/1 3/9]]",
		zerolog.InfoLevel:  "[[] []]",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.MaxInFlight = 1; c.Logger = zerolog.New(&bytes.Buffer{}).Level(level) })
			recorder := &askedFor{fakeDIS: r.dis}
			recorder.latency = 10 * time.Millisecond
			r.engine.putter = recorder
			all := []*answered{r.submit(Batch{Partition: 0, Records: plain(t, "a"), Caller: dis.Caller{Connection: 1, Correlation: 1}})}
			synctest.Wait()
			for partition, from := range []dis.Caller{caller(1, 2), caller(2, 1), caller(3, 9)} {
				for range 2 { // two partitions, or two batches of one, of the same request
					all = append(all, r.submit(Batch{Partition: int32(partition), Records: plain(t, "b", "c"), Caller: from}))
				}
			}
			for _, a := range all {
				if got := a.wait(); got.Code != 0 {
					t.Errorf("%+v", got)
				}
			}
			for _, callers := range recorder.callers {
				slices.SortFunc(callers, func(a, b dis.Caller) int { return strings.Compare(a.String(), b.String()) })
			}
			if got := fmt.Sprint(recorder.callers); got != want {
				t.Errorf("at level %s the requests were made for %s, want %s", level, got, want)
			}
		})
	}
}

// TestTroubleNamesItsRequests at the level of the trouble.
func TestTroubleNamesItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, func(c *Config) { c.Logger = zerolog.New(&log).Level(zerolog.InfoLevel) })
		outcomes := []fate{{lose: errLost}, {}, {fail: errNoStream}}
		r.dis.script = func(call int, _ *wire.PutRecordsRequest) fate { return outcomes[call-1] }
		r.submit(Batch{Records: plain(t, "a"), Caller: dis.Caller{Connection: 4, Correlation: 2}}).wait()
		r.submit(Batch{Records: plain(t, "b"), Caller: dis.Caller{Connection: 5, Correlation: 3}}).wait()
		for _, wanted := range []string{`"request":"4/2"`, `"request":"5/3"`, "req-7", "outcome of a write is unknown", "DIS refused a batch"} {
			if !strings.Contains(log.String(), wanted) {
				t.Errorf("%s is not in\n%s", wanted, log.String())
			}
		}
	})
}

func caller(connection int64, correlation int32) dis.Caller {
	return dis.Caller{Connection: connection, Correlation: correlation}
}
