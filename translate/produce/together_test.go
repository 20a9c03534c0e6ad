package produce

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestAnsweredPartitionsJoinTheNextRequest: a partition whose request was just
// answered has its next batch on the way with those that waited meanwhile,
// instead of one request for these and another for itself.
func TestAnsweredPartitionsJoinTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *Config) { c.MaxInFlight = 1 })
		r.dis.latency = 10 * time.Millisecond
		all := []*answered{r.send(0, "first")}
		synctest.Wait()
		for p := range int32(4) {
			all = append(all, r.send(p, "second"))
		}
		for _, a := range all {
			if got := a.wait(); got.Code != 0 {
				t.Errorf("%+v", got)
			}
		}
		if len(r.dis.requests) != 2 || len(r.dis.requests[1].partitions) != 4 {
			t.Errorf("requests %+v, want the first batch and then all others", r.dis.requests)
		}
	})
}

// TestAPausingPartitionHoldsUpNoOther: one that waits before it sends again is
// not waited for.
func TestAPausingPartitionHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.dis.script = refuseFirst("DIS.4303")
		refused := r.send(0, "again")
		synctest.Wait() // it pauses now
		begin := time.Now()
		if got := r.send(1, "at once").wait(); got.Code != 0 || time.Since(begin) > 0 {
			t.Errorf("%+v after %s", got, time.Since(begin))
		}
		if got := refused.wait(); got.Code != 0 || time.Since(begin) == 0 {
			t.Errorf("%+v after %s", got, time.Since(begin))
		}
		var data []string
		for _, request := range r.dis.requests {
			data = append(data, request.data...)
		}
		if want := []string{"again", "at once", "again"}; !slices.Equal(data, want) {
			t.Errorf("sent %q, want %q", data, want)
		}
	})
}

// refuseFirst refuses the first record of the first request.
func refuseFirst(code string) func(int, *wire.PutRecordsRequest) fate {
	return func(call int, _ *wire.PutRecordsRequest) fate {
		if call == 1 {
			return fate{refuse: map[int]string{0: code}}
		}
		return fate{}
	}
}
