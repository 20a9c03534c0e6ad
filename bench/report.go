package main

import (
	"fmt"
	"runtime"
	"time"
)

func printHeader(s settings, latency time.Duration) {
	fmt.Printf("%d cores, %s/%s, %s; %d rounds of %d records (1 KB: half), medians; REST latency added: %s\n",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), s.rounds, s.records, latency)
	fmt.Print("Processor time in µs per record, of each process: client + gateway + embedded DIS, and raw client + embedded DIS.\n\n")
	fmt.Println("| work    | record | partitions | gateway, rec/s | raw, rec/s | ratio (worst to best round) | µs: client + gateway + DIS | µs: raw client + DIS | records per request | requests in flight |")
	fmt.Println("|---------|-------:|-----------:|---------------:|-----------:|----------------------------:|---------------------------:|---------------------:|--------------------:|-------------------:|")
}

func (r row) print() {
	fmt.Printf("| %s | %4d B | %10d | %14.0f | %10.0f | %27s | %26s | %20s | %19.0f | %18.1f |\n",
		r.kind, r.size, r.partitions, r.gateway.rate, r.raw.rate,
		fmt.Sprintf("%.2f (%.2f to %.2f)", r.ratio(), r.lowest, r.highest),
		fmt.Sprintf("%.1f + %.1f + %.1f", r.gateway.client, r.gateway.server, r.gateway.dis),
		fmt.Sprintf("%.1f + %.1f", r.raw.client, r.raw.dis), r.perRequest, r.inFlight)
}
