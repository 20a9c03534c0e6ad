package embedded

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// Deliveries and sessions follow the clock without anybody's call: a task
// delivers at its interval, and a group without calls is empty after a session.
func TestTransferAndSessionTimers(t *testing.T) {
	dumps := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		server, err := Open(Config{
			DataDir: "data", disk: vfs.NewMem(), DumpDir: dumps, AccessKeys: map[string]string{DevAccessKey: DevSecretKey},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		}()
		settings := wire.CreateStreamRequest{StreamName: "s", PartitionCount: 1, StreamType: wire.StreamCommon, DataDuration: 24}
		if err := server.addStream("p", settings); err != nil {
			t.Fatal(err)
		}
		st, err := server.catalog.stream("p", "s", "")
		if err != nil {
			t.Fatal(err)
		}
		task, err := obsSettings([]byte(`{"task_name":"x","agency_name":"a","obs_bucket_path":"bucket","deliver_time_interval":30}`), "BLOB")
		if err == nil {
			err = server.addTransfer(st, wire.DestinationOBS, task)
		}
		if err == nil {
			err = server.addApp("p", "g")
		}
		if err == nil {
			_, err = server.put(st, []wire.PutRecord{to(0, "a")})
		}
		if err == nil {
			_, err = server.join("p", "g", &wire.JoinGroupRequest{ClientID: "c", InterestedStream: []string{"s"}})
		}
		if err != nil {
			t.Fatal(err)
		}
		files := func() int {
			found, err := filepath.Glob(filepath.Join(dumps, "bucket", "*"))
			if err != nil {
				t.Fatal(err)
			}
			return len(found)
		}
		a, err := server.catalog.app("p", "g")
		if err != nil {
			t.Fatal(err)
		}

		time.Sleep(30*time.Second - 1)
		synctest.Wait()
		if !a.inUse(server.config.Now()) || files() != 0 {
			t.Errorf("before its time: in use %v, %d files", a.inUse(server.config.Now()), files())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if a.inUse(server.config.Now()) || files() != 1 {
			t.Errorf("after its time: in use %v, %d files", a.inUse(server.config.Now()), files())
		}
	})
}
