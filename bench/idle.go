package main

import (
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"
)

const (
	idleConnections = 2000
	// idleGoal is the resident memory of the gateway for each of them.
	idleGoal = 40 << 10
	// idleReserve are the open files that this process and the gateway need besides.
	idleReserve = 100
)

// idle opens connections, asks each for the versions and the metadata as every
// client does, and shows what the gateway's memory grew by.
func idle(b *bench) error {
	if limit, err := openFiles(); err != nil {
		return err
	} else if limit < uint64(idleConnections+idleReserve) {
		fmt.Printf("not measured: %d connections need %d open files, the limit (ulimit -n) is %d\n", idleConnections, idleConnections+idleReserve, limit)
		return nil
	}
	u, err := startSetup(b, 0)
	if err != nil {
		return err
	}
	defer u.stop()
	before, err := u.settledRSS()
	if err != nil {
		return err
	}
	for range idleConnections {
		connection, err := connect(u.kafka)
		if err != nil {
			return err
		}
		defer connection.Close()
	}
	after, err := u.settledRSS()
	if err != nil {
		return err
	}
	each := (after - before) / idleConnections
	fmt.Printf("gateway memory: %.1f MiB before, %.1f MiB with %d connections\n\n", mebibytes(before), mebibytes(after), idleConnections)
	b.goal(each <= idleGoal, "an idle connection at most 40 KiB of memory", fmt.Sprintf("%.1f KiB", float64(each)/1024))
	return nil
}

// openFiles raises this process's limit of open files as far as it may; the
// gateway, started by it, has the same.
func openFiles() (uint64, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	limit.Cur = limit.Max
	return limit.Cur, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

// settledRSS is the gateway's resident memory once its garbage is collected and
// the memory of it given back, which the Go runtime does at its leisure.
func (u *setup) settledRSS() (int64, error) {
	const tries, near = 60, 256 << 10
	last := int64(0)
	for range tries {
		answer, err := http.Get("http://" + u.admin + "/debug/pprof/heap?gc=1")
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil {
			return 0, err
		}
		now := u.gateway.rss()
		if now > last-near && now < last+near {
			return now, nil
		}
		last = now
		time.Sleep(2 * time.Second)
	}
	return last, nil
}
