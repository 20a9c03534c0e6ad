package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"time"
)

// workerArgument makes this program one load generator instead of the whole
// benchmark.
const workerArgument = "worker"

// job is what one load generator does, as JSON in its argument.
type job struct {
	Kind       string // produce, consume, or a key of the other works
	Way        string // gateway, raw; empty when the work goes both ways
	Address    string // Kafka address or DIS endpoint
	Topic      string
	Partitions int
	Records    int // over all partitions
	Size       int // bytes of a value
	// For the raw way: records of a PutRecords and requests in flight.
	PerRequest int
	InFlight   int
	// For a work that goes both ways: the DIS endpoint, and the stream there.
	Endpoint string
	Stream   string
	// Lasts is how long a work goes on that has no number of records.
	Lasts time.Duration
}

// result is what a load generator prints.
type result struct {
	// Took is the time from the first to the last record, without process start
	// and connecting.
	Took time.Duration
	// Each has the time of every single turn, by the name of what was done.
	Each map[string][]time.Duration
	// Sent counts what was sent but not acknowledged too, Lost what was
	// acknowledged and is not in DIS, Repeated what is there more than once.
	Sent, Acknowledged, Lost, Repeated int
}

// works are what a load generator can do.
var works = map[string]func(job) (result, error){
	"produce gateway": timed(produceKafka), "consume gateway": timed(consumeKafka),
	"produce raw": timed(produceRaw), "consume raw": timed(consumeRaw),
	"lone": loneProduces, "trip": trips, "push": pushAndCheck,
}

func timed(work func(job) (time.Duration, error)) func(job) (result, error) {
	return func(j job) (result, error) {
		took, err := work(j)
		return result{Took: took}, err
	}
}

func (j job) work() string { return strings.TrimSpace(j.Kind + " " + j.Way) }

func runWorker(args []string) error {
	var j job
	if len(args) != 1 {
		return errors.New("a worker takes one job")
	}
	if err := json.Unmarshal([]byte(args[0]), &j); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	work := works[j.work()]
	if work == nil {
		return fmt.Errorf("unknown job %q", j.work())
	}
	done, err := work(j)
	if err != nil {
		return fmt.Errorf("%s: %w", j.work(), err)
	}
	return json.NewEncoder(os.Stdout).Encode(done)
}

// workerPatience ends a load generator that hangs.
const workerPatience = 5 * time.Minute

// start runs a job in a process of its own.
func (j job) start() (r result, cpu time.Duration, err error) {
	self, err := os.Executable()
	if err != nil {
		return result{}, 0, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return result{}, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), workerPatience)
	defer cancel()
	command := exec.CommandContext(ctx, self, workerArgument, string(text))
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return result{}, 0, fmt.Errorf("worker %s: %w", text, err)
	}
	if err := json.Unmarshal(output, &r); err != nil {
		return result{}, 0, fmt.Errorf("worker %s printed %q: %w", text, output, err)
	}
	return r, workerCPU(command.ProcessState), nil
}

// values are different values of the given size that do not compress, made
// before the clock starts and used in turn. There are more of them than a
// compressor looks back.
func values(size int) [][]byte {
	const count = 4096
	source := rand.NewChaCha8([32]byte{'b', 'e', 'n', 'c', 'h'})
	all := make([][]byte, count)
	for i := range all {
		all[i] = make([]byte, size)
		source.Read(all[i]) // never fails
	}
	return all
}
