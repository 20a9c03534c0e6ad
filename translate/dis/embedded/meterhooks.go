package embedded

import (
	"errors"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// countPut counts a put that is answered with 200. Bytes are those of the data.
func (s *Server) countPut(st *stream, records []wire.PutRecord, results []putResult, took time.Duration) {
	now := s.now()
	whole := counts{countPutRequests: 1, countPutMicros: took.Microseconds()}
	var one counts
	var p *partition
	flush := func() {
		if p != nil && one[countPutRecords] > 0 {
			p.meter.add(now, &one)
			whole.add(&one)
		}
		one = counts{}
	}
	for i := range results {
		switch refused := results[i].refused; {
		case refused != nil && refused.code == wire.CodeThrottled:
			whole[countPutThrottled] = 1
		case refused == nil:
			if results[i].partition != p {
				flush()
				p = results[i].partition
			}
			one[countPutRecords]++
			one[countPutBytes] += int64(len(records[i].Data))
		}
	}
	flush()
	st.meter.add(now, &whole)
}

// countGet counts a read that worked, or was throttled.
func (s *Server) countGet(st *stream, p *partition, read *recordsWriter, err error, took time.Duration) {
	now := s.now()
	if err != nil {
		var refused *apiError
		if errors.As(err, &refused) && refused.code == wire.CodeThrottled {
			st.meter.add(now, &counts{countGetThrottled: 1})
		}
		return
	}
	one := counts{countGetRecords: int64(read.count), countGetBytes: int64(read.bytes)}
	if read.count > 0 {
		p.meter.add(now, &one)
	}
	one[countGetRequests], one[countGetMicros] = 1, took.Microseconds()
	st.meter.add(now, &one)
}
