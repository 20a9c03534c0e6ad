package main

import (
	"fmt"
	"syscall"
	"time"
)

const (
	pushers        = 50
	pushPartitions = 16
	// The gateway's buffers in this part, and how much memory it may take beyond
	// them.
	stalledProduceBuffer = 32 << 20
	stalledFetchCache    = 16 << 20
	stalledGoal          = 150e6
	// aroundStall is for how long records flow before and after the standstill.
	aroundStall = 3 * time.Second
)

// stalled stops the process of the embedded DIS while producers push, and lets
// it go on: nothing is refused, no connection is closed, no call ends.
func stalled(b *bench) error {
	u, err := startSetup(b, 0, "--produce-buffer", fmt.Sprint(stalledProduceBuffer), "--fetch-cache", fmt.Sprint(stalledFetchCache))
	if err != nil {
		return err
	}
	defer u.stop()
	const topic = "stalled"
	if err := u.createStream(topic, pushPartitions); err != nil {
		return err
	}
	stall := time.Duration(b.turns(20, 3)) * time.Second
	ended := make(chan error, 1)
	go func() { ended <- u.pause(aroundStall, stall) }()
	push := job{Kind: "push", Address: u.kafka, Endpoint: u.endpoint, Topic: topic, Partitions: pushPartitions, Size: 1024,
		Lasts: aroundStall + stall + aroundStall}
	done, _, err := push.start()
	if err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	repeated, err := u.metric("kdg_ambiguous_resent_records_total")
	if err != nil {
		return err
	}
	fmt.Printf("%d producers, DIS stopped for %s: %d records sent, %d acknowledged, %d stored more than once (the gateway says at most %.0f)\n",
		pushers, stall, done.Sent, done.Acknowledged, done.Repeated, repeated)
	allowed := float64(stalledProduceBuffer + stalledFetchCache + stalledGoal)
	peak := float64(u.gateway.peakRSS())
	b.goal(peak <= allowed, fmt.Sprintf("gateway's memory within its buffers and 150 MB, together %.0f MB", allowed/1e6), fmt.Sprintf("%.0f MB", peak/1e6))
	b.goal(done.Acknowledged == done.Sent, "every producer goes on by itself", fmt.Sprintf("%d records failed", done.Sent-done.Acknowledged))
	b.goal(done.Lost == 0, "nothing acknowledged is lost", fmt.Sprintf("%d lost", done.Lost))
	b.goal(done.Repeated <= int(repeated), "no more is repeated than the gateway counts", fmt.Sprintf("%d", done.Repeated))
	return nil
}

// pause stops the embedded DIS for a while.
func (u *setup) pause(after, stall time.Duration) error {
	time.Sleep(after)
	if err := u.dis.command.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	time.Sleep(stall)
	return u.dis.command.Process.Signal(syscall.SIGCONT)
}
