package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	storedRecords  = 500
	storedSize     = 1024
	storingTurns   = 40 // of each way in a round
	storingGoal    = 3.0
	storingStream  = "storing"
	storingMemory  = 16 << 20 // the embedded DIS's memtable
	storingTimeout = 30 * time.Second
)

// way is one way to store the same bytes, and how long each turn took.
type way struct {
	name  string
	store func() error
	took  []time.Duration
}

// storing compares a put of 500 records of 1 KB, over HTTP and acknowledged when
// it is on disk, with the same bytes in one synced batch of the store that the
// embedded DIS uses, in this process and on the same disk. The ways take turns.
func storing(b *bench) (err error) {
	u, err := startSetup(b, 0)
	if err != nil {
		return err
	}
	defer u.stop()
	if err := u.createStream(storingStream, 1); err != nil {
		return err
	}
	values := make([][]byte, storedRecords)
	for i := range values {
		values[i] = make([]byte, storedSize)
		rand.Read(values[i])
	}
	syncing, closeFile, err := syncAlone(b.dir, values)
	if err != nil {
		return err
	}
	batch, closeStore, err := pebbleBatch(b.dir, values)
	if err != nil {
		return errors.Join(err, closeFile())
	}
	defer func() { err = errors.Join(err, closeFile(), closeStore()) }()
	protobuf, closeProtobuf, err := putOverHTTP(u, dis.RecordBodyProtobuf, values)
	if err != nil {
		return err
	}
	defer closeProtobuf()
	asJSON, closeJSON, err := putOverHTTP(u, dis.RecordBodyJSON, values)
	if err != nil {
		return err
	}
	defer closeJSON()

	var fsync time.Duration
	ways := []*way{
		{name: "write and fsync of a file", store: func() error { d, err := syncing(); fsync = d; return err }},
		{name: "one synced pebble batch", store: batch},
		{name: "PutRecords, protobuf", store: protobuf},
		{name: "PutRecords, JSON", store: asJSON},
	}
	var fsyncs []time.Duration
	for range b.rounds * storingTurns {
		for _, w := range ways {
			begin := time.Now()
			if err := w.store(); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			w.took = append(w.took, time.Since(begin))
		}
		fsyncs = append(fsyncs, fsync)
	}
	printStoring(b, ways, fsyncs)
	return nil
}

func printStoring(b *bench, ways []*way, fsyncs []time.Duration) {
	base := medianTime(ways[1].took)
	fmt.Printf("%d records of %d B, medians of %d turns:\n\n", storedRecords, storedSize, len(fsyncs))
	fmt.Println("| stored by                 | time, ms | ratio to the pebble batch |")
	fmt.Println("|---------------------------|---------:|--------------------------:|")
	line := func(name string, took []time.Duration) {
		middle := medianTime(took)
		fmt.Printf("| %-25s | %8.2f | %25.2f |\n", name, middle.Seconds()*1000, middle.Seconds()/base.Seconds())
	}
	line("fsync alone", fsyncs)
	for _, w := range ways {
		line(w.name, w.took)
	}
	ratio := medianTime(ways[2].took).Seconds() / base.Seconds()
	fmt.Println()
	b.goal(ratio <= storingGoal, fmt.Sprintf("protobuf at most %.0f times the pebble batch", storingGoal), fmt.Sprintf("%.2f", ratio))
}

func medianTime(took []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(took))[len(took)/2]
}

// syncAlone writes the bytes to a file, and measures the sync by itself.
func syncAlone(dir string, values [][]byte) (store func() (time.Duration, error), end func() error, err error) {
	file, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return nil, nil, err
	}
	content := slices.Concat(values...)
	return func() (time.Duration, error) {
		if _, err := file.Write(content); err != nil {
			return 0, err
		}
		begin := time.Now()
		err := file.Sync()
		return time.Since(begin), err
	}, file.Close, nil
}

// pebbleBatch stores the values under ascending keys.
func pebbleBatch(dir string, values [][]byte) (store func() error, end func() error, err error) {
	db, err := pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{MemTableSize: storingMemory, Logger: quiet{}})
	if err != nil {
		return nil, nil, err
	}
	next := uint64(0)
	return func() error {
		batch := db.NewBatch()
		for _, value := range values {
			if err := batch.Set(binary.BigEndian.AppendUint64(nil, next), value, nil); err != nil {
				return errors.Join(err, batch.Close())
			}
			next++
		}
		return errors.Join(batch.Commit(pebble.Sync), batch.Close())
	}, db.Close, nil
}

// quiet drops pebble's running commentary; its errors come back from the calls.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	exitOn(fmt.Errorf(format, args...))
}

// putOverHTTP stores the values with the project's DIS client.
func putOverHTTP(u *setup, body dis.RecordBody, values [][]byte) (store func() error, end func(), err error) {
	client, err := dis.New(dis.Config{
		Endpoint: u.endpoint, Region: region, ProjectID: project, RecordBody: body,
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: accessKey, SecretKey: secretKey}),
	})
	if err != nil {
		return nil, nil, err
	}
	request := wire.PutRecordsRequest{StreamName: storingStream}
	for _, value := range values {
		request.Records = append(request.Records, wire.PutRecord{Data: value, PartitionID: "0"})
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), storingTimeout)
		defer cancel()
		results, err := client.PutRecords(ctx, &request)
		if err == nil && results.FailedRecordCount > 0 {
			err = fmt.Errorf("%d records were refused", results.FailedRecordCount)
		}
		return err
	}, client.Close, nil
}
