package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// setup is an embedded DIS and a gateway in front of it, with a proxy before
// each. It ends and starts them, and keeps what is lost with a process: the hits
// of faults and the counts of the gateway.
type setup struct {
	program
	evidence string // the folder of the logs
	recorder *recorder
	gateways int // how many were started

	dis, gateway     *server
	disAddress       string
	adminAddress     string
	toDIS, toGateway *proxy
	plan             *faultPlan // in force
	hits             map[string]int
}

func newSetup(ctx context.Context, p program, evidence string, s *schedule, r *recorder) (*setup, error) {
	u := &setup{program: p, evidence: evidence, recorder: r, plan: &faultPlan{Faults: []fault{}}, hits: map[string]int{}}
	var err error
	if u.toDIS, err = newProxy(""); err == nil {
		u.toGateway, err = newProxy("")
	}
	if err == nil {
		err = u.startDIS()
	}
	if err == nil {
		err = u.createStream(ctx, s.Partitions)
	}
	if err == nil {
		err = u.startGateway()
	}
	if err == nil {
		err = u.waitReady(ctx)
	}
	if err != nil {
		u.close()
		return nil, err
	}
	return u, nil
}

func (u *setup) startDIS() error {
	s, err := startServer(u.binary, filepath.Join(u.evidence, "dis.log"), "embedded-dis", "--faults", "--listen", "127.0.0.1:0",
		"--data-dir", u.data, "--log-level", u.logLevel)
	if err != nil {
		return err
	}
	u.dis = s
	words, err := s.announced("DIS")
	if err != nil {
		return err
	}
	address := strings.TrimPrefix(words[0], "http://")
	u.disAddress = address
	u.toDIS.target.Store(&address)
	_, err = control(u.disAddress, http.MethodPut, u.plan)
	return err
}

func (u *setup) createStream(ctx context.Context, partitions int) error {
	client, err := newDISClient(u.disAddress)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.CreateStream(ctx, wire.CreateStreamRequest{StreamName: topic, PartitionCount: partitions})
}

// gracePeriod leaves clients a second to go away by themselves, which these do
// not, and then the 5 s that the gateway has for what it has begun.
const gracePeriod = 6 * time.Second

func (u *setup) startGateway() error {
	u.gateways++
	logFile := filepath.Join(u.evidence, fmt.Sprintf("gateway-%d.log", u.gateways))
	s, err := startServer(u.binary, logFile, "serve", "--log-level", u.logLevel, "--listen", "127.0.0.1:0,advertise="+u.toGateway.address(),
		"--admin-listen", "127.0.0.1:0", "--dis-endpoint", "http://"+u.toDIS.address(),
		"--pacing", "1000%", // it is at work, and does not make the run one of pacing
		"--initial-rebalance-delay", "0s", "--grace-period", gracePeriod.String())
	if err != nil {
		return err
	}
	u.gateway = s
	words, err := s.announced("Kafka", "Admin")
	if err != nil {
		return err
	}
	u.adminAddress = words[1]
	u.recorder.lives(func(all []life) []life { return append(all, life{Began: time.Now()}) })
	u.toGateway.target.Store(&words[0])
	return nil
}

func (u *setup) waitReady(ctx context.Context) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+u.adminAddress+"/readyz", nil)
		if err != nil {
			return err
		}
		_, err = ask(request)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("the gateway is not ready: %w", err)
		}
	}
}

// setFaults puts a plan in force and keeps the hits of the one before.
func (u *setup) setFaults(plan faultPlan) error {
	if err := u.keepHits(); err != nil {
		return err
	}
	u.plan = &plan
	u.recorder.note("", "%s", (&step{Kind: setFaults, Faults: plan}).describe())
	_, err := control(u.disAddress, http.MethodPut, u.plan)
	return err
}

