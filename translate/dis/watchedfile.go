package dis

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

const (
	// fileCheckEvery is how often a watched file is looked at, and how long it must
	// have stayed the same before it is read: somebody may still be writing it.
	fileCheckEvery = time.Second
	// maxWatchedBytes bounds a watched file.
	maxWatchedBytes = 64 << 10
)

// watchedFile is the content of a small file with secrets, read again when the
// file changes. A file that turned bad or vanished leaves the last good content
// in force, which is logged once. It is looked at when the content is asked for,
// so that nothing runs in the background.
type watchedFile[T any] struct {
	path   string
	parse  func(content []byte) (T, error) // its errors must not quote the content
	logger zerolog.Logger
	value  atomic.Pointer[T]

	mu        sync.Mutex // held by whoever looks at the file; the others do not wait
	nextCheck time.Time
	seen      fileVersion // at the last look
	loaded    fileVersion // of the content in force
	bad       bool        // logged already
}

// fileVersion tells one content of a file from the next.
type fileVersion struct {
	modified time.Time
	size     int64
}

// watchFile reads a file for the first time; then it must be good.
func watchFile[T any](path string, logger zerolog.Logger, parse func([]byte) (T, error)) (*watchedFile[T], error) {
	w := &watchedFile[T]{path: path, parse: parse, logger: logger, nextCheck: time.Now().Add(fileCheckEvery)}
	version, err := w.version()
	if err == nil {
		err = w.load(version)
	}
	if err != nil {
		return nil, err
	}
	w.seen = version
	return w, nil
}

func (w *watchedFile[T]) get() T {
	if w.mu.TryLock() {
		w.check(time.Now())
		w.mu.Unlock()
	}
	return *w.value.Load()
}

func (w *watchedFile[T]) check(now time.Time) {
	if now.Before(w.nextCheck) {
		return
	}
	w.nextCheck = now.Add(fileCheckEvery)
	version, err := w.version()
	if err != nil {
		w.turnedBad(err)
		return
	}
	settled := version == w.seen || now.Sub(version.modified) >= fileCheckEvery
	w.seen = version
	if version == w.loaded || !settled {
		return
	}
	if err := w.load(version); err != nil {
		w.turnedBad(err)
		return
	}
	w.bad = false
	w.logger.Info().Str("file", w.path).Msg("file read again")
}

// turnedBad logs the first of several failures in a row.
func (w *watchedFile[T]) turnedBad(err error) {
	if w.bad {
		return
	}
	w.bad = true
	w.logger.Error().Err(err).Msg("file is unusable, its earlier content stays in force")
}

func (w *watchedFile[T]) version() (fileVersion, error) {
	info, err := os.Stat(w.path)
	if err != nil {
		return fileVersion{}, err // names the path
	}
	return fileVersion{info.ModTime(), info.Size()}, nil
}

func (w *watchedFile[T]) load(version fileVersion) error {
	content, err := readSmall(w.path)
	if err != nil {
		return err
	}
	value, err := w.parse(content)
	if err != nil {
		return fmt.Errorf("%s: %w", w.path, err)
	}
	w.value.Store(&value)
	w.loaded = version
	return nil
}

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read
	content, err := io.ReadAll(io.LimitReader(file, maxWatchedBytes+1))
	if err == nil && len(content) > maxWatchedBytes {
		err = fmt.Errorf("%s: longer than %d bytes", path, maxWatchedBytes)
	}
	return content, err
}
