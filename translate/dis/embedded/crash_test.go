package embedded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// crashDirVariable makes the test binary the child of the crash test.
const crashDirVariable = "EMBEDDED_DIS_CRASH_DIR"

const (
	crashKills      = 200
	crashLanes      = 4  // children that run side by side, each with a folder of its own
	crashFresh      = 10 // kills after which a lane takes a new folder
	crashWriters    = 3
	crashPartitions = 3
	crashLongest    = 200 * time.Millisecond // of load before a kill
)

// crashingChild is an embedded DIS that prints its address and serves until it
// is killed.
func crashingChild(dir string) {
	server, err := Open(Config{DataDir: dir, Insecure: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Println(listener.Addr())
		err = http.Serve(listener, server.Handler())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKill kills a server at random moments under load over HTTP: every
// acknowledged record is at its place, each writer's records are in its order
// and there once, the numbers are dense, and the checkpoint is the last that was
// acknowledged or the one that was under way.
func TestKill(t *testing.T) {
	kills := crashKills
	if testing.Short() {
		kills = 5 * crashLanes
	}
	var lanes errgroup.Group
	for number := range crashLanes {
		l := &lane{t: t, random: rand.New(rand.NewPCG(1, uint64(number)))}
		lanes.Go(func() error {
			for kill := range kills / crashLanes {
				if kill%crashFresh == 0 {
					if err := l.begin(); err != nil {
						return fmt.Errorf("lane %d, kill %d: %w", number, kill, err)
					}
				}
				if err := errors.Join(l.killUnderLoad(kill), l.check()); err != nil {
					return fmt.Errorf("lane %d, kill %d: %w", number, kill, err)
				}
			}
			t.Logf("lane %d: %d records, %d checkpoints were acknowledged", number, l.records, l.commits)
			if l.records == 0 || l.commits == 0 {
				return fmt.Errorf("lane %d: there was no load", number)
			}
			return nil
		})
	}
	if err := lanes.Wait(); err != nil {
		t.Fatal(err)
	}
}

// lane is one folder with what clients know of it.
type lane struct {
	t      *testing.T
	random *rand.Rand
	dir    string

	mu               sync.Mutex
	acknowledged     map[string]string // data by "partition number"
	checkpoint       int64             // the last that was acknowledged
	attempt          int64             // the last that was sent
	records, commits int
}

func (l *lane) config() Config { return Config{DataDir: l.dir, Insecure: true} }

func (l *lane) begin() (err error) {
	if l.dir, err = os.MkdirTemp(l.t.TempDir(), "lane"); err != nil {
		return err
	}
	l.acknowledged, l.checkpoint, l.attempt = map[string]string{}, -1, -1
	s, err := Open(l.config())
	if err != nil {
		return err
	}
	err = errors.Join(
		s.addStream(DevProjectID, wire.CreateStreamRequest{StreamName: "s", PartitionCount: crashPartitions, DataDuration: 24}),
		s.addApp(DevProjectID, "g"))
	return errors.Join(err, s.Close())
}

// killUnderLoad runs the child, puts and commits until it is killed.
func (l *lane) killUnderLoad(kill int) error {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDirVariable+"="+l.dir)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("the child did not start: %w", err), child.Wait())
	}
	base := "http://" + strings.TrimSpace(address) + "/v2/" + DevProjectID
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: crashWriters + 1}}
	defer client.CloseIdleConnections()
	var load sync.WaitGroup
	for writer := range crashWriters {
		load.Go(func() { l.write(client, base, kill, writer) })
	}
	load.Go(func() { l.commit(client, base) })
	time.Sleep(time.Duration(l.random.Int64N(int64(crashLongest))))
	err = child.Process.Kill() // SIGKILL
	load.Wait()
	if ended := child.Wait(); ended == nil || child.ProcessState.Exited() {
		err = errors.Join(err, fmt.Errorf("the child ended by itself: %v", ended))
	}
	return err
}

