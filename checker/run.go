package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// The times that a run allows after its faults have ended. They are far more
// than is needed: what takes longer is stuck.
const (
	flushTimeout = 60 * time.Second
	readTimeout  = 30 * time.Second
	scaleTimeout = 20 * time.Second
)

// run is one seed on its way.
type run struct {
	*setup
	schedule   schedule
	partitions atomic.Int32 // that clients know
	producers  []producer
	consumers  []*consumer
	loading    context.CancelFunc // ends the producing and the watching
	load       sync.WaitGroup
}

// outcome is what a run gives: its history, and how often each kind has hit.
type outcome struct {
	history *history
	hits    map[string]int
}

// program is the binary under test and how it is run.
type program struct {
	binary   string
	logLevel string
	data     string // the folder of the embedded DIS
}

// runSeed runs a schedule on processes of its own, whose logs go to the folder
// evidence. The error is one of the checker itself, or of a process that did not do
// what it was told; the history tells how far the run had come. What the gateway
// did wrong is in the history.
func runSeed(ctx context.Context, s schedule, p program, evidence string) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Length+4*time.Minute)
	defer cancel()
	recorder := newRecorder(s)
	setup, err := newSetup(ctx, p, evidence, &s, recorder)
	if err != nil {
		return &outcome{history: &recorder.h}, err
	}
	r := &run{setup: setup, schedule: s}
	r.partitions.Store(int32(s.Partitions))
	defer r.close()
	err = r.startClients(ctx)
	for i := 0; err == nil && i < len(s.Steps); i++ {
		err = r.step(ctx, &s.Steps[i])
	}
	if err == nil {
		err = r.settle(ctx)
	}
	if err != nil {
		err = errors.Join(err, r.flooded())
	}
	return &outcome{&recorder.h, r.hits}, err
}

func (r *run) startClients(ctx context.Context) error {
	address := r.toGateway.address()
	loading, stop := context.WithCancel(ctx)
	r.loading = stop
	for _, plan := range r.schedule.Consumers {
		if err := r.startConsumer(ctx, plan); err != nil {
			return err
		}
	}
	for _, plan := range r.schedule.Producers {
		var p producer
		var err error
		if plan.Kind == byHand {
			p, err = newWireProducer(ctx, address, plan, rand.Int64N(1<<62), r.recorder)
		} else {
			p, err = newFranzProducer(address, plan, r.recorder)
		}
		if err != nil {
			return err
		}
		r.producers = append(r.producers, p)
		r.load.Go(func() { produce(loading, &r.schedule, plan, &r.partitions, p, r.recorder) })
	}
	r.load.Go(func() {
		if err := watch(loading, address, r.schedule.Seed, &r.partitions, r.recorder); err != nil {
			r.recorder.complain("watcher: %v", err)
		}
	})
	return nil
}

// startConsumer starts one consumer; beside a group member that goes away there is
// another that stays.
func (r *run) startConsumer(ctx context.Context, plan consumerPlan) error {
	c, err := newConsumer(ctx, r.toGateway.address(), plan, r.schedule.Seed, r.recorder)
	if err != nil {
		return err
	}
	if plan.Away == 0 {
		r.consumers = append(r.consumers, c)
		return nil
	}
	r.load.Go(func() {
		time.Sleep(plan.Away)
		c.close()
	})
	return r.startConsumer(ctx, consumerPlan{Name: plan.Name + "-stays", Group: plan.Group})
}

