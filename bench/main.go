// Command bench measures what the gateway costs: the same records through the
// gateway and through a raw DIS client, side by side in one run, on the same
// embedded DIS, each party in a process of its own.
//
//	go run ./bench                      # the table of docs/performance.md
//	go run ./bench -rounds 1 -records 2000 -million=false
//
// The raw client (package translate/dis) uses the request size and the number
// of requests in flight that the gateway was seen to use for the same work, and
// writes the same bodies: what is compared is the way, not the batching.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// settings are the flags.
type settings struct {
	rounds  int
	records int
	latency time.Duration
	million bool
	binary  string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == workerArgument {
		exitOn(runWorker(os.Args[2:]))
		return
	}
	var s settings
	flag.IntVar(&s.rounds, "rounds", 5, "rounds of each row; medians are printed")
	flag.IntVar(&s.records, "records", 100_000, "records of 100 B per round; of 1 KB: half as many")
	flag.DurationVar(&s.latency, "latency", 0, "latency added to every REST answer")
	flag.BoolVar(&s.million, "million", true, "also pass a million records of 100 B and show the gateway's memory")
	flag.StringVar(&s.binary, "binary", "", "the gateway's binary; built when empty")
	flag.Parse()
	if s.rounds < 1 || s.records < 100 {
		exitOn(fmt.Errorf("-rounds must be at least 1 and -records at least 100"))
	}
	exitOn(run(s))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	dir, err := os.MkdirTemp("", "kafka-dis-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if s.binary == "" {
		if s.binary, err = build(dir); err != nil {
			return err
		}
	}
	setup, err := startSetup(s, dir)
	if err != nil {
		return err
	}
	defer setup.stop()

	printHeader(s)
	var all []row
	for _, size := range []int{100, 1024} {
		for _, partitions := range []int{1, 16} {
			rows, err := measure(setup, s, size, partitions)
			if err != nil {
				return err
			}
			for _, row := range rows {
				row.print()
			}
			all = append(all, rows...)
		}
	}
	printGoal(all)
	fmt.Printf("gateway memory, maximum over all rows: %.0f MiB\n", mebibytes(setup.gateway.peakRSS()))
	if err := storing(setup, s, dir); err != nil {
		return err
	}
	if s.million {
		return millionRecords(s, dir)
	}
	return nil
}
