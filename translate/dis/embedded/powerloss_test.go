package embedded

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// TestPowerLoss goes further than a killed process: the disk forgets what was
// not synced, some of it or all. Puts run side by side in the same partitions
// when that happens. What was acknowledged before must be there, and all that
// is there must be dense.
func TestPowerLoss(t *testing.T) {
	const writers, turns, partitions = 4, 150, 2
	disk := vfs.NewCrashableMem()
	config := Config{DataDir: "dis", AccessKeys: map[string]string{"a": "s"}, disk: disk}
	s, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	settings := wire.CreateStreamRequest{StreamName: "s", PartitionCount: partitions, DataDuration: 24}
	if err := s.addStream("p", settings); err != nil {
		t.Fatal(err)
	}
	st, err := s.catalog.stream("p", "s", "")
	if err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	acknowledged := map[string]string{} // data by "partition number"
	type crash struct {
		disk         *vfs.MemFS
		acknowledged map[string]string
	}
	var crashes []crash
	var work sync.WaitGroup
	for writer := range writers {
		work.Go(func() {
			for turn := range turns {
				records := []wire.PutRecord{
					to(turn%partitions, fmt.Sprintf("%d %d a", writer, turn)),
					to(writer%partitions, fmt.Sprintf("%d %d b", writer, turn)),
				}
				results, err := s.put(st, records)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for i, r := range results {
					acknowledged[fmt.Sprint(r.partition.number, r.number)] = string(records[i].Data)
				}
				if turn%25 == writer {
					before := make(map[string]string, len(acknowledged))
					for place, data := range acknowledged {
						before[place] = data
					}
					crashes = append(crashes, crash{acknowledged: before, disk: disk.CrashClone(vfs.CrashCloneCfg{
						UnsyncedDataPercent: len(crashes) % 3 * 50,
						RNG:                 rand.New(rand.NewPCG(1, uint64(len(crashes)))),
					})})
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(crashes) < writers {
		t.Fatalf("only %d crashes", len(crashes))
	}
	for i, c := range crashes {
		config.disk = c.disk
		checkAfterCrash(t, fmt.Sprintf("crash %d", i), config, c.acknowledged)
	}
}

func checkAfterCrash(t *testing.T, name string, config Config, acknowledged map[string]string) {
	t.Helper()
	s, err := Open(config)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer s.Close()
	st, err := s.catalog.stream("p", "s", "")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	stored := map[string]string{}
	for _, p := range st.partitions {
		// A gap is an error of the scan.
		err := s.store.scan(st.number, p.number, 0, p.stored.Load(), func(number int64, r *storedRecord) bool {
			stored[fmt.Sprint(p.number, number)] = string(r.data)
			return true
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for place, data := range acknowledged {
		if stored[place] != data {
			t.Errorf("%s: at %s %q was acknowledged, %q is stored", name, place, data, stored[place])
		}
	}
}
