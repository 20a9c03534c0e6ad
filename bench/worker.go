package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"
)

// workerArgument makes this program one load generator instead of the whole
// benchmark.
const workerArgument = "worker"

// job is what one load generator does, as JSON in its argument.
type job struct {
	Kind       string // produce, consume
	Way        string // gateway, raw
	Address    string // Kafka address or DIS endpoint
	Topic      string
	Partitions int
	Records    int // over all partitions
	Size       int // bytes of a value
	// For the raw way: records of a PutRecords and requests in flight.
	PerRequest int
	InFlight   int
}

// result is what a load generator prints: the time from its first to its last
// record, without process start and connecting.
type result struct {
	Seconds float64
}

func runWorker(args []string) error {
	var j job
	if len(args) != 1 {
		return fmt.Errorf("a worker takes one job")
	}
	if err := json.Unmarshal([]byte(args[0]), &j); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	work := map[string]func(job) (time.Duration, error){
		"produce gateway": produceKafka, "consume gateway": consumeKafka,
		"produce raw": produceRaw, "consume raw": consumeRaw,
	}[j.Kind+" "+j.Way]
	if work == nil {
		return fmt.Errorf("unknown job %s %s", j.Kind, j.Way)
	}
	took, err := work(j)
	if err != nil {
		return fmt.Errorf("%s %s: %w", j.Kind, j.Way, err)
	}
	return json.NewEncoder(os.Stdout).Encode(result{took.Seconds()})
}

// start runs a job in a process of its own.
func (j job) start() (seconds float64, cpu time.Duration, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return 0, 0, err
	}
	command := exec.Command(self, workerArgument, string(text))
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("worker %s: %w", text, err)
	}
	var r result
	if err := json.Unmarshal(output, &r); err != nil {
		return 0, 0, fmt.Errorf("worker %s printed %q: %w", text, output, err)
	}
	return r.Seconds, workerCPU(command.ProcessState), nil
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
