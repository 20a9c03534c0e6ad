package main

import (
	"fmt"
	"time"
)

// ways compares the gateway with the raw client at each latency of DIS.
func ways(b *bench) error {
	for _, latency := range b.latencies {
		if err := waysAt(b, latency); err != nil {
			return err
		}
	}
	return nil
}

func waysAt(b *bench, latency time.Duration) error {
	u, err := startSetup(b, latency)
	if err != nil {
		return err
	}
	defer u.stop()
	printHeader(b.settings, latency)
	var all []row
	for _, size := range []int{100, 1024} {
		for _, partitions := range []int{1, 16} {
			rows, err := measure(u, b.settings, size, partitions)
			if err != nil {
				return err
			}
			for _, row := range rows {
				row.print()
			}
			all = append(all, rows...)
		}
	}
	fmt.Println()
	waysGoals(b, latency, all)
	fmt.Printf("gateway memory, maximum over all rows: %.0f MiB\n\n", mebibytes(u.gateway.peakRSS()))
	return nil
}

// The goals of the ratio of the gateway's rate to the raw client's. Without
// latency all processes fight for the same cores, so that there the gateway's
// processor time is what tells.
const (
	ratioGoal      = 0.5
	processorGoal  = 1.5 // gateway's to the raw client's, per record
	farAway        = 10 * time.Millisecond
	farGoal1KB     = 0.9
	farGoal100B    = 0.7
	bytesOfOneGoal = 1024
)

func waysGoals(b *bench, latency time.Duration, rows []row) {
	for _, r := range rows {
		work := fmt.Sprintf("%s of %d B on %d partitions, %s added", r.kind, r.size, r.partitions, latency)
		goal := ratioGoal
		if latency >= farAway {
			goal = farGoal100B
			if r.size >= bytesOfOneGoal {
				goal = farGoal1KB
			}
		}
		b.goal(r.ratio() >= goal, fmt.Sprintf("%s: gateway/raw at least %.1f", work, goal), fmt.Sprintf("%.2f", r.ratio()))
		if latency == 0 {
			b.goal(r.processorRatio() <= processorGoal, fmt.Sprintf("%s: processor time of the gateway at most %.1f times the raw client's",
				work, processorGoal), fmt.Sprintf("%.2f", r.processorRatio()))
		}
	}
}
