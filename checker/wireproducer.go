package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// wireBatch is one batch, sent again byte by byte until it is acknowledged.
type wireBatch struct {
	ids   []recordID
	bytes []byte
}

// wireProducer is an idempotent producer written by hand: up to five requests in
// flight, each with one batch. After a failure it waits for the answers that are
// due and sends everything again, in order; so does librdkafka.
type wireProducer struct {
	plan     producerPlan
	address  string
	recorder *recorder
	id       int64
	incoming chan outgoing
	done     chan struct{}
	once     sync.Once
	finished chan struct{}
	stop     context.CancelFunc
}

type outgoing struct {
	id recordID
	c  content
}

const maxInFlight = 5

func newWireProducer(ctx context.Context, address string, plan producerPlan, foreignID int64, r *recorder) (*wireProducer, error) {
	ctx, stop := context.WithCancel(ctx)
	p := &wireProducer{
		plan: plan, address: address, recorder: r, id: foreignID,
		incoming: make(chan outgoing, 500), done: make(chan struct{}), finished: make(chan struct{}), stop: stop,
	}
	if !plan.Foreign {
		if err := p.askForID(ctx); err != nil {
			stop()
			return nil, fmt.Errorf("producer id: %w", err)
		}
	}
	go func() {
		defer close(p.finished)
		p.run(ctx)
	}()
	return p, nil
}

func (p *wireProducer) askForID(ctx context.Context) error {
	conn, err := dialWire(ctx, p.address, p.plan.Name)
	if err != nil {
		return err
	}
	defer conn.conn.Close()
	request := kmsg.NewPtrInitProducerIDRequest()
	request.Version = 4
	if err := conn.write(request); err != nil {
		return err
	}
	answer, err := conn.read(request, 1)
	if err != nil {
		return err
	}
	response := answer.(*kmsg.InitProducerIDResponse)
	if response.ErrorCode != 0 {
		return fmt.Errorf("code %d", response.ErrorCode)
	}
	p.id = response.ProducerID
	return nil
}

func (p *wireProducer) send(ctx context.Context, id recordID, c content) {
	select {
	case p.incoming <- outgoing{id, c}:
	case <-ctx.Done():
	}
}

func (p *wireProducer) finish(ctx context.Context) error {
	p.once.Do(func() { close(p.done) })
	select {
	case <-p.finished:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("producer %s has records without an outcome: %w", p.plan.Name, ctx.Err())
	}
}

func (p *wireProducer) close() {
	p.stop()
	<-p.finished
}

// firstSequence of a foreign id is near the end of the numbers, which go on with 0.
func (p *wireProducer) firstSequence() int32 {
	if p.plan.Foreign {
		return 1<<31 - 100
	}
	return 0
}

// wireState is what the loop of a wireProducer knows.
type wireState struct {
	*wireProducer
	sequences map[int32]int32
	queue     []wireBatch // not acknowledged, oldest first
	sent      int         // how many of the queue are in flight on conn
	conn      *wireConn
	number    int32 // of the reply that is due
	failed    bool  // one of those in flight failed: all are sent again
	ending    bool
	unhook    func() bool // of closing conn when the run is over
}

