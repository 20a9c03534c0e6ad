package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
)

// adminServer answers probes and metrics over HTTP, apart from the Kafka port.
type adminServer struct {
	listener net.Listener
	server   *http.Server
	failed   chan error
}

// adminPages are what the admin address shows.
type adminPages struct {
	metrics prometheus.Gatherer
	// notReady is why the gateway is not ready, "" when it is; degraded says what
	// DIS refuses of one that is.
	notReady func() string
	degraded func() []string
	// status adds the status page.
	status func(*http.ServeMux)
}

// listenAdmin opens the admin address and answers there until close. Profiles of
// the process are served on loopback addresses only, since they show what the
// process holds, and nothing there is served under the name of a foreign site.
func listenAdmin(address string, pages adminPages) (*adminServer, error) {
	listener, err := gateway.ListenTCP(address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if reason := pages.notReady(); reason != "" {
			answer(w, http.StatusServiceUnavailable, reason)
			return
		}
		answer(w, http.StatusOK, strings.Join(append([]string{"ready"}, pages.degraded()...), "\n"))
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(pages.metrics, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}))
	pages.status(mux)
	handler := bodiless(mux)
	if isLoopback(listener.Addr()) {
		addProfiles(mux)
		handler = localNames(hostOf(address), handler)
	}
	a := &adminServer{
		listener: listener, failed: make(chan error, 1),
		server: &http.Server{
			Handler: handler, ReadHeaderTimeout: adminHeaderTime, WriteTimeout: adminWriteTime,
			IdleTimeout: 2 * time.Minute, MaxHeaderBytes: adminHeaderBytes,
		},
	}
	go func() {
		if err := a.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serving the admin address: %w", err)
		}
	}()
	return a, nil
}

// address is nil for a server that was not asked for.
func (a *adminServer) address() net.Addr {
	if a.listener == nil {
		return nil
	}
	return a.listener.Addr()
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// close ends the server; running answers get a second.
func (a *adminServer) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := a.server.Shutdown(ctx); err != nil {
		return a.server.Close()
	}
	return nil
}

// newMetrics is a registry that describes the process and the Go runtime; the
// parts add theirs.
func newMetrics() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := currentBuild()
	info := prometheus.NewGaugeVec(metricBuild.GaugeOpts(), metricBuild.Labels)
	info.WithLabelValues(build.version, build.commit, build.goVersion).Set(1)
	registry.MustRegister(info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
}

func isLoopback(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
