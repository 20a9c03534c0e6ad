package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"time"
)

const (
	// readyGoal is how soon a gateway that is started should get clients.
	readyGoal = time.Second
	// startLatency is that of DIS, which has to answer once before it is ready.
	startLatency = 10 * time.Millisecond
	readyPoll    = time.Millisecond
)

// startTimes are durations from the begin of a process.
type startTimes struct{ answers, ready, health time.Duration }

// starting starts one gateway after another and shows how long each takes to be of
// use: an application that has it as a sidecar waits for so long.
func starting(b *bench) error {
	u, err := startSetup(b, startLatency)
	if err != nil {
		return err
	}
	defer u.stop()
	var all []startTimes
	for range b.turns(20, 3) {
		one, err := u.startOne(b)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	fmt.Println("| from the start of the process to                | median, ms | worst, ms |")
	fmt.Println("|-------------------------------------------------|-----------:|----------:|")
	row := func(what string, of func(startTimes) time.Duration) time.Duration {
		var times []time.Duration
		for _, one := range all {
			times = append(times, of(one))
		}
		slices.Sort(times)
		worst := times[len(times)-1]
		fmt.Printf("| %-47s | %10s | %9s |\n", what, milliseconds(times[len(times)/2]), milliseconds(worst))
		return worst
	}
	row("the first answer to a Kafka client", func(s startTimes) time.Duration { return s.answers })
	ready := row("ready: DIS has answered, with 10 ms of latency", func(s startTimes) time.Duration { return s.ready })
	row("the end of `health`, the probe of a container", func(s startTimes) time.Duration { return s.health })
	fmt.Println()
	b.goal(ready <= readyGoal, "ready in at most 1 s", milliseconds(ready)+" ms at worst")
	return nil
}

// startOne starts a gateway beside that of the setup, and ends it.
func (u *setup) startOne(b *bench) (times startTimes, err error) {
	one := &setup{endpoint: u.endpoint}
	begin := time.Now()
	if err := one.startGateway(b.binary, []string{"--log-level", "warn"}); err != nil {
		return times, err
	}
	defer one.gateway.stop()
	connection, err := connect(one.kafka)
	if err != nil {
		return times, err
	}
	defer connection.Close()
	times.answers = time.Since(begin)
	for ready := false; !ready; {
		if ready, err = one.ready(); err != nil {
			return times, err
		}
		times.ready = time.Since(begin)
		if !ready {
			time.Sleep(readyPoll)
		}
	}
	begin = time.Now()
	if output, err := exec.Command(b.binary, "health", "--ready", "--admin-listen", one.admin).CombinedOutput(); err != nil {
		return times, fmt.Errorf("health of a gateway that is ready: %w: %s", err, output)
	}
	times.health = time.Since(begin)
	return times, nil
}

func (u *setup) ready() (bool, error) {
	answer, err := http.Get("http://" + u.admin + "/readyz")
	if err != nil {
		return false, err
	}
	return answer.StatusCode == http.StatusOK, answer.Body.Close()
}
