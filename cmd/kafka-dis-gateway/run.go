package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// running is how a gateway is run.
type running struct {
	// adminAddress is empty for none.
	adminAddress string
	// blame names the setting that an error is about.
	blame func(setting string, err error) error
	// ready is called when every address is open, before clients are served;
	// admin is nil without an admin address.
	ready func(ctx context.Context, kafka []net.Addr, admin net.Addr) error
	// failed tells of the end of something the gateway cannot do without; may
	// be nil.
	failed <-chan error
	// grace is how long the drain may take, asked when it begins.
	grace func() time.Duration
}

// unservedGrace is for closing parts that nobody has used yet.
const unservedGrace = time.Second

// run opens the addresses, serves until the first signal and drains. The
// parts are closed when it returns.
func (p *parts) run(signals *signals, r running) (err error) {
	life, end := context.WithCancel(signals.force)
	var tasks sync.WaitGroup
	defer func() {
		end()
		tasks.Wait()
		p.close()
	}()

	admin := &adminServer{}
	if r.adminAddress != "" {
		if admin, err = listenAdmin(r.adminAddress, p.adminPages()); err != nil {
			return errors.Join(r.blame("admin-listen", err), p.stop(life, unservedGrace))
		}
		defer func() { err = errors.Join(err, admin.close()) }()
	}
	if err := p.server.Listen(); err != nil {
		return errors.Join(r.blame("listen", err), p.stop(life, unservedGrace))
	}
	if err := r.ready(signals.drain, p.server.Addrs(), admin.address()); err != nil {
		return errors.Join(err, p.stop(life, unservedGrace))
	}

	served := make(chan error, 1)
	tasks.Go(func() { served <- p.server.Serve(life) })
	tasks.Go(func() { p.status.Run(life) })
	tasks.Go(func() { p.health.Watch(life) })
	select {
	case <-signals.drain.Done():
	case err = <-admin.failed:
	case err = <-r.failed:
	case err = <-served:
		return errors.Join(err, p.stop(life, unservedGrace))
	}
	err = errors.Join(err, p.stop(life, r.grace()))
	end()
	return errors.Join(err, <-served)
}

func (p *parts) adminPages() adminPages {
	return adminPages{metrics: p.metrics, notReady: p.health.NotReady, degraded: p.health.Degraded, status: p.status.Register}
}

// stop drains the server and closes the parts behind it.
func (p *parts) stop(ctx context.Context, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	return p.server.Shutdown(ctx)
}

// abandon closes parts that were never run.
func (p *parts) abandon(ctx context.Context) error {
	defer p.close()
	return p.stop(ctx, unservedGrace)
}

// askDIS makes the cheapest call that needs an address, a clock, keys, a
// project and permissions that are right.
func (p *parts) askDIS(ctx context.Context) error {
	_, err := p.client.ListStreams(ctx)
	return err
}

// close ends what the server does not own.
func (p *parts) close() {
	p.catalog.Close()
	p.client.Close()
}