// write puts one request after another until the server is gone. The data of a
// record names its place in the writer's order.
func (l *lane) write(client *http.Client, base string, kill, writer int) {
	for turn := 0; ; turn++ {
		put := wire.PutRecordsRequest{StreamName: "s"}
		for i := range 12 {
			put.Records = append(put.Records, to((turn+i)%crashPartitions, fmt.Sprintf("%d %06d %06d %02d", writer, kill, turn, i)))
		}
		answer, ok := l.send(client, base+"/records", protobufWithSpace, wire.AppendProtoPutRecordsRequest(nil, &put), 200)
		if !ok {
			return
		}
		results, err := wire.DecodeProtoPutRecordsResponse(answer)
		if err != nil || results.FailedRecordCount > 0 {
			l.t.Errorf("put: %v, %+v", err, results)
			return
		}
		l.mu.Lock()
		for i, r := range results.Records {
			l.acknowledged[r.PartitionID+" "+r.SequenceNumber] = string(put.Records[i].Data)
		}
		l.records += len(results.Records)
		l.mu.Unlock()
	}
}

// commit moves the checkpoint of partition 0 on by one.
func (l *lane) commit(client *http.Client, base string) {
	for next := l.attempt + 1; ; next++ {
		// A number whose record was not acknowledged may not exist.
		for known := false; !known; {
			l.mu.Lock()
			known = l.acknowledged[wire.PartitionID(0)+" "+number(next)] != "" || next == 0
			l.mu.Unlock()
			if !known {
				response, err := client.Get(base + "/apps/g")
				if err != nil {
					return
				}
				_ = response.Body.Close()
			}
		}
		l.attempt = next
		body := fmt.Sprintf(`{"app_name":"g","checkpoint_type":"LAST_READ","stream_name":"s","partition_id":"0","sequence_number":"%d","metadata":"m%d"}`, next, next)
		if _, ok := l.send(client, base+"/checkpoints", "application/json", []byte(body), 201); !ok {
			return
		}
		l.checkpoint = next
		l.commits++
	}
}

// send is false when the server is gone.
func (l *lane) send(client *http.Client, url, kind string, body []byte, status int) ([]byte, bool) {
	response, err := client.Post(url, kind, bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != status {
		l.t.Errorf("%s: status %d: %s", url, response.StatusCode, answer)
		return nil, false
	}
	return answer, err == nil
}

// check opens what the killed server left behind.
func (l *lane) check() error {
	s, err := Open(l.config())
	if err != nil {
		return err
	}
	return errors.Join(l.checkRecords(s), l.checkCheckpoint(s), s.Close())
}

func (l *lane) checkRecords(s *Server) error {
	st, err := s.catalog.stream(DevProjectID, "s", "")
	if err != nil {
		return err
	}
	missing := len(l.acknowledged)
	for _, p := range st.partitions {
		last := make([]string, crashWriters)
		var wrong error
		// The scan itself fails at a gap.
		err := s.store.scan(st.number, p.number, 0, p.stored.Load(), func(at int64, r *storedRecord) bool {
			data := string(r.data)
			writer, err := strconv.Atoi(data[:1])
			if err != nil || data <= last[writer] {
				wrong = fmt.Errorf("partition %d, record %d: %q comes behind %q", p.number, at, data, last[writer])
				return false
			}
			last[writer] = data
			if known, ok := l.acknowledged[p.id+" "+number(at)]; ok {
				missing--
				if known != data {
					wrong = fmt.Errorf("partition %d, record %d: %q was acknowledged, %q is stored", p.number, at, known, data)
				}
			}
			return wrong == nil
		})
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d acknowledged records are lost", missing, len(l.acknowledged))
	}
	return nil
}

func (l *lane) checkCheckpoint(s *Server) error {
	at, err := s.target(DevProjectID, "g", "s", "", wire.CheckpointLastRead)
	if err != nil {
		return err
	}
	defer at.unlock()
	stored, err := s.store.checkpoint(checkpointKey(at.app.meta.Number, at.stream.number, 0))
	if err != nil {
		return err
	}
	if stored.number != l.checkpoint && stored.number != l.attempt {
		return fmt.Errorf("checkpoint %d is stored; %d was acknowledged, %d sent", stored.number, l.checkpoint, l.attempt)
	}
	if stored.number >= 0 && stored.metadata != fmt.Sprint("m", stored.number) {
		return fmt.Errorf("checkpoint %d has metadata %q", stored.number, stored.metadata)
	}
	l.checkpoint, l.attempt = stored.number, stored.number
	return nil
}
