package embedded

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// transfer is a task that copies what arrives in a stream to a destination.
type transfer struct {
	stream *stream

	// mu guards the rest. It is taken after stream.mu, and held while progress
	// is stored, so that nothing of a deleted task is.
	mu       sync.Mutex
	meta     transferMeta
	progress map[int]transferProgress // by partition; only a delivery changes it
	tried    int64                    // ms, when this process last tried to deliver; 0 for never
	failed   bool                     // whether that went wrong
	deleted  bool
}

// transferMeta is the stored description of a task.
type transferMeta struct {
	Number      uint64           `json:"number"`
	ID          string           `json:"id"`
	CreatedAt   int64            `json:"created_at"` // ms
	Stopped     bool             `json:"stopped,omitempty"`
	Destination wire.Destination `json:"destination"`
	transferSettings
}

// transferSettings is what the client said about a task.
type transferSettings struct {
	Name string `json:"name"`
	// OBS is set for that destination, with defaults filled in; Descriptor for
	// the others, as it was sent but for passwords.
	OBS        *wire.OBSDestination `json:"obs,omitempty"`
	Descriptor json.RawMessage      `json:"descriptor,omitempty"`
	Strategy   wire.CursorType      `json:"strategy"`
}

// transferProgress is how far a task is in a partition.
type transferProgress struct {
	Next      int64 `json:"next"`                // first sequence number that is not in a file
	At        int64 `json:"at,omitempty"`        // ms, of the last file; 0 when there is none
	Discarded int64 `json:"discarded,omitempty"` // records that expired before they were transferred
	// Plan is the file that is being finished.
	Plan *transferPlan `json:"plan,omitempty"`
}

// transferPlan is a file with the records of [Next, To).
type transferPlan struct {
	To   int64  `json:"to"`
	At   int64  `json:"at"` // ms
	Path string `json:"path"`
}

// delivers reports whether the embedded DIS can do what the task asks for: it
// has a folder for text files, and nothing else. The caller holds mu.
func (t *transfer) delivers() bool {
	obs := t.meta.OBS
	return obs != nil && obs.DestinationFileType == fileTypeText && obs.ProcessingSchema == nil
}

// state is that of the task and of its part in every partition. ABNORMAL says
// that nothing is delivered although the task was not stopped. The caller holds mu.
func (t *transfer) state(hasFolder bool) wire.TransferState {
	switch {
	case t.meta.Stopped:
		return wire.TransferPaused
	case !hasFolder || !t.delivers():
		return wire.TransferAbnormal
	case t.failed:
		return wire.TransferError
	default:
		return wire.TransferRunning
	}
}

// lastTransfer is when the last file was finished, in ms. The caller holds mu.
func (t *transfer) lastTransfer() int64 {
	var last int64
	for _, p := range t.progress {
		last = max(last, p.At)
	}
	return last
}

// addTransfer stores a new task; admin and st.mu are held for writing.
func (s *Server) addTransfer(st *stream, destination wire.Destination, settings transferSettings) error {
	t := &transfer{stream: st, progress: map[int]transferProgress{}, meta: transferMeta{
		ID: newID(), CreatedAt: s.now(), Destination: destination, transferSettings: settings,
	}}
	batch := s.store.db.NewBatch()
	number, err := s.takeNumber(batch)
	t.meta.Number = number
	if err == nil {
		err = setJSON(batch, transferKey(st.number, number), t.meta)
	}
	for _, p := range st.partitions {
		at := p.position()
		start := transferProgress{Next: at.Oldest}
		if settings.Strategy == wire.CursorLatest {
			start.Next = at.Next
		}
		t.progress[p.number] = start
		if err == nil {
			err = setJSON(batch, progressKey(st.number, number, p.number), start)
		}
	}
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	st.transfers = append(slices.Clone(st.transfers), t)
	return nil
}

// setTransfer stores a change of a task's description. The caller holds mu.
func (s *Server) setTransfer(t *transfer, meta transferMeta) error {
	batch := s.store.db.NewBatch()
	if err := setJSON(batch, transferKey(t.stream.number, meta.Number), meta); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	t.meta = meta
	return nil
}

// dropTransfer removes a task from the store.
func (s *Server) dropTransfer(t *transfer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	batch := s.store.db.NewBatch()
	err := deletePrefixes(batch, [][]byte{
		transferKey(t.stream.number, t.meta.Number), progressPrefix(t.stream.number, t.meta.Number),
	})
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	t.deleted = true
	return nil
}

// errTransferGone says that a task or its stream was deleted during a delivery.
var errTransferGone = errors.New("the transfer task was deleted")

// setProgress stores how far a task is in a partition.
func (s *Server) setProgress(t *transfer, partition int, p transferProgress) error {
	unlock, err := t.stream.open()
	if err != nil {
		return errTransferGone
	}
	defer unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deleted {
		return errTransferGone
	}
	batch := s.store.db.NewBatch()
	if err := setJSON(batch, progressKey(t.stream.number, t.meta.Number, partition), p); err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	t.progress[partition] = p
	return nil
}

// loadTransfers brings the tasks of all streams into memory.
func (s *Server) loadTransfers() error {
	streams := map[uint64]*stream{}
	for _, st := range s.catalog.allStreams() {
		streams[st.number] = st
	}
	return s.store.each([]byte{kindTransfer}, func(key, value []byte) error {
		st := streams[binary.BigEndian.Uint64(key[1:])]
		if st == nil {
			return fmt.Errorf("transfer task %x belongs to no stream", key)
		}
		t := &transfer{stream: st, progress: map[int]transferProgress{}}
		if err := json.Unmarshal(value, &t.meta); err != nil {
			return fmt.Errorf("transfer task of %s: %w", st.name, err)
		}
		st.transfers = append(st.transfers, t)
		return s.loadProgress(t)
	})
}

func (s *Server) loadProgress(t *transfer) error {
	return s.store.each(progressPrefix(t.stream.number, t.meta.Number), func(key, value []byte) error {
		var p transferProgress
		if err := json.Unmarshal(value, &p); err != nil {
			return fmt.Errorf("progress of transfer task %s of %s: %w", t.meta.Name, t.stream.name, err)
		}
		t.progress[int(binary.BigEndian.Uint32(key[len(key)-4:]))] = p
		return nil
	})
}

func transferKey(stream, transfer uint64) []byte {
	return binary.BigEndian.AppendUint64(streamPrefix(kindTransfer, stream), transfer)
}

func progressPrefix(stream, transfer uint64) []byte {
	return binary.BigEndian.AppendUint64(streamPrefix(kindProgress, stream), transfer)
}

func progressKey(stream, transfer uint64, partition int) []byte {
	return binary.BigEndian.AppendUint32(progressPrefix(stream, transfer), uint32(partition))
}
