// Command bench measures what the gateway costs: the same work through the
// gateway and past it, side by side in one run, on the same embedded DIS, each
// party in a process of its own. Every part prints its goal and whether it was
// met; docs/performance.md explains them.
//
//	go run ./bench                          # everything
//	go run ./bench -short                   # everything, once and small
//	go run ./bench -run lone,groups         # some parts
//	go run ./bench -run ways -latency 10ms  # one part, one latency of DIS
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// part is a benchmark that can be run by itself.
type part struct {
	name  string
	about string
	run   func(*bench) error
}

var parts = []part{
	{"ways", "the gateway against the raw DIS client", ways},
	{"storing", "a put into the embedded DIS against the store below it", storing},
	{"million", "the gateway's memory while a million records pass", millionRecords},
	{"lone", "the added latency of one record at a time", lone},
	{"groups", "the DIS reads of ten consumer groups against one", groups},
	{"coordinator", "consumer groups on the gateway and on a real Kafka broker", coordinator},
	{"commits", "the offsets of a thousand partitions in one request", commits},
	{"adapter", "Kafka's Java client against the DIS Kafka adapter", adapter},
	{"idle", "the memory of idle connections", idle},
	{"waiting", "consumers on partitions in which nothing happens", waiting},
	{"stalled", "the gateway's memory while DIS stands still, and what becomes of the records", stalled},
	{"start", "how soon a gateway is ready", starting},
	{"profile", "where the gateway's processor time goes", profile},
}

// settings are the flags.
type settings struct {
	parts     []part
	rounds    int
	records   int
	latencies []time.Duration
	short     bool
	binary    string
}

// bench is a run in progress.
type bench struct {
	settings
	dir    string // for everything that is to be deleted at the end
	missed []string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == workerArgument {
		exitOn(runWorker(os.Args[2:]))
		return
	}
	s, err := parseFlags()
	exitOn(err)
	exitOn(run(s))
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parseFlags() (settings, error) {
	s := settings{rounds: 5, records: 200_000, latencies: []time.Duration{0, 10 * time.Millisecond}, parts: parts}
	var names []string
	for _, p := range parts {
		names = append(names, fmt.Sprintf("%s (%s)", p.name, p.about))
	}
	flag.Func("run", "comma-separated parts: "+strings.Join(names, ", ")+"; all when not given", func(text string) (err error) {
		s.parts, err = chosen(text)
		return err
	})
	flag.Func("latency", "comma-separated latencies added to every REST answer, of ways; 0,10ms when not given", func(text string) (err error) {
		s.latencies, err = durations(text)
		return err
	})
	flag.BoolVar(&s.short, "short", false, "every part once and small: to see that it runs, not for the figures")
	flag.IntVar(&s.rounds, "rounds", s.rounds, "rounds of each row; medians are printed")
	flag.IntVar(&s.records, "records", s.records, "records of 100 B per round of ways; of 1 KB: half as many")
	flag.StringVar(&s.binary, "binary", "", "the gateway's binary; built when empty")
	flag.Parse()
	if s.rounds < 1 || s.records < 100 {
		return s, errors.New("-rounds must be at least 1 and -records at least 100")
	}
	if s.short {
		s.rounds, s.records = 1, min(s.records, 20_000)
	}
	return s, nil
}

func chosen(text string) (some []part, err error) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no part is called %q", name)
		}
		some = append(some, parts[i])
	}
	return some, nil
}

func durations(text string) (all []time.Duration, err error) {
	for one := range strings.SplitSeq(text, ",") {
		d, err := time.ParseDuration(one)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
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
	b := &bench{settings: s, dir: dir}
	for _, p := range s.parts {
		fmt.Printf("\n## %s: %s\n\n", p.name, p.about)
		if err := p.run(b); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	b.printMissed()
	return nil
}

// rounds of a part that takes this many by default, fewer in a short run.
func (b *bench) turns(normal, short int) int {
	if b.short {
		return short
	}
	return normal
}

// goal prints whether a goal was met, and by what.
func (b *bench) goal(met bool, what, measured string) {
	verdict := "met"
	if !met {
		verdict = "MISSED"
		b.missed = append(b.missed, fmt.Sprintf("%s (%s)", what, measured))
	}
	fmt.Printf("goal: %s: %s (%s)\n", what, verdict, measured)
}

func (b *bench) printMissed() {
	if len(b.missed) == 0 {
		fmt.Print("\nevery goal was met\n")
		return
	}
	fmt.Printf("\ngoals missed:\n- %s\n", strings.Join(b.missed, "\n- "))
}
