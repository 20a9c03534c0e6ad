package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/rs/zerolog"
)

const (
	storeFormat = 1

	// Together they bound the store's memory: up to three memtables waiting
	// for their flush besides the one being written, and the block cache.
	memTableBytes   = 16 << 20
	memTablesAtMost = 4
	blockCacheBytes = 32 << 20
)

// store is the pebble database with the one way in which it is written.
type store struct {
	db   *pebble.DB
	lock *pebble.Lock
	// failed is set once the disk refused a write. What is on disk is then no
	// longer certain, so nothing more is written.
	failed atomic.Pointer[error]
}

func openStore(dir string, disk vfs.FS, logger zerolog.Logger) (*store, error) {
	dir, err := prepareDir(dir, disk)
	if err != nil {
		return nil, err
	}
	lock, err := pebble.LockDirectory(dir, disk)
	if err != nil {
		return nil, lockError(dir, err)
	}
	db, err := pebble.Open(dir, &pebble.Options{
		FS:                          disk,
		FormatMajorVersion:          pebble.FormatValueSeparation,
		CacheSize:                   blockCacheBytes,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: memTablesAtMost,
		Lock:                        lock,
		Logger:                      storeLogger{logger},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the store in data directory %s: %w", dir, err), lock.Close())
	}
	s := &store{db: db, lock: lock}
	if err := s.checkFormat(dir); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// prepareDir creates the directory and gives its real path: a second opening
// in the same process is noticed by path.
func prepareDir(dir string, disk vfs.FS) (string, error) {
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create data directory: %w", err)
	}
	if disk != vfs.Default {
		return dir, nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("resolve data directory: %w", err)
	}
	return dir, nil
}

// lockError tells a lock that is held from a directory that cannot be used:
// only the file system's refusals name a path.
func lockError(dir string, err error) error {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return fmt.Errorf("lock data directory %s: %w", dir, err)
	}
	return fmt.Errorf("data directory %s is in use by another embedded DIS: stop it, or give another directory (%w)", dir, err)
}

// checkFormat writes the format number into a new store and refuses a store of
// another format, or one that is not ours.
func (s *store) checkFormat(dir string) error {
	text, found, err := s.get(formatKey)
	if err != nil {
		return fmt.Errorf("read the format of data directory %s: %w", dir, err)
	}
	if found {
		if format, err := strconv.Atoi(string(text)); err != nil || format != storeFormat {
			return fmt.Errorf("data directory %s has format %q, this version knows format %d: "+
				"open it with the version that wrote it, or use an empty directory", dir, text, storeFormat)
		}
		return nil
	}
	empty, err := s.empty()
	if err != nil {
		return fmt.Errorf("read data directory %s: %w", dir, err)
	}
	if !empty {
		return fmt.Errorf("data directory %s holds a store that is not an embedded DIS: use an empty directory", dir)
	}
	batch := s.db.NewBatch()
	if err := batch.Set(formatKey, []byte(strconv.Itoa(storeFormat)), nil); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.commit(batch); err != nil {
		return fmt.Errorf("write the format to data directory %s: %w", dir, err)
	}
	return nil
}

func (s *store) empty() (empty bool, err error) {
	iter, err := s.db.NewIter(nil)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	return !iter.First(), iter.Error()
}

// get copies the value of a key.
func (s *store) get(key []byte) (value []byte, found bool, err error) {
	raw, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append([]byte{}, raw...)
	return value, true, closer.Close()
}

// getNumber reads an 8 byte value, 0 when the key is absent.
func (s *store) getNumber(key []byte) (int64, error) {
	value, found, err := s.get(key)
	if err != nil || !found {
		return 0, err
	}
	if len(value) != 8 {
		return 0, fmt.Errorf("store: value of key %x has %d bytes, want 8", key, len(value))
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// commit writes a batch, waits until it is synced and closes it. Commits that
// run at the same time share a sync.
func (s *store) commit(batch *pebble.Batch) error {
	if err := s.apply(batch); err != nil {
		return err
	}
	return s.sync(batch)
}

// apply puts a batch in the order of writes. It must be followed by sync,
// which may run without the locks that decided the order. The log is synced
// front to back, so a synced batch implies every batch applied before it.
func (s *store) apply(batch *pebble.Batch) error {
	if failure := s.failed.Load(); failure != nil {
		return errors.Join(fmt.Errorf("the store writes nothing more until it is started again: %w", *failure), batch.Close())
	}
	if err := s.db.ApplyNoSyncWait(batch, pebble.Sync); err != nil {
		s.failed.CompareAndSwap(nil, &err)
		return fmt.Errorf("write to the store: %w", err)
	}
	return nil
}

// sync waits until an applied batch is on disk and closes it.
func (s *store) sync(batch *pebble.Batch) error {
	err := batch.SyncWait()
	if err != nil {
		s.failed.CompareAndSwap(nil, &err)
		return fmt.Errorf("sync the store: %w", err)
	}
	return batch.Close()
}

func (s *store) close() error {
	return errors.Join(s.db.Close(), s.lock.Close())
}

// storeLogger passes on what pebble reports. Pebble's running commentary is
// dropped; a fatal report ends the process, as pebble demands: its state is
// then beyond repair, while all that was acknowledged is on disk.
type storeLogger struct{ logger zerolog.Logger }

func (storeLogger) Infof(string, ...any) {}

func (l storeLogger) Errorf(format string, args ...any) {
	l.logger.Error().Msgf("embedded DIS store: "+format, args...)
}

func (l storeLogger) Fatalf(format string, args ...any) {
	l.logger.Fatal().Msgf("embedded DIS store: "+format, args...)
}
