package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	waitingConsumers  = 200
	waitingPartitions = 10 // of each consumer's topic
	// waitingCallsGoal is the default of --idle-polls.
	waitingCallsGoal = 100
	// waitingCPUGoal is the share of one core.
	waitingCPUGoal = 0.05
	waitingSettle  = 2 * time.Minute
)

// waiting has consumers wait on partitions in which nothing happens, and shows
// what that costs and how soon they get what another program writes.
func waiting(b *bench) error {
	u, err := startSetup(b, 0)
	if err != nil {
		return err
	}
	defer u.stop()
	consumers := b.turns(waitingConsumers, waitingConsumers/10)
	for i := range consumers {
		if err := u.createStream(waitingTopic(i), waitingPartitions); err != nil {
			return err
		}
	}
	arrivals, end, err := u.startWaiting(consumers)
	if err != nil {
		return err
	}
	defer end()
	if err := u.untilIdle(); err != nil {
		return err
	}
	perSecond, share, err := u.idleCost(time.Duration(b.turns(60, 5)) * time.Second)
	if err != nil {
		return err
	}
	took, err := u.foreignRecords(consumers, b.turns(40, 4), arrivals)
	if err != nil {
		return err
	}
	fmt.Printf("%d franz-go consumers on %d partitions: %.1f calls to DIS a second, %.2f %% of a core (%.2f ms for each call), gateway memory %.0f MiB\n",
		consumers, consumers*waitingPartitions, perSecond, 100*share, 1000*share/perSecond, mebibytes(u.gateway.rss()))
	fmt.Printf("a record that another program wrote was there after %.2f s (median of %d), at most %.2f s\n\n",
		took[len(took)/2].Seconds(), len(took), took[len(took)-1].Seconds())
	b.goal(perSecond <= waitingCallsGoal, fmt.Sprintf("at most %d calls to DIS a second", waitingCallsGoal), fmt.Sprintf("%.1f", perSecond))
	b.goal(share < waitingCPUGoal, fmt.Sprintf("under %.0f %% of a core", 100*waitingCPUGoal), fmt.Sprintf("%.2f %%", 100*share))
	return nil
}

func waitingTopic(i int) string { return fmt.Sprintf("waiting-%d", i) }

// startWaiting starts a consumer at the end of each topic. A record is told by
// its time of arrival.
func (u *setup) startWaiting(consumers int) (arrivals <-chan time.Time, end func(), err error) {
	arrived := make(chan time.Time, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	var clients []*kgo.Client
	end = func() {
		cancel()
		_ = group.Wait() // its functions return no error
		for _, client := range clients {
			client.Close()
		}
	}
	for i := range consumers {
		client, err := kgo.NewClient(kgo.SeedBrokers(u.kafka), kgo.ConsumeTopics(waitingTopic(i)),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
		if err != nil {
			end()
			return nil, nil, err
		}
		clients = append(clients, client)
		group.Go(func() error {
			for ctx.Err() == nil {
				client.PollFetches(ctx).EachRecord(func(*kgo.Record) { arrived <- time.Now() })
			}
			return nil
		})
	}
	return arrived, end, nil
}

// untilIdle returns when the consumers have started: they are done with metadata
// and offsets, and the end of each partition has been looked at once.
func (u *setup) untilIdle() error {
	const every, quiet = 2 * time.Second, 2
	for began := time.Now(); time.Since(began) < waitingSettle; {
		before, err := u.metric("kdg_dis_request_seconds_count")
		if err != nil {
			return err
		}
		time.Sleep(every)
		after, err := u.metric("kdg_dis_request_seconds_count")
		if err != nil {
			return err
		}
		if after-before < waitingCallsGoal*every.Seconds() && time.Since(began) > quiet*every {
			return nil
		}
	}
	return errors.New("the consumers did not come to rest")
}

// idleCost is the calls to DIS a second and the share of a core over a time.
func (u *setup) idleCost(over time.Duration) (perSecond, share float64, err error) {
	calls, err := u.metric("kdg_dis_request_seconds_count")
	if err != nil {
		return 0, 0, err
	}
	cpu, err := u.gateway.cpu()
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	time.Sleep(over)
	took := time.Since(began).Seconds()
	cpuAfter, err := u.gateway.cpu()
	if err != nil {
		return 0, 0, err
	}
	callsAfter, err := u.metric("kdg_dis_request_seconds_count")
	return (callsAfter - calls) / took, (cpuAfter - cpu).Seconds() / took, err
}

// foreignRecords writes records past the gateway, each into another topic and
// when the one before has arrived; the times until they did, in order of length.
func (u *setup) foreignRecords(consumers, count int, arrivals <-chan time.Time) ([]time.Duration, error) {
	client, err := newRawClient(u.endpoint)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var took []time.Duration
	for i := range count {
		time.Sleep(time.Duration(i) * 37 * time.Millisecond) // in no step with anything
		request := wire.PutRecordsRequest{
			StreamName: waitingTopic(i * 37 % consumers),
			Records:    []wire.PutRecord{{Data: []byte("v"), PartitionID: wire.Text(wire.PartitionID(i % waitingPartitions))}},
		}
		if err := put(client, &request); err != nil {
			return nil, err
		}
		written := time.Now()
		select {
		case at := <-arrivals:
			took = append(took, at.Sub(written))
		case <-time.After(time.Minute):
			return nil, errors.New("a record did not arrive within a minute")
		}
	}
	slices.Sort(took)
	return took, nil
}
