package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	// defaultDumpFileBytes is the size at which a file is closed and another begun.
	defaultDumpFileBytes = 64 << 20
	// dumpSliceBytes is how much is read while the stream is locked.
	dumpSliceBytes = 1 << 20
)

// delivery writes the files of a task for one partition.
//
// A file holds each record byte for byte, followed by the delimiter. A record
// comes into exactly one file, whatever happens, by the order of these steps,
// each of them on disk before the next:
//
//  1. the records are written into a hidden file and synced;
//  2. the plan is stored: up to which record, and the name of the file. The name
//     has the time and the first sequence number, so no other file ever has it;
//  3. the hidden file gets that name, and the folders are synced;
//  4. the progress is stored, without a plan.
//
// After a crash before 2 nothing has happened: the hidden file is overwritten.
// After a crash between 2 and 4 the plan says what to finish: if its file exists,
// step 3 was done; if not, the file is written once more, up to the same record
// and under the same name. A file never changes once it has its name.
type delivery struct {
	server    *Server
	transfer  *transfer
	obs       wire.OBSDestination
	partition int
	at        int64 // ms
}

// file writes the next file with records before end, and reports whether there
// are more of them.
func (d *delivery) file(end int64) (more bool, err error) {
	progress := d.transfer.progressOf(d.partition)
	if progress.Plan == nil {
		if progress, err = d.plan(progress, end); err != nil || progress.Plan == nil {
			return false, err
		}
	} else if err := d.restore(&progress); err != nil {
		return false, err
	}
	plan := progress.Plan
	if plan.Path != "" {
		if err := d.publish(plan.Path); err != nil {
			return false, err
		}
	}
	progress.Next, progress.At, progress.Plan = plan.To, plan.At, nil
	return progress.Next < end, d.save(progress)
}

// plan does the steps 1 and 2. There is no plan when there are no records.
func (d *delivery) plan(progress transferProgress, end int64) (transferProgress, error) {
	if progress.Next >= end {
		return progress, nil
	}
	written, err := d.write(progress.Next, end, d.server.config.dumpFileBytes)
	if err != nil {
		return progress, err
	}
	progress.Discarded += written.first - progress.Next
	progress.Next = written.first
	if written.next == written.first { // all of them expired
		return progress, errors.Join(d.save(progress), d.server.dumps.Remove(d.hidden()))
	}
	progress.Plan = &transferPlan{To: written.next, At: d.at, Path: d.path(written.first)}
	return progress, d.save(progress)
}

// restore prepares step 3 after a crash. The path becomes empty when there is
// nothing left to do in it.
func (d *delivery) restore(progress *transferProgress) error {
	plan := *progress.Plan
	progress.Plan = &plan
	_, err := d.server.dumps.Stat(plan.Path)
	if err == nil {
		err = d.syncFolders(plan.Path)
		plan.Path = ""
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Without a limit: the file ends where it was to end.
	written, err := d.write(progress.Next, plan.To, math.MaxInt)
	if err != nil {
		return err
	}
	progress.Discarded += plan.To - progress.Next - (written.next - written.first)
	if written.next == written.first {
		plan.Path = ""
		return d.server.dumps.Remove(d.hidden())
	}
	return nil
}

func (d *delivery) save(progress transferProgress) error {
	return d.server.setProgress(d.transfer, d.partition, progress)
}

// path is the name of a file within the dump folder.
func (d *delivery) path(first int64) string {
	at := time.UnixMilli(d.at).UTC()
	name := fmt.Sprintf("%s-%s-%s-%s-%019d", d.transfer.stream.name, d.obs.TaskName,
		at.Format("20060102T150405Z"), wire.PartitionID(d.partition), first)
	return path.Join(d.obs.OBSBucketPath, d.obs.FilePrefix, at.Format(folderLayouts[d.obs.PartitionFormat]), name)
}

// hidden is the name of a file that is not finished.
func (d *delivery) hidden() string {
	return fmt.Sprintf(".%s-%d.part", d.transfer.meta.ID, d.partition)
}

// written is what is in a file: the records of [first, next).
type written struct{ first, next int64 }

// write does step 1, with the records of [from, to) that are still there, until
// the file has that many bytes.
func (d *delivery) write(from, to int64, limit int) (w written, err error) {
	file, err := d.server.dumps.Create(d.hidden())
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffer := bufio.NewWriterSize(file, 64<<10)
	if w, err = d.copy(from, to, limit, buffer); err != nil {
		return w, err
	}
	if err := buffer.Flush(); err != nil {
		return w, err
	}
	return w, file.Sync()
}

// copy reads slice by slice, so that the stream is not locked for long.
func (d *delivery) copy(from, to int64, limit int, file *bufio.Writer) (written, error) {
	w, total := written{from, from}, 0
	for w.next < to && total < limit {
		slice, bytes, err := d.copySlice(w.next, to, min(dumpSliceBytes, limit-total), file)
		if err != nil {
			return w, err
		}
		if slice.first > w.next && w.next > w.first {
			break // what follows expired: the file ends in front of the gap
		}
		if w.next == w.first {
			w.first = slice.first
		}
		w.next = slice.next
		total += bytes
		if slice.next == slice.first {
			break
		}
	}
	return w, nil
}

// copySlice appends some records of [from, to) to a file. The first of them is
// a later one when records expired.
func (d *delivery) copySlice(from, to int64, limit int, file *bufio.Writer) (slice written, bytes int, err error) {
	st := d.transfer.stream
	unlock, err := st.open()
	if err != nil {
		return slice, 0, errTransferGone
	}
	defer unlock()
	from = min(max(from, st.partitions[d.partition].position().Oldest), to)
	slice = written{from, from}
	var failure error
	err = d.server.store.scan(st.number, d.partition, from, to, func(number int64, r *storedRecord) bool {
		if _, failure = file.Write(r.data); failure == nil {
			_, failure = file.WriteString(d.obs.RecordDelimiter)
		}
		bytes += len(r.data) + len(d.obs.RecordDelimiter)
		slice.next = number + 1
		return failure == nil && bytes < limit
	})
	return slice, bytes, errors.Join(err, failure)
}

// publish does step 3.
func (d *delivery) publish(name string) error {
	if err := d.server.dumps.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	if err := d.server.dumps.Rename(d.hidden(), name); err != nil {
		return err
	}
	return d.syncFolders(name)
}

// syncFolders makes the entry of a file and of its folders durable.
func (d *delivery) syncFolders(name string) error {
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		if err := d.syncFolder(folder); err != nil {
			return err
		}
		if folder == "." {
			return nil
		}
	}
}

func (d *delivery) syncFolder(name string) (err error) {
	folder, err := d.server.dumps.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	return folder.Sync()
}