// step waits for the time of a step, counted from the begin of the first life,
// and takes it.
func (r *run) step(ctx context.Context, p *step) error {
	var began time.Time
	r.recorder.lives(func(all []life) []life { began = all[0].Began; return all })
	select {
	case <-time.After(time.Until(began.Add(p.At))):
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := r.take(ctx, p); err != nil {
		return fmt.Errorf("%s at %v: %w", p.Kind, p.At, err)
	}
	return nil
}

func (r *run) take(ctx context.Context, p *step) error {
	hit := 1
	var err error
	if p.Kind != setFaults {
		r.recorder.note("", "%s", p.describe())
	}
	switch p.Kind {
	case setFaults:
		return r.setFaults(p.Faults)
	case killDIS, restartDIS:
		err = r.bounceDIS(p.Kind == killDIS, p.Down)
	case killGateway, restartGateway:
		err = r.bounceGateway(p.Kind == killGateway, p.Down)
	case cutClients:
		hit = r.toGateway.cut()
	case cutDIS:
		hit = r.toDIS.cut()
	case scaleUp, scaleDown:
		err = r.scale(ctx, p.Target)
	}
	r.hits[p.Kind] += hit
	return err
}

// settle ends the faults and waits until everything has its outcome and has been
// read; then it compares notes with DIS.
func (r *run) settle(ctx context.Context) error {
	if err := r.setFaults(faultPlan{Faults: []fault{}}); err != nil {
		return err
	}
	if r.schedule.has(scaleUp) {
		if err := r.useNewPartitions(ctx); err != nil {
			return err
		}
	}
	r.loading()
	r.load.Wait()
	r.flush(ctx)
	if err := r.waitWritten(ctx); err != nil {
		return err
	}
	if err := readDIS(ctx, r.disAddress, &r.recorder.h); err != nil {
		r.recorder.complain("reading DIS: %v", err)
	}
	r.waitRead(ctx)
	for _, c := range r.consumers {
		c.close()
	}
	for _, p := range r.producers {
		p.close()
	}
	if err := r.stopGateway(false); err != nil {
		return err
	}
	return r.brokenDown()
}

// useNewPartitions waits until clients see what a scaling has added, and then
// lets them use it for a while.
func (r *run) useNewPartitions(ctx context.Context) error {
	last := 0
	for _, p := range r.schedule.Steps {
		if p.Target > 0 {
			last = p.Target // a later scale-down may have taken empty ones away again
		}
	}
	if last <= r.schedule.Partitions {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, scaleTimeout)
	defer cancel()
	if err := waitPartitions(ctx, r.toGateway.address(), last); err != nil {
		r.recorder.complain("scaled up to %d partitions: %v", last, err)
		return nil
	}
	time.Sleep(1200 * time.Millisecond) // clients ask for metadata each second
	r.partitions.Store(int32(last))
	time.Sleep(500 * time.Millisecond)
	return nil
}

func (r *run) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	for _, p := range r.producers {
		if err := p.finish(ctx); err != nil {
			r.recorder.complain("%v after the end of faults: %v", flushTimeout, err)
		}
	}
}

// waitWritten waits until the gateway holds nothing that it still writes for
// clients that have given up.
func (r *run) waitWritten(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	for {
		counts, err := scrape(r.adminAddress)
		if err != nil {
			return err
		}
		if counts[bufferedBytes] == 0 {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			r.recorder.complain("%v after the end of faults the gateway still holds %d bytes of batches", flushTimeout, counts[bufferedBytes])
			return nil
		}
	}
}

// waitRead waits until every consumer has read to the end, as long as they get
// on: a DIS that has throttled is read at its documented rate for a while.
func (r *run) waitRead(ctx context.Context) {
	least, progress := int64(math.MaxInt64), time.Now()
	for {
		left, err := r.unread()
		if err == nil {
			return
		}
		if left < least {
			least, progress = left, time.Now()
		}
		if time.Since(progress) > readTimeout || ctx.Err() != nil {
			r.recorder.complain("%v without progress after the end of faults: %v", readTimeout, err)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// unread is how many offsets are left for all consumers, and for whom.
func (r *run) unread() (left int64, err error) {
	var behind []error
	for partition, records := range r.recorder.h.Stored {
		if len(records) == 0 {
			continue
		}
		end := records[len(records)-1].Offset + 1
		for _, c := range r.consumers {
			if next := r.recorder.lastRead(c.plan.Name, c.plan.Group, partition); next < end {
				left += end - next
				behind = append(behind, fmt.Errorf("consumer %s (group %q) has read partition %d up to %d of %d", c.plan.Name, c.plan.Group, partition, next, end))
			}
		}
	}
	return left, errors.Join(behind...)
}

func (r *run) close() {
	if r.loading != nil {
		r.loading()
	}
	r.load.Wait()
	for _, c := range r.consumers {
		c.stop()
	}
	r.setup.close()
	for _, c := range r.consumers {
		c.close()
	}
	for _, p := range r.producers {
		p.close()
	}
}