// run goes on until everything was acknowledged after finish, or ctx ends.
func (p *wireProducer) run(ctx context.Context) {
	s := &wireState{wireProducer: p, sequences: map[int32]int32{}}
	defer s.drop()
	for ctx.Err() == nil {
		s.collect(ctx)
		if s.ending && len(s.queue) == 0 {
			return
		}
		if err := s.exchange(ctx); err != nil {
			s.noteAgain(err)
			s.drop()
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

// noteAgain tells why everything that waits is sent again, and from where on.
func (s *wireState) noteAgain(err error) {
	if len(s.queue) > 0 && !errors.Is(err, errAgain) {
		s.recorder.note(s.plan.Name, "sends again from %v on: %v", s.queue[0].ids[0], err)
	}
}

func (s *wireState) drop() {
	if s.conn != nil {
		s.unhook()
		s.conn.conn.Close()
	}
	s.conn, s.sent, s.number, s.failed = nil, 0, 0, false
}

// collect cuts batches of what came. It waits only when there is nothing to do.
func (s *wireState) collect(ctx context.Context) {
	for len(s.queue) < 2*maxInFlight {
		var first outgoing
		if len(s.queue) == 0 && !s.ending {
			select {
			case first = <-s.incoming:
			case <-s.done:
				s.ending = true
				continue
			case <-ctx.Done():
				return
			}
		} else {
			select {
			case first = <-s.incoming:
			default:
				return
			}
		}
		s.cut(first)
	}
}

// cut makes batches of the first record and those that wait behind it, one for
// each partition.
func (s *wireState) cut(first outgoing) {
	var order []int32
	parts := map[int32][]outgoing{}
	for more := true; more; {
		if parts[first.id.Partition] == nil {
			order = append(order, first.id.Partition)
		}
		parts[first.id.Partition] = append(parts[first.id.Partition], first)
		select {
		case first = <-s.incoming:
		default:
			more = false
		}
	}
	for _, partition := range order {
		sequence, known := s.sequences[partition]
		if !known {
			sequence = s.firstSequence()
		}
		var b wireBatch
		var contents []content
		for _, o := range parts[partition] {
			b.ids, contents = append(b.ids, o.id), append(contents, o.c)
		}
		b.bytes = encodeBatch(s.id, sequence, contents)
		s.sequences[partition] = int32((uint32(sequence) + uint32(len(contents))) & (1<<31 - 1))
		s.queue = append(s.queue, b)
	}
}

// exchange sends what may be in flight and takes one reply.
func (s *wireState) exchange(ctx context.Context) (err error) {
	if s.conn == nil {
		if s.conn, err = dialWire(ctx, s.address, s.plan.Name); err != nil {
			return err
		}
		conn := s.conn.conn
		s.unhook = context.AfterFunc(ctx, func() { conn.Close() })
	}
	for ; s.sent < min(maxInFlight, len(s.queue)) && !s.failed; s.sent++ {
		b := &s.queue[s.sent]
		if err := s.conn.write(produceRequest(b.ids[0].Partition, s.plan.Timeout, b.bytes)); err != nil {
			return err
		}
	}
	s.number++
	answer, err := s.conn.read(produceRequest(0, 0, nil), s.number)
	if err != nil {
		return err
	}
	return s.settle(answer.(*kmsg.ProduceResponse))
}

// retriable are the codes after which a producer sends again: 3, 5, 6, 7, 19.
var retriable = map[int16]bool{3: true, 5: true, 6: true, 7: true, 19: true}

// errAgain ends the use of a connection after a failure, with nothing in flight.
var errAgain = errors.New("everything is sent again")

func (s *wireState) settle(response *kmsg.ProduceResponse) error {
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		s.recorder.complain("producer %s: a reply without its partition: %+v", s.plan.Name, response)
		return errAgain
	}
	part := &response.Topics[0].Partitions[0]
	s.sent--
	if !s.failed && part.ErrorCode == 0 {
		for i, id := range s.queue[0].ids {
			offset := part.BaseOffset
			if offset >= 0 {
				offset += int64(i)
			}
			s.recorder.acknowledged(id, offset)
		}
		s.queue = s.queue[1:]
		return nil
	}
	ids := s.queue[0].ids
	s.recorder.note(s.plan.Name, "reply %d says code %d, the oldest batch is %v to %v", s.number, part.ErrorCode, ids[0], ids[len(ids)-1])
	if part.ErrorCode != 0 && !retriable[part.ErrorCode] {
		message := ""
		if part.ErrorMessage != nil {
			message = *part.ErrorMessage
		}
		s.recorder.complain("idempotent producer %s was refused a batch at %s with code %d: %s", s.plan.Name, s.queue[0].ids[0], part.ErrorCode, message)
	}
	s.failed = true
	if s.sent == 0 {
		return errAgain
	}
	return nil
}
