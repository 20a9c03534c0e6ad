package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// row is one line of the table: medians over the rounds.
type row struct {
	kind             string
	size, partitions int
	gateway, raw     side
	perRequest       float64 // records of one DIS request of the gateway
	inFlight         float64 // DIS requests of the gateway at the same time, mean
	lowest, highest  float64 // ratio of the worst and of the best round
}

// ratio is the gateway's rate to the raw client's.
func (r row) ratio() float64 { return r.gateway.rate / r.raw.rate }

// processorRatio is the processor time of the gateway's process per record to
// the raw client's.
func (r row) processorRatio() float64 { return r.gateway.server / r.raw.client }

// side is one way to do the work: records per second, and the processor time
// per record of each process in µs.
type side struct {
	rate                float64
	client, server, dis float64
}

// sample is one round of one side.
type sample struct {
	side
	perRequest, inFlight float64
}

// measure runs the rounds of one record size and partition count. A round
// writes a stream through the gateway and one with the raw client; then the
// gateway reads what the raw client wrote and the raw client the other, so that
// nothing is read from the gateway's cache.
func measure(u *setup, s settings, size, partitions int) ([]row, error) {
	records := s.records
	if size > 100 {
		records /= 2
	}
	var produced, producedRaw, consumed, consumedRaw []sample
	for round := range s.rounds {
		throughGateway := fmt.Sprintf("gateway-%d-%d-%d", size, partitions, round)
		pastGateway := fmt.Sprintf("raw-%d-%d-%d", size, partitions, round)
		for _, name := range []string{throughGateway, pastGateway} {
			if err := u.createStream(name, partitions); err != nil {
				return nil, err
			}
		}
		work := job{Topic: throughGateway, Partitions: partitions, Records: records, Size: size}
		if err := u.pair("produce", work, pastGateway, &produced, &producedRaw); err != nil {
			return nil, err
		}
		work.Topic = pastGateway
		if err := u.pair("consume", work, throughGateway, &consumed, &consumedRaw); err != nil {
			return nil, err
		}
	}
	return []row{
		newRow("produce", size, partitions, produced, producedRaw),
		newRow("consume", size, partitions, consumed, consumedRaw),
	}, nil
}

// pair does the work through the gateway and then, on the other topic, with the
// raw client in the request size and parallelism the gateway was seen to use.
func (u *setup) pair(kind string, work job, rawTopic string, gateway, raw *[]sample) error {
	work.Kind, work.Way, work.Address = kind, "gateway", u.kafka
	g, err := u.sample(work)
	if err != nil {
		return err
	}
	*gateway = append(*gateway, g)
	work.Way, work.Address, work.Topic = "raw", u.endpoint, rawTopic
	work.PerRequest = max(1, int(math.Round(g.perRequest)))
	work.InFlight = max(1, int(math.Ceil(g.inFlight-0.2)))
	r, err := u.sample(work)
	*raw = append(*raw, r)
	return err
}

// sample runs one job and measures every process around it.
func (u *setup) sample(j job) (sample, error) {
	operation := map[string]string{"produce": "PutRecords", "consume": "GetRecords"}[j.Kind]
	before, err := u.usage(operation)
	if err != nil {
		return sample{}, err
	}
	done, client, err := j.start()
	if err != nil {
		return sample{}, err
	}
	after, err := u.usage(operation)
	if err != nil {
		return sample{}, err
	}
	seconds := done.Took.Seconds()
	perRecord := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(j.Records) }
	one := sample{side: side{
		rate: float64(j.Records) / seconds, client: perRecord(client),
		server: perRecord(after.gateway - before.gateway), dis: perRecord(after.dis - before.dis),
	}}
	if requests := after.count - before.count; j.Way == "gateway" && requests > 0 {
		one.perRequest = float64(j.Records) / requests
		one.inFlight = (after.seconds - before.seconds) / seconds
	}
	return one, nil
}

// usage is what the servers have used so far.
type usage struct {
	gateway, dis time.Duration
	calls
}

func (u *setup) usage(operation string) (usage, error) {
	gateway, err := u.gateway.cpu()
	if err != nil {
		return usage{}, err
	}
	dis, err := u.dis.cpu()
	if err != nil {
		return usage{}, err
	}
	made, err := u.disCalls(operation)
	return usage{gateway, dis, made}, err
}

// createStream makes a stream and waits until it can be used.
func (u *setup) createStream(name string, partitions int) error {
	client, err := newRawClient(u.endpoint)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := client.CreateStream(ctx, wire.CreateStreamRequest{StreamName: name, PartitionCount: partitions}); err != nil {
		return fmt.Errorf("creating stream %s: %w", name, err)
	}
	for {
		stream, err := client.DescribeStream(ctx, name)
		if err != nil {
			return fmt.Errorf("waiting for stream %s: %w", name, err)
		}
		if stream.Status == wire.StreamRunning {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func newRow(kind string, size, partitions int, gateway, raw []sample) row {
	var ratios []float64 // of a round, whose two sides ran one after the other
	for i := range gateway {
		ratios = append(ratios, gateway[i].rate/raw[i].rate)
	}
	return row{
		lowest: slices.Min(ratios), highest: slices.Max(ratios),
		kind: kind, size: size, partitions: partitions,
		gateway: medianSide(gateway), raw: medianSide(raw),
		perRequest: median(gateway, func(s sample) float64 { return s.perRequest }),
		inFlight:   median(gateway, func(s sample) float64 { return s.inFlight }),
	}
}

func medianSide(samples []sample) side {
	return side{
		rate:   median(samples, func(s sample) float64 { return s.rate }),
		client: median(samples, func(s sample) float64 { return s.client }),
		server: median(samples, func(s sample) float64 { return s.server }),
		dis:    median(samples, func(s sample) float64 { return s.dis }),
	}
}

func median(samples []sample, value func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, value(s))
	}
	return middle(all)
}

// middle is the median of at least one number.
func middle(numbers []float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	half := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[half-1] + sorted[half]) / 2
	}
	return sorted[half]
}
