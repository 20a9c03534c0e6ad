// Command checker looks for broken promises of the gateway. It knows nothing of
// the inside: it starts the real binary as an embedded DIS with faults and as a
// gateway, runs producers and consumers against it while a schedule of trouble
// goes on, reads DIS directly at the end, and compares.
//
//	go run ./checker                          # the fixed seeds
//	go run ./checker -seeds 4 -duration 3m    # fixed seeds, then fresh ones for the time
//	go run ./checker -seed 17                 # one seed again
//	go run ./checker -kinds lost-reply,hole   # only this trouble
//
// A seed decides the whole schedule. How threads and processes interleave it does
// not, so a rare violation may need a few replays (-repeat). What a violation
// says is found in verify.go.
//
// A rare violation may not come again, so the evidence of a failed seed is kept, in
// the folder of -evidence: the schedule, everything that clients did, were told and
// saw, by time, what DIS held in the end, and the logs of every process at the level
// debug. Names in the message of a violation are those of the files: a record is
// producer/partition/number, an offset partition@offset. The client id in the
// gateway's log is the name of the producer or consumer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

type settings struct {
	seed     uint64
	seeds    int
	duration time.Duration
	repeat   int
	parallel int
	kinds    []string
	binary   string
	keepIn   string // the folder of the evidence
	logLevel string
	race     bool
	verbose  bool
	needAll  bool
}

func main() {
	if err := runMain(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "checker:", err)
		os.Exit(1)
	}
}

func runMain(args []string) error {
	var s settings
	var kinds string
	flags := flag.NewFlagSet("checker", flag.ExitOnError)
	flags.Uint64Var(&s.seed, "seed", 0, "run this seed alone")
	flags.IntVar(&s.seeds, "seeds", 8, "run the seeds from 1 to this one")
	flags.DurationVar(&s.duration, "duration", 0, "then run fresh seeds, until so much time has passed since the start")
	flags.IntVar(&s.repeat, "repeat", 1, "run each seed so many times")
	flags.IntVar(&s.parallel, "parallel", 2, "seeds that run at the same time")
	flags.StringVar(&kinds, "kinds", "", "kinds of trouble, separated by commas; all when empty: "+strings.Join(allKinds, ", "))
	flags.StringVar(&s.binary, "binary", "", "the gateway's binary; built when empty")
	flags.StringVar(&s.keepIn, "evidence", "", "the folder for the logs of runs, where those of failed ones stay; a new one in the system's folder for temporary files when empty")
	flags.StringVar(&s.logLevel, "log-level", "debug", "least severe level that the processes log")
	flags.BoolVar(&s.race, "race", false, "build the binary with the race detector")
	flags.BoolVar(&s.verbose, "v", false, "print every schedule")
	flags.BoolVar(&s.needAll, "need-all", false, "fail when a kind of trouble has never hit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if s.kinds, err = parseKinds(kinds); err != nil {
		return err
	}
	if s.repeat < 1 || s.parallel < 1 || s.seeds < 0 {
		return errors.New("-repeat and -parallel must be at least 1, and -seeds at least 0")
	}
	return check(s)
}

func check(s settings) (err error) {
	dir, err := os.MkdirTemp("", "kafka-dis-checker-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if s.binary == "" {
		if s.binary, err = build(dir, s.race); err != nil {
			return err
		}
	}
	keeping, err := newEvidence(s.keepIn)
	if err != nil {
		return err
	}
	r := &report{settings: s, dir: dir, out: os.Stdout, evidence: keeping, hits: map[string]int{}, began: time.Now()}
	seeds := make(chan uint64)
	go feed(s, seeds)
	done := make(chan struct{})
	for range s.parallel {
		go func() {
			defer func() { done <- struct{}{} }()
			for seed := range seeds {
				r.run(seed)
			}
		}()
	}
	for range s.parallel {
		<-done
	}
	return r.finish()
}

// feed gives the seeds in the order in which they are to run.
func feed(s settings, seeds chan<- uint64) {
	defer close(seeds)
	end := time.Now().Add(s.duration)
	give := func(seed uint64) {
		for range s.repeat {
			seeds <- seed
		}
	}
	if s.seed != 0 {
		give(s.seed)
		return
	}
	for seed := range uint64(s.seeds) {
		give(seed + 1)
	}
	for time.Now().Before(end) {
		give(1000 + rand.Uint64N(1_000_000_000))
	}
}

// replay is the command that runs a seed again.
func (s settings) replay(seed uint64) string {
	command := fmt.Sprintf("go run ./checker -seed %d", seed)
	if len(s.kinds) < len(allKinds) {
		command += " -kinds " + strings.Join(s.kinds, ",")
	}
	return command
}

// runIn runs a seed, with its logs in one folder and the data of its DIS in another
// for a while.
func runIn(s settings, seed uint64, logs, data string) (schedule, *outcome, error) {
	plan := newSchedule(seed, s.kinds)
	out, err := runSeed(context.Background(), plan, program{s.binary, s.logLevel, data}, logs)
	return plan, out, errors.Join(err, os.RemoveAll(data))
}
