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
// says is found in verify.go; the schedule of a failing seed is printed, and its
// logs are kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

func check(s settings) error {
	dir, err := os.MkdirTemp("", "kafka-dis-checker-")
	if err != nil {
		return err
	}
	if s.binary == "" {
		if s.binary, err = build(dir, s.race); err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
	}
	r := &report{settings: s, dir: dir, hits: map[string]int{}, began: time.Now()}
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

// runIn runs a seed with a folder of its own.
func runIn(s settings, seed uint64, dir string) (schedule, *outcome, error) {
	plan := newSchedule(seed, s.kinds)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return plan, nil, err
	}
	out, err := runSeed(context.Background(), plan, s.binary, dir)
	return plan, out, errors.Join(err, os.RemoveAll(filepath.Join(dir, "data")))
}