func (u *setup) keepHits() error {
	now, err := control(u.disAddress, http.MethodGet, nil)
	for _, f := range now.Faults {
		u.recorder.note("", "%s hit %d times since it was set", f.Kind, f.Hits)
		u.hits[f.Kind] += f.Hits
	}
	return err
}

// bounceDIS ends the DIS and starts it again on its data.
func (u *setup) bounceDIS(kill bool, down time.Duration) error {
	if err := u.keepHits(); err != nil {
		return err
	}
	if kill {
		u.dis.kill()
	} else if err := u.dis.terminate(20 * time.Second); err != nil {
		u.recorder.complain("%v", err)
	}
	time.Sleep(down)
	return u.startDIS()
}

// bounceGateway ends the gateway, keeps its counts and starts another.
func (u *setup) bounceGateway(kill bool, down time.Duration) error {
	if err := u.stopGateway(kill); err != nil {
		return err
	}
	time.Sleep(down)
	return u.startGateway()
}

// stopGateway scrapes a gateway as long as it answers: what a killed one counted
// last is lost, and so is what one did in the last moment of its drain.
func (u *setup) stopGateway(kill bool) error {
	u.lastLife(func(l *life) { l.Stopping = time.Now() })
	counts, err := scrape(u.adminAddress)
	if err != nil {
		return err
	}
	if kill {
		u.gateway.kill()
	} else {
		began, ended := time.Now(), make(chan error, 1)
		go func() { ended <- u.gateway.terminate(gracePeriod + 5*time.Second) }()
		for u.gateway.running() {
			if last, err := scrape(u.adminAddress); err == nil {
				counts = last
			}
			time.Sleep(10 * time.Millisecond)
		}
		// With faults in force it may use up its time, and says so.
		if err := <-ended; err != nil && (len(u.plan.Faults) == 0 || time.Since(began) < gracePeriod) {
			u.recorder.complain("%v", err)
		}
	}
	u.lastLife(func(l *life) { l.Ended = time.Now() })
	u.recorder.count(counts)
	return nil
}

func (u *setup) lastLife(change func(*life)) {
	u.recorder.lives(func(all []life) []life { change(&all[len(all)-1]); return all })
}

// scale changes the number of active partitions, past the gateway. A fault may
// hit this call as well, so it is tried until it is done.
func (u *setup) scale(ctx context.Context, target int) error {
	client, err := newDISClient(u.disAddress)
	if err != nil {
		return err
	}
	defer client.Close()
	for attempt := 0; ; attempt++ {
		described, err := client.DescribeStream(ctx, topic)
		if err == nil && described.WritablePartitionCount != target {
			_, err = client.ChangePartitionCount(ctx, topic, target)
		}
		if err == nil || attempt == 20 || ctx.Err() != nil {
			return err
		}
	}
}

// brokenDown looks for signs in the logs that a process broke down.
func (u *setup) brokenDown() error {
	logs, err := filepath.Glob(filepath.Join(u.evidence, "*.log"))
	if err != nil {
		return err
	}
	for _, name := range logs {
		log, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, sign := range []string{"DATA RACE", "panic: ", "fatal error: "} {
			if at := strings.Index(string(log), sign); at >= 0 {
				u.recorder.complain("%s: %.3000s", filepath.Base(name), log[at:])
			}
		}
	}
	return nil
}

// flooded is the cause behind the error of a run whose process was ended because
// of its log.
func (u *setup) flooded() error {
	for _, s := range []*server{u.gateway, u.dis} {
		if s != nil && s.flooded.Load() {
			return fmt.Errorf("%s was ended: its log had more than %d MiB", s.command.Args[1], maxLogBytes>>20)
		}
	}
	return nil
}

func (u *setup) close() {
	for _, s := range []*server{u.gateway, u.dis} {
		if s != nil {
			s.kill()
		}
	}
	for _, p := range []*proxy{u.toGateway, u.toDIS} {
		if p != nil {
			p.close()
		}
	}
}
