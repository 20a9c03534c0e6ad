package embedded

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// transferTick is how often the tasks are looked at.
const transferTick = time.Second

func (s *Server) deliverRegularly() {
	ticker := time.NewTicker(transferTick)
	defer ticker.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-ticker.C:
			s.deliverDue()
		}
	}
}

// deliverDue writes what has arrived since the last delivery, for every task
// whose interval has passed.
func (s *Server) deliverDue() {
	s.delivering.Lock()
	defer s.delivering.Unlock()
	for _, st := range s.catalog.allStreams() {
		for _, t := range st.copyTransfers() {
			if obs, due := t.start(s.now()); due {
				s.deliver(t, obs)
			}
		}
	}
}

// copyTransfers is the list of a stream's tasks, which is replaced when it changes.
func (st *stream) copyTransfers() []*transfer {
	st.mu.RLock()
	defer st.mu.RUnlock()
	return st.transfers
}

// start reports whether a delivery is due, and takes note of it. The interval
// counts from the last one, also from one before a restart, or from the creation.
func (t *transfer) start(now int64) (obs wire.OBSDestination, due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.active() {
		return obs, false
	}
	last := max(t.tried, t.lastTransfer(), t.meta.CreatedAt)
	if now-last < int64(t.meta.OBS.DeliverTimeInterval)*1000 {
		return obs, false
	}
	t.tried = now
	return *t.meta.OBS, true
}

// active reports whether the task is to deliver. The caller holds mu.
func (t *transfer) active() bool { return !t.deleted && !t.meta.Stopped && t.delivers() }

// deliver writes the files of one delivery. What fails is tried again when the
// next one is due; meanwhile the state of the task is ERROR.
func (s *Server) deliver(t *transfer, obs wire.OBSDestination) {
	err := s.deliverFiles(t, obs)
	if errors.Is(err, errTransferGone) {
		return
	}
	if err != nil {
		s.config.Logger.Error().Err(err).Str("stream", t.stream.name).Msg("embedded DIS transfer task cannot deliver")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = err != nil
}

// deliverFiles writes what the partitions have now, each into a file of its
// own, or several when there is much.
func (s *Server) deliverFiles(t *transfer, obs wire.OBSDestination) error {
	ends, err := t.stream.transferEnds()
	if err != nil {
		return err
	}
	for partition, end := range ends {
		d := delivery{server: s, transfer: t, obs: obs, partition: partition, at: s.now()}
		for more := true; more && s.mayGoOn(t); {
			if more, err = d.file(end); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayGoOn is false when the task was stopped or the server is closing.
func (s *Server) mayGoOn(t *transfer) bool {
	select {
	case <-s.closing:
		return false
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.active()
}

// transferEnds is the number of the next record of each partition.
func (st *stream) transferEnds() ([]int64, error) {
	unlock, err := st.open()
	if err != nil {
		return nil, errTransferGone
	}
	defer unlock()
	ends := make([]int64, len(st.partitions))
	for number, p := range st.partitions {
		ends[number] = p.position().Next
	}
	return ends, nil
}

func (t *transfer) progressOf(partition int) transferProgress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progress[partition]
}

// openDumps opens the folder of transfer tasks; nil when there is none.
func openDumps(dir string) (*os.Root, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create dump directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open dump directory: %w", err)
	}
	return root, nil
}
