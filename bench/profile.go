package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	profilePartitions = 16
	profileSize       = 1024
)

// share is a part of the gateway's work. A sample of the profile belongs to the
// first share that has a function of its stack, looked at from the innermost
// one: what the runtime and the library do is counted to who asked for it.
type share struct {
	name      string
	functions []string // prefixes, the module's own without its path
}

var shares = []share{
	{"memory: allocation, clearing, garbage collection", []string{"runtime.mallocgc", "runtime.growslice", "runtime.gc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.(*mheap)", "runtime.(*gcWork)", "runtime.scan"}},
	{"signature: SHA-256 of the body, HMAC", []string{"crypto/"}},
	{"checksums and compression of batches", []string{"hash/crc32", "github.com/klauspost/compress", "github.com/pierrec/lz4", "compress/"}},
	{"bodies of DIS: protobuf", []string{"translate/dis/wire."}},
	{"records: to read and write batches", []string{"translate/record."}},
	{"produce engine", []string{"translate/produce."}},
	{"fetch engine", []string{"translate/fetch."}},
	{"HTTP and TCP towards DIS", []string{"net/http.", "github.com/go-resty", "translate/dis."}},
	{"Kafka protocol: requests and replies", []string{"github.com/twmb/franz-go"}},
	{"TCP and framing towards clients", []string{"gateway."}},
}

// rest are the goroutine switches, timers and waits for sockets.
const rest = "scheduler of Go, timers, everything else"

// profile shows where the gateway's processor time goes, under produce and then
// under consume of the same records.
func profile(b *bench) error {
	u, err := startSetup(b, 0)
	if err != nil {
		return err
	}
	defer u.stop()
	work := job{Way: "gateway", Topic: "profile", Partitions: profilePartitions,
		Records: b.turns(400_000, 50_000), Size: profileSize}
	if err := u.createStream(work.Topic, work.Partitions); err != nil {
		return err
	}
	tables := make([]map[string]time.Duration, 2)
	for i, kind := range []string{"produce", "consume"} {
		if kind == "consume" { // with an empty cache
			u.gateway.stop()
			if err := u.startGateway(b.binary, nil); err != nil {
				return err
			}
		}
		work.Kind, work.Address = kind, u.kafka
		if tables[i], err = u.profiled(b, work); err != nil {
			return err
		}
	}
	fmt.Printf("%d records of %d B on %d partitions\n\n", work.Records, profileSize, profilePartitions)
	fmt.Println("| share of the gateway's processor time            | produce | consume |")
	fmt.Println("|--------------------------------------------------|--------:|--------:|")
	for _, s := range append(shares, share{name: rest}) {
		fmt.Printf("| %-48s | %5.1f %% | %5.1f %% |\n", s.name, percent(tables[0], s.name), percent(tables[1], s.name))
	}
	return nil
}

func percent(table map[string]time.Duration, name string) float64 {
	var all time.Duration
	for _, d := range table {
		all += d
	}
	if all == 0 {
		return 0
	}
	return 100 * table[name].Seconds() / all.Seconds()
}

// profiled does the work while the gateway is profiled.
func (u *setup) profiled(b *bench, work job) (map[string]time.Duration, error) {
	ended := make(chan error, 1)
	go func() {
		_, _, err := work.start()
		ended <- err
	}()
	file := filepath.Join(b.dir, work.Kind+".pprof")
	if err := u.fetchProfile(file, b.turns(5, 2)); err != nil {
		return nil, err
	}
	if err := <-ended; err != nil {
		return nil, err
	}
	output, err := exec.Command("go", "tool", "pprof", "-traces", b.binary, file).Output()
	if err != nil {
		return nil, fmt.Errorf("go tool pprof: %w", err)
	}
	return sharesOf(string(output))
}

func (u *setup) fetchProfile(file string, seconds int) error {
	answer, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", u.admin, seconds))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("profile: %s: %s", answer.Status, content)
	}
	return os.WriteFile(file, content, 0o600)
}

// sharesOf adds up the samples of `pprof -traces`: stacks between lines of
// dashes, the innermost function first and in front of it the time.
func sharesOf(traces string) (map[string]time.Duration, error) {
	table := map[string]time.Duration{}
	for i, stack := range strings.Split(traces, "-----------+") {
		lines := strings.Split(strings.TrimSpace(stack), "\n")
		if i == 0 || len(lines) < 2 {
			continue // the head of the output, or its end
		}
		text, innermost, found := strings.Cut(strings.TrimSpace(lines[1]), " ")
		if !found {
			return nil, fmt.Errorf("unexpected line of pprof: %q", lines[1])
		}
		took, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("unexpected line of pprof: %w", err)
		}
		lines[1] = innermost
		table[shareOf(lines[1:])] += took
	}
	return table, nil
}

func shareOf(stack []string) string {
	const module = "github.com/kafka-dis-gateway/kafka-dis-gateway/"
	for _, line := range stack {
		function := strings.TrimPrefix(strings.TrimSpace(line), module)
		for _, s := range shares {
			for _, prefix := range s.functions {
				if strings.HasPrefix(function, prefix) {
					return s.name
				}
			}
		}
	}
	return rest
}
