package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"
)

// groupsGoal is how many DIS reads ten groups may take for each one that a
// single group takes.
const groupsGoal = 1.3

// manyGroups are set against one.
const manyGroups = 10

// groups counts the reads of DIS of one consumer group and of ten, first while
// a producer writes a record at a time and then of groups that begin at the
// start of what is stored.
func groups(b *bench) error {
	fmt.Println("| one partition                   | GetRecords, 1 group | GetRecords, 10 groups | ratio |")
	fmt.Println("|---------------------------------|--------------------:|----------------------:|------:|")
	var ratios []float64
	for _, way := range []struct {
		title string
		reads func(*setup, *bench, int) (float64, error)
	}{
		{"while records arrive one by one", (*setup).readsOfFollowers},
		{"from the start of what is there", (*setup).readsFromTheStart},
	} {
		one, err := inGroups(b, 1, way.reads)
		if err != nil {
			return err
		}
		many, err := inGroups(b, manyGroups, way.reads)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %19.0f | %21.0f | %5.2f |\n", way.title, one, many, many/one)
		ratios = append(ratios, many/one)
	}
	fmt.Println()
	for i, who := range []string{"follow a producer", "begin at the start"} {
		b.goal(ratios[i] <= groupsGoal, fmt.Sprintf("ten groups that %s at most %.1f times the DIS reads of one", who, groupsGoal),
			fmt.Sprintf("%.2f", ratios[i]))
	}
	return nil
}

// inGroups uses a gateway of its own, whose cache is empty.
func inGroups(b *bench, count int, reads func(*setup, *bench, int) (float64, error)) (float64, error) {
	u, err := startSetup(b, 0, "--initial-rebalance-delay", "0s")
	if err != nil {
		return 0, err
	}
	defer u.stop()
	if err := u.createStream(groupsTopic, 1); err != nil {
		return 0, err
	}
	return reads(u, b, count)
}

const groupsTopic = "groups"

// readsOfFollowers counts from the moment on at which every group has had a
// record, while more come one by one.
func (u *setup) readsOfFollowers(b *bench, count int) (float64, error) {
	producer, err := loneClient(job{Address: u.kafka, Topic: groupsTopic})
	if err != nil {
		return 0, err
	}
	defer producer.Close()
	consumers, err := u.join(count)
	if err != nil {
		return 0, err
	}
	defer consumers.close()
	send := func(records int) error {
		for range records {
			if err := producer.ProduceSync(context.Background(), &kgo.Record{Value: make([]byte, loneSize)}).FirstErr(); err != nil {
				return err
			}
			time.Sleep(loneRest)
		}
		return nil
	}
	if err := errors.Join(send(1), consumers.read(1)); err != nil {
		return 0, err
	}
	records := b.turns(2000, 200)
	return u.getRecordsDuring(func() error {
		var both errgroup.Group
		both.Go(func() error { return send(records) })
		both.Go(func() error { return consumers.read(records) })
		return both.Wait()
	})
}

// readsFromTheStart counts while the groups read what is stored already.
func (u *setup) readsFromTheStart(b *bench, count int) (float64, error) {
	fill := job{Kind: "produce", Way: "raw", Address: u.endpoint, Topic: groupsTopic, Partitions: 1,
		Records: b.turns(200_000, 20_000), Size: loneSize, PerRequest: 500, InFlight: 1}
	if _, _, err := fill.start(); err != nil {
		return 0, err
	}
	return u.getRecordsDuring(func() error {
		consumers, err := u.join(count)
		if err != nil {
			return err
		}
		defer consumers.close()
		return consumers.read(fill.Records)
	})
}

// getRecordsDuring is how many GetRecords the gateway makes while do runs.
func (u *setup) getRecordsDuring(do func() error) (float64, error) {
	before, err := u.disCalls("GetRecords")
	if err != nil {
		return 0, err
	}
	if err := do(); err != nil {
		return 0, err
	}
	after, err := u.disCalls("GetRecords")
	return after.count - before.count, err
}

// consumers are members of a group each.
type consumers []*kgo.Client

func (u *setup) join(count int) (all consumers, err error) {
	for i := range count {
		client, err := kgo.NewClient(kgo.SeedBrokers(u.kafka), kgo.ConsumerGroup(fmt.Sprintf("group-%d", i)),
			kgo.ConsumeTopics(groupsTopic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		if err != nil {
			all.close()
			return nil, err
		}
		all = append(all, client)
	}
	return all, nil
}

func (c consumers) close() {
	for _, client := range c {
		client.Close()
	}
}

// read waits until each has so many records more.
func (c consumers) read(records int) error {
	var all errgroup.Group
	for _, client := range c {
		all.Go(func() error {
			for got := 0; got < records; {
				fetches := client.PollFetches(context.Background())
				if err := fetches.Err(); err != nil {
					return err
				}
				got += fetches.NumRecords()
			}
			return nil
		})
	}
	return all.Wait()
}
