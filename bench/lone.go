package main

import (
	"errors"
	"fmt"
	"time"
)

const (
	// The goals of the medians: a record through the gateway may take this much
	// longer than the direct calls of DIS.
	addedProduceGoal = 500 * time.Microsecond
	addedTripGoal    = 300 * time.Microsecond

	loneSize   = 100
	loneWarmUp = 100 // turns before those that count
	// loneRest lies between two turns, so that the consumer waits in a fetch.
	loneRest = 2 * time.Millisecond
)

// The ways of a lone record. A client library takes time of its own, which it takes
// with a Kafka broker too: a bare connection shows what the gateway takes.
const (
	withFranz = "franz-go"
	bare      = "bare connection"
	direct    = "direct"
)

// The works of one record at a time, by the kind of their job.
var loneTitles = map[string]string{"lone": "a produce", "trip": "from a produce to its consumer"}

// lone sends one record at a time each way, in turns, in one process. Afterwards, when
// nothing else runs, the same clients do the same with a real broker.
func lone(b *bench) error {
	if err := lonePastDIS(b); err != nil {
		return err
	}
	return loneOnKafka(b)
}

func lonePastDIS(b *bench) error {
	u, err := startSetup(b, 0)
	if err != nil {
		return err
	}
	defer u.stop()
	fmt.Println("| one record at a time              | client          | gateway, ms | direct, ms | added, ms |")
	fmt.Println("|-----------------------------------|-----------------|------------:|-----------:|----------:|")
	produced, err := u.lone(b, "lone")
	if err != nil {
		return err
	}
	trip, err := u.lone(b, "trip")
	if err != nil {
		return err
	}
	fmt.Println()
	for _, way := range []string{withFranz, bare} {
		b.goal(produced[way] <= addedProduceGoal, way+": a lone produce at most 0.5 ms above one PutRecords", milliseconds(produced[way])+" ms")
		b.goal(trip[way] <= addedTripGoal, way+": from a produce to its consumer at most 0.3 ms above PutRecords and one GetRecords", milliseconds(trip[way])+" ms")
	}
	return nil
}

// loneOnKafka shows how much of the time is that of the client library.
func loneOnKafka(b *bench) error {
	kafka, err := startBroker(b.dir)
	if errors.Is(err, errNoJava) {
		fmt.Printf("\nKafka is left out, %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer kafka.stop()
	fmt.Println("\n| one record at a time, on Kafka    | franz-go, ms | bare connection, ms | the library's, ms |")
	fmt.Println("|-----------------------------------|-------------:|--------------------:|------------------:|")
	for _, kind := range []string{"lone", "trip"} {
		work := job{Kind: kind, Address: kafka.kafka, Topic: kind, Partitions: 1, Records: b.turns(2000, 200), Size: loneSize}
		for _, name := range []string{work.Topic, work.bareTopic()} {
			if err := createTopic(work.Address, name, 1); err != nil {
				return fmt.Errorf("on Kafka: %w", err)
			}
		}
		done, _, err := work.start()
		if err != nil {
			return fmt.Errorf("on Kafka: %w", err)
		}
		library, plain := medianTime(done.Each[withFranz]), medianTime(done.Each[bare])
		fmt.Printf("| %-33s | %12s | %19s | %17s |\n", loneTitles[kind], milliseconds(library), milliseconds(plain), milliseconds(library-plain))
	}
	return nil
}

// lone gives what each way through the gateway adds to the direct one.
func (u *setup) lone(b *bench, kind string) (added map[string]time.Duration, err error) {
	work := job{Kind: kind, Address: u.kafka, Endpoint: u.endpoint, Topic: kind, Stream: kind + "-" + direct,
		Partitions: 1, Records: b.turns(2000, 200), Size: loneSize}
	for _, name := range []string{work.Topic, work.bareTopic(), work.Stream} {
		if err := u.createStream(name, 1); err != nil {
			return nil, err
		}
	}
	done, _, err := work.start()
	if err != nil {
		return nil, err
	}
	added = make(map[string]time.Duration)
	past := medianTime(done.Each[direct])
	for _, way := range []string{withFranz, bare} {
		through := medianTime(done.Each[way])
		added[way] = through - past
		fmt.Printf("| %-33s | %-15s | %11s | %10s | %9s |\n", loneTitles[kind], way, milliseconds(through), milliseconds(past), milliseconds(added[way]))
	}
	return added, nil
}

// bareTopic is that of the bare connection: a consumer knows all records of its topic.
func (j job) bareTopic() string { return j.Topic + "-bare" }

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1000) }

// loneWay is one way to send a record: do gives the time at which it was there.
type loneWay struct {
	name string
	do   func(turn int) (end time.Time, err error)
}

// inTurns does the ways one after the other and times each turn after the warm-up
// until the moment that it names.
func inTurns(turns int, ways ...loneWay) (result, error) {
	r := result{Each: map[string][]time.Duration{}}
	for turn := range loneWarmUp + turns {
		for _, w := range ways {
			time.Sleep(loneRest)
			begin := time.Now()
			end, err := w.do(turn)
			if err != nil {
				return result{}, fmt.Errorf("turn %d, %s: %w", turn, w.name, err)
			}
			if turn >= loneWarmUp {
				r.Each[w.name] = append(r.Each[w.name], end.Sub(begin))
			}
		}
	}
	return r, nil
}
