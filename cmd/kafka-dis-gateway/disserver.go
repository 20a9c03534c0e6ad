package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
)

// disServer is the embedded DIS behind an HTTP address.
type disServer struct {
	listener net.Listener
	store    *embedded.Server
	server   *http.Server
	failed   chan error
}

// listenDIS opens the address of an embedded DIS; open answers there.
func listenDIS(address string) (*disServer, error) {
	listener, err := gateway.ListenTCP(address)
	if err != nil {
		return nil, err
	}
	return &disServer{listener: listener, failed: make(chan error, 1)}, nil
}

// open opens the store and begins to answer.
func (d *disServer) open(config embedded.Config) error {
	store, err := embedded.Open(config)
	if err != nil {
		return err
	}
	d.store, d.server = store, &http.Server{Handler: store.Handler(), ReadHeaderTimeout: 30 * time.Second}
	go func() {
		if err := d.server.Serve(d.listener); !errors.Is(err, http.ErrServerClosed) {
			d.failed <- fmt.Errorf("serving the embedded DIS: %w", err)
		}
	}()
	return nil
}

// url is the base URL for DIS clients.
func (d *disServer) url() string { return "http://" + d.listener.Addr().String() }

// close finishes the running requests, for a moment, and closes the store.
func (d *disServer) close() error {
	if d.store == nil {
		return d.listener.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := d.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = d.server.Close()
	}
	return errors.Join(err, d.store.Close())
}

// embeddedKeys are the keys that a stand-alone embedded DIS accepts: those of
// the environment or, where it has none, the development keys.
func embeddedKeys() dis.Keys {
	keys, _ := dis.EnvironmentKeys()
	return dis.Keys{
		AccessKey: cmp.Or(keys.AccessKey, embedded.DevAccessKey),
		SecretKey: cmp.Or(keys.SecretKey, embedded.DevSecretKey),
	}
}

// blameFolder names the setting of the folder that an embedded DIS cannot be opened
// with.
func (c commonSettings) blameFolder(err error) error {
	if errors.As(err, new(*embedded.DumpDirError)) {
		return c.blame("dump-dir", err)
	}
	return c.blame("data-dir", err)
}
