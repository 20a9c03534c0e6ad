package record_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// captureFiles hold what real clients sent, recorded by a proxy (see
// TestRecordCaptures of the end-to-end tests).
const captureFiles = "../../testdata/captures/produce/*.json"

type captureFile struct {
	Client   string
	Captures []capture
}

type capture struct {
	Name    string
	Version int16
	Frames  []string
	Records []struct {
		Key, Value *string
		Headers    []struct {
			Key   string
			Value *string
		}
		Timestamp int64 // 0: the client's clock, -1: none
	}
}

func readCaptures(t testing.TB) []captureFile {
	t.Helper()
	names, err := filepath.Glob(captureFiles)
	if err != nil || len(names) != 5 {
		t.Fatalf("files %v, error %v; want five clients", names, err)
	}
	files := make([]captureFile, len(names))
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &files[i]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return files
}

// payloads are the records of each partition of the requests.
func (c *capture) payloads(t testing.TB) (all [][]byte) {
	t.Helper()
	for _, text := range c.Frames {
		frame, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		req := kmsg.NewPtrProduceRequest()
		req.Version = c.Version
		body := frame[10+int(binary.BigEndian.Uint16(frame[8:])):] // key, version, correlation, client id
		if req.IsFlexible() {
			body = body[1:] // no tagged fields
		}
		if err := req.ReadFrom(body); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for _, topic := range req.Topics {
			for _, partition := range topic.Partitions {
				all = append(all, partition.Records)
			}
		}
	}
	return all
}

func (c *capture) records() (all []record.Record) {
	bytes := func(text *string) []byte {
		if text == nil {
			return nil
		}
		return []byte(*text)
	}
	for _, r := range c.Records {
		want := record.Record{Key: bytes(r.Key), Value: bytes(r.Value), Timestamp: r.Timestamp}
		for _, h := range r.Headers {
			want.Headers = append(want.Headers, record.Header{Key: h.Key, Value: bytes(h.Value)})
		}
		all = append(all, want)
	}
	return all
}

// What real clients send is read as what they were told to send.
func TestCapturesOfRealClients(t *testing.T) {
	for _, file := range readCaptures(t) {
		for _, c := range file.Captures {
			t.Run(file.Client+"/"+c.Name, func(t *testing.T) {
				var got []record.Record
				for _, raw := range c.payloads(t) {
					batch, err := record.DecodeBatch(raw, c.Version, limits)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, batch.Records...)
				}
				want := c.records()
				for i := range min(len(got), len(want)) {
					if want[i].Timestamp == 0 { // some time of the recording
						if got[i].Timestamp < time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() {
							t.Errorf("record %d: timestamp %d", i, got[i].Timestamp)
						}
						want[i].Timestamp = got[i].Timestamp
					}
				}
				if diff := cmp.Diff(want, got, byBytes); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
