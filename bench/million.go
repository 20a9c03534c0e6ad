package main

import "fmt"

// memoryGoal is what a gateway may take while a million records pass.
const memoryGoal = 300e6

// millionRecords passes a million records of 100 B through a new gateway, in
// and out, and shows how much memory it took at most.
func millionRecords(b *bench) error {
	const count, partitions = 1_000_000, 4
	u, err := startSetup(b, 0)
	if err != nil {
		return err
	}
	defer u.stop()
	if err := u.createStream("million", partitions); err != nil {
		return err
	}
	idle := u.gateway.peakRSS()
	work := job{Way: "gateway", Address: u.kafka, Topic: "million", Partitions: partitions, Records: count, Size: 100}
	for _, kind := range []string{"produce", "consume"} {
		work.Kind = kind
		done, err := u.sample(work)
		if err != nil {
			return err
		}
		fmt.Printf("a million records of 100 B, %s: %.0f rec/s, gateway memory so far at most %.0f MiB (%.0f MiB before)\n",
			kind, done.rate, mebibytes(u.gateway.peakRSS()), mebibytes(idle))
	}
	b.goal(u.gateway.peakRSS() <= memoryGoal, "gateway's memory under 300 MB", fmt.Sprintf("%.0f MB", float64(u.gateway.peakRSS())/1e6))
	return nil
}
