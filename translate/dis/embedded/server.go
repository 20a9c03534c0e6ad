package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"
)

// Server is an embedded DIS on an open store.
type Server struct {
	config   Config
	store    *store
	catalog  *catalog
	verifier *verifier
	faults   *faults // nil when they are not enabled

	// admin orders creation, deletion and scaling.
	admin sync.Mutex

	// metering is held for writing while counts move from memory to the store.
	metering sync.RWMutex

	dumps      *os.Root   // of transfer tasks; nil without Config.DumpDir
	delivering sync.Mutex // orders deliveries of transfer tasks

	closing chan struct{} // closed when Close begins
	running running
	sweeper sync.WaitGroup
	close   func() error
}

// Open opens the store in the data directory and recovers the streams. It
// fails with one message that names the directory when another process has it
// open or when it was written in a format that this version does not know.
func Open(config Config) (*Server, error) {
	config = config.withDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("embedded DIS settings: %w", err)
	}
	store, err := openStore(config.DataDir, config.disk, config.Logger)
	if err != nil {
		return nil, err
	}
	s := &Server{
		config:   config,
		store:    store,
		catalog:  newCatalog(),
		verifier: newVerifier(config),
		faults:   newFaults(config.Faults),
		closing:  make(chan struct{}),
	}
	s.close = sync.OnceValue(s.shutDown)
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("recover data directory %s: %w", config.DataDir, err), store.close())
	}
	if s.dumps, err = openDumps(config.DumpDir); err != nil {
		return nil, errors.Join(&DumpDirError{err}, store.close())
	}
	if s.dumps != nil {
		s.sweeper.Go(s.deliverRegularly)
	}
	s.sweeper.Go(s.sweepRegularly)
	return s, nil
}

// DumpDirError is why Config.DumpDir cannot be used.
type DumpDirError struct{ Err error }

func (e *DumpDirError) Error() string { return e.Err.Error() }

// Unwrap gives the reason.
func (e *DumpDirError) Unwrap() error { return e.Err }

// Handler serves the REST API below /v2 and /v3 and, where faults are enabled,
// their control endpoint /faults.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// Close lets the requests that are being processed finish, answers later ones
// with 503, and closes the store. It may be called more than once.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutDown() error {
	close(s.closing)
	s.running.stop()
	s.sweeper.Wait()
	var dumps error
	if s.dumps != nil {
		dumps = s.dumps.Close()
	}
	var unsaved error
	if s.store.failed.Load() == nil {
		unsaved = s.storeMetrics(endOfNumbers)
	}
	if err := errors.Join(dumps, unsaved, s.store.close()); err != nil {
		return fmt.Errorf("close the embedded DIS store: %w", err)
	}
	return nil
}

func (s *Server) sweepRegularly() {
	sweep := time.NewTicker(s.config.SweepInterval)
	defer sweep.Stop()
	metrics := time.NewTicker(time.Minute)
	defer metrics.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-sweep.C:
			s.sweep()
		case <-metrics.C:
			s.keepMetrics()
		}
	}
}

// now is the server's clock in ms.
func (s *Server) now() int64 { return s.config.Now().UnixMilli() }

// running counts the requests that use the store.
type running struct {
	mu      sync.Mutex
	stopped bool
	group   sync.WaitGroup
}

// start reports whether a request may begin; done must follow if so.
func (r *running) start() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.group.Add(1)
	}
	return !r.stopped
}

func (r *running) done() { r.group.Done() }

func (r *running) stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.group.Wait()
}

// newID is a random id in the style of stream and app ids: 20 letters and digits.
func newID() string { return rand.Text()[:20] }
