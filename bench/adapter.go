package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// adapterGoal is how much faster Kafka's client through the gateway must be than
// the adapter that keeps the order as Kafka does.
const adapterGoal = 1.5

const (
	adapterLatency    = 10 * time.Millisecond
	adapterPartitions = 16
	adapterSize       = 1024
	adapterRounds     = 3
	// adapterBatch is the default batch.size of the adapter; that of Kafka's client
	// is 16 KiB, and five requests of that do not fill the time that DIS takes.
	adapterBatch = 1 << 20
)

// javaWay is one program of the comparison.
type javaWay struct {
	name    string
	module  string
	options []string
	rates   []float64 // records per second, by round
}

func (w *javaWay) rate() float64 { return middle(w.rates) }

// adapter sets Kafka's own Java client through the gateway against the DIS Kafka
// adapter on the same DIS. Every run is a JVM of its own, which warms up first.
func adapter(b *bench) error {
	java, err := buildJava(b.dir)
	if errors.Is(err, errNoJava) {
		fmt.Printf("skipped, %v\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	u, err := startSetup(b, adapterLatency)
	if err != nil {
		return err
	}
	defer u.stop()
	c := comparison{bench: b, setup: u, java: java, count: b.turns(200_000, 20_000)}
	if err := c.createStreams(); err != nil {
		return err
	}
	kafka := []string{"--bootstrap", u.kafka}
	dis := []string{"--endpoint", u.endpoint}
	produced := &javaWay{name: "produce, Kafka's client and the gateway", module: "kafka", options: kafka}
	ordered := &javaWay{name: "produce, adapter, order.by.partition=true", module: "adapter", options: append(dis, "--order", "true")}
	unordered := &javaWay{name: "produce, adapter, unordered by default", module: "adapter", options: append(dis, "--order", "false")}
	asLarge := &javaWay{name: "produce, the gateway, batches of 1 MiB too", module: "kafka", options: append(kafka, "--batch-size", strconv.Itoa(adapterBatch))}
	consumed := &javaWay{name: "consume, Kafka's client and the gateway", module: "kafka", options: append(kafka, "--group", "kafka")}
	polled := &javaWay{name: "consume, adapter", module: "adapter", options: append(dis, "--group", "adapter")}
	producing, consuming := []*javaWay{produced, ordered, unordered, asLarge}, []*javaWay{consumed, polled}
	for round := range min(b.rounds, adapterRounds) {
		if err := c.round(round, producing, consuming); err != nil {
			return err
		}
	}
	fmt.Printf("%d records of %d B on %d partitions, %s added\n\n", c.count, adapterSize, adapterPartitions, adapterLatency)
	fmt.Println("| Java client                                |   rec/s | gateway to this one |")
	fmt.Println("|--------------------------------------------|--------:|--------------------:|")
	for _, ways := range [][]*javaWay{producing, consuming} {
		for _, w := range ways {
			fmt.Printf("| %-42s | %7.0f | %19.2f |\n", w.name, w.rate(), ways[0].rate()/w.rate())
		}
	}
	fmt.Println()
	for _, g := range []struct {
		work          string
		gateway, than *javaWay
	}{
		{"producing", produced, ordered},
		{"producing with batches as large as the adapter's", asLarge, ordered},
		{"consuming", consumed, polled},
	} {
		ratio := g.gateway.rate() / g.than.rate()
		b.goal(ratio >= adapterGoal, fmt.Sprintf("%s at least %.1f times as fast through the gateway as with the ordered adapter",
			g.work, adapterGoal), fmt.Sprintf("%.2f", ratio))
	}
	return nil
}

// comparison is the part in progress.
type comparison struct {
	*bench
	*setup
	java  javaClients
	count int
}

// The stream on which JVMs warm up, filled to be read too.
const warmUpStream = "java-warm-up"

func (c *comparison) createStreams() error {
	if err := c.createStream(warmUpStream, adapterPartitions); err != nil {
		return err
	}
	return c.fill(warmUpStream)
}

// fill writes the records of one round with the raw client.
func (c *comparison) fill(stream string) error {
	work := job{Kind: "produce", Way: "raw", Address: c.endpoint, Topic: stream, Partitions: adapterPartitions,
		Records: c.count, Size: adapterSize, PerRequest: 500, InFlight: 4}
	_, _, err := work.start()
	return err
}

// round runs every way once. All consumers read the same stream, of which the
// gateway has nothing in its cache.
func (c *comparison) round(number int, producing, consuming []*javaWay) error {
	for i, w := range producing {
		topic := fmt.Sprintf("java-%d-%d", number, i)
		if err := c.createStream(topic, adapterPartitions); err != nil {
			return err
		}
		if err := c.time(w, "ProduceLoad", topic); err != nil {
			return err
		}
	}
	topic := fmt.Sprintf("java-%d", number)
	if err := c.createStream(topic, adapterPartitions); err != nil {
		return err
	}
	if err := c.fill(topic); err != nil {
		return err
	}
	for _, w := range consuming {
		if err := c.time(w, "ConsumeLoad", topic); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) time(w *javaWay, class, topic string) error {
	options := append(slices.Clone(w.options), "--topic", topic, "--partitions", strconv.Itoa(adapterPartitions), "--size", strconv.Itoa(adapterSize),
		"--count", strconv.Itoa(c.count), "--warm-up", warmUpStream, "--warm-up-count", strconv.Itoa(c.count))
	took, err := c.java.took(w.module, class, options...)
	if err != nil {
		return err
	}
	w.rates = append(w.rates, float64(c.count)/took.Seconds())
	return nil
}
