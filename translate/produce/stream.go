package produce

import (
	"context"
	"sync"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// stream joins the chunks of its partitions into requests. Engine.mu guards it.
type stream struct {
	engine     *Engine
	key        streamKey
	topic      string // its Kafka name, for the log
	kind       wire.StreamType
	limit      int // data bytes of one request; lower than documented after a 413
	partitions map[int32]*partition
	queue      queue // what is to be sent
	inFlight   int
	// atWork counts the writers that will be in the queue in a moment: they encode
	// or settle, and wait for nobody but each other.
	atWork    int
	returning returning
}

func (e *Engine) stream(key streamKey, topic *translate.Topic) *stream {
	s := e.streams[key]
	if s == nil {
		s = &stream{engine: e, key: key, topic: topic.Name, kind: topic.StreamType, limit: wire.LimitsOf(topic.StreamType).RequestBytes, partitions: make(map[int32]*partition)}
		e.streams[key] = s
	}
	return s
}

// partition gives the writer of a partition.
func (s *stream) partition(number int32) *partition {
	p := s.partitions[number]
	if p == nil {
		p = &partition{stream: s, number: number, id: wire.Text(wire.PartitionID(int(number)))}
		p.pacer = s.engine.pacers.of(partitionKey{s.key, number}, s.kind)
		s.partitions[number] = p
	}
	return p
}

// forget removes a partition without work, and the stream with its last one unless
// producers are expected back.
func (s *stream) forget(p *partition) {
	delete(s.partitions, p.number)
	p.pacer.leave()
	s.forgetIfIdle()
}

func (s *stream) forgetIfIdle() {
	if len(s.partitions) == 0 && s.returning.hold == nil && s.engine.streams[s.key] == s {
		delete(s.engine.streams, s.key)
	}
}

// failUntouched answers every batch of which nothing was written.
func (s *stream) failUntouched(a *answers, result Result) {
	for _, p := range s.partitions {
		for _, b := range p.open {
			if b.idle() {
				b.finish(a, result)
			}
		}
		for _, b := range p.waiting {
			b.finish(a, result)
		}
		p.waiting = nil
	}
}

// put sends a chunk and waits for its outcome. Without anything left to send the
// outcome is empty and c.sending is 0.
func (s *stream) put(c *chunk) outcome {
	s.engine.mu.Lock()
	c.writer.sent = time.Now()
	s.queue.push(c)
	s.atWork--
	s.launch()
	s.engine.mu.Unlock()
	return <-c.outcome
}

// launch starts as many requests as may run. One that is not full waits for the
// writers at work, so that the partitions of a client's request, and those whose
// request was just answered, go on together: a request of each would take the
// place of one for all.
func (s *stream) launch() {
	for s.inFlight < s.engine.config.MaxInFlight && !s.queue.empty() {
		if s.atWork > 0 && !s.wholeRequest(s.queue.records, s.queue.bytes) {
			return
		}
		if joined := s.gather(s.recordsOfEach()); len(joined) > 0 {
			s.inFlight++
			go s.send(joined)
		}
	}
}

// wholeRequest reports whether so much fills a request.
func (s *stream) wholeRequest(records, bytes int) bool {
	return records >= maxRequestRecords || bytes >= s.limit
}

// recordsOfEach is the number of records after which a request leaves the rest of the
// queue to the next one. Requests of the same size are answered at the same time, and
// so are those of producers whose batches are in both.
func (s *stream) recordsOfEach() int {
	requests := max(parts(s.queue.records, maxRequestRecords), parts(s.queue.bytes, s.limit), 1)
	return parts(s.queue.records, min(requests, s.engine.config.MaxInFlight-s.inFlight))
}

// parts is how many parts of a size make the whole.
func parts(whole, size int) int { return (whole + size - 1) / size }

// whileResting does what a writer may have to wait for; the others do not wait
// for it meanwhile.
func (s *stream) whileResting(wait func()) {
	s.engine.mu.Lock()
	s.atWork--
	s.launch()
	s.engine.mu.Unlock()
	wait()
	s.engine.mu.Lock()
	s.atWork++
	s.engine.mu.Unlock()
}

// gather takes the oldest chunks that fit into one request, until there are enough
// records. From here on their batches are in flight.
func (s *stream) gather(enough int) (joined []*chunk) {
	records, bytes := 0, 0
	for !s.queue.empty() && (len(joined) == 0 || records < enough) {
		c := s.queue.first()
		s.queue.change(c, func() { c.prepare(s.limit) })
		if c.sending == 0 {
			s.queue.pop()
			s.atWork++
			c.outcome <- outcome{}
			continue
		}
		size := c.sentBytes()
		if len(joined) > 0 && (c.alone || records+c.sending > maxRequestRecords || bytes+size > s.limit) {
			return joined
		}
		s.queue.pop()
		joined = append(joined, c)
		records, bytes = records+c.sending, bytes+size
		for i := range c.sending {
			c.items[i].batch.inFlight++
		}
		if c.alone {
			return joined
		}
	}
	return joined
}

// send makes one request and gives each chunk its part of the outcome.
func (s *stream) send(joined []*chunk) {
	request := &wire.PutRecordsRequest{StreamName: s.key.name, Records: joined[0].records[:joined[0].sending]}
	if s.key.name == "" {
		request.StreamID = s.key.id
	}
	if len(joined) > 1 {
		total := 0
		for _, c := range joined {
			total += c.sending
		}
		request.Records = make([]wire.PutRecord, 0, total)
		for _, c := range joined {
			request.Records = append(request.Records, c.records[:c.sending]...)
		}
	}
	begin := time.Now()
	results, err := s.call(request, joined)

	s.engine.mu.Lock()
	s.returning.took = time.Since(begin)
	s.inFlight--
	s.atWork += len(joined)
	s.launch()
	s.engine.mu.Unlock()

	var settled sync.WaitGroup
	settled.Add(len(joined))
	for _, c := range joined {
		out := outcome{err: err, shared: len(joined) > 1, settled: &settled}
		if err == nil {
			out.results, results = results[:c.sending], results[c.sending:]
		}
		c.outcome <- out
	}
}

func (s *stream) call(request *wire.PutRecordsRequest, joined []*chunk) ([]wire.PutResult, error) {
	ctx, cancel := context.WithTimeout(s.engine.withCallers(joined), s.engine.config.RequestTimeout)
	defer cancel()
	response, err := s.engine.putter.PutRecords(ctx, request)
	if err != nil {
		return nil, err
	}
	if len(response.Records) != len(request.Records) {
		return nil, &unmatchedError{sent: len(request.Records), answered: len(response.Records)}
	}
	return response.Records, nil
}
