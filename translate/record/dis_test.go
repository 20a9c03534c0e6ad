package record_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"
)

// formatCases are the examples of docs/record-format.md. They were made by a
// program that shares nothing with this package.
const formatCases = "../../testdata/record-format/*.json"

// policy is that of a topic without settings.
var policy record.Policy

type formatCase struct {
	Name    string `json:"name"`
	Written bool   `json:"written"` // this is how the gateway stores the record
	DIS     struct {
		Data         hexBytes `json:"data"`
		PartitionKey *string  `json:"partition_key"`
		Timestamp    int64    `json:"timestamp"`
	} `json:"dis"`
	Record struct {
		Key     *hexBytes `json:"key"`
		Value   *hexBytes `json:"value"`
		Headers []struct {
			Key   hexBytes  `json:"key"`
			Value *hexBytes `json:"value"`
		} `json:"headers"`
		Timestamp int64 `json:"timestamp"`
	} `json:"record"`
}

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func (h *hexBytes) bytes() []byte {
	if h == nil {
		return nil
	}
	return *h
}

func (c *formatCase) record() record.Record {
	r := record.Record{Key: c.Record.Key.bytes(), Value: c.Record.Value.bytes(), Timestamp: c.Record.Timestamp}
	for _, h := range c.Record.Headers {
		r.Headers = append(r.Headers, record.Header{Key: string(h.Key), Value: h.Value.bytes()})
	}
	return r
}

func TestFormatCases(t *testing.T) {
	files, err := filepath.Glob(formatCases)
	if err != nil || len(files) != 3 {
		t.Fatalf("files %v, error %v; want three", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []formatCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases {
			t.Run(filepath.Base(file)+"/"+c.Name, c.run)
		}
	}
}

func (c *formatCase) run(t *testing.T) {
	want := c.record()
	got := record.DecodeDIS(c.DIS.Data, c.DIS.PartitionKey, c.DIS.Timestamp)
	if diff := cmp.Diff(want, got, byBytes); diff != "" {
		t.Errorf("DecodeDIS: %s", diff)
	}
	data, key, enveloped := record.EncodeDIS(want)
	if size := policy.Size(&want); size != len(data) {
		t.Errorf("Size says %d, EncodeDIS gives %d bytes", size, len(data))
	}
	same := bytes.Equal(data, c.DIS.Data) && cmp.Equal(key, c.DIS.PartitionKey)
	switch {
	case c.Written && !same:
		t.Errorf("EncodeDIS gives %x with key %v", data, cmp.Diff(c.DIS.PartitionKey, key))
	case !c.Written && same:
		t.Error("EncodeDIS writes what only others write")
	case enveloped && !bytes.HasPrefix(data, []byte("\x00KDG\x01")):
		t.Errorf("EncodeDIS calls %x an envelope", data)
	}
}

// TestReaderInPython: the document is enough to write a reader in another
// language; this one shares nothing with the package.
func TestReaderInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("REQUIRE_CLIENTS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	files, err := filepath.Glob(formatCases)
	if err != nil {
		t.Fatal(err)
	}
	reader := filepath.Join(filepath.Dir(formatCases), "reader.py")
	if _, err := os.Stat(reader); err != nil { // a change of it is a reason to run again
		t.Fatal(err)
	}
	if out, err := exec.Command(python, append([]string{reader}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Whatever a Kafka client sends comes back from DIS as it was.
func TestRecordsSurviveDIS(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := records().Draw(rt, "record")
		data, key, enveloped := record.EncodeDIS(want)
		if size := policy.Size(&want); size != len(data) {
			rt.Fatalf("Size says %d, EncodeDIS gives %d bytes", size, len(data))
		}
		if len(data) == 0 {
			rt.Fatal("no data: DIS may refuse that")
		}
		if !enveloped && (len(want.Headers) > 0 || !bytes.Equal(data, want.Value)) {
			rt.Fatal("raw data that is not the whole record")
		}
		if got := record.DecodeDIS(data, key, want.Timestamp); !cmp.Equal(want, got, byBytes) {
			rt.Fatal(cmp.Diff(want, got, byBytes))
		}
	})
}

// A record never grows by more than MaxEnvelopeOverhead on its way from a batch.
func TestEnvelopeOverhead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := records().Draw(rt, "record")
		inBatch := len(kmsgRecord(r, 0, 0).AppendTo(nil))
		if got := policy.Size(&r); got > inBatch+record.MaxEnvelopeOverhead {
			rt.Fatalf("%d bytes in DIS, %d in the batch", got, inBatch)
		}
	})
}

func TestEnvelopeIsTold(t *testing.T) {
	envelope, _, _ := record.EncodeDIS(record.Record{Key: []byte("k")})
	damaged := append([]byte{}, envelope...)
	damaged[len(damaged)-1]++
	for _, c := range []struct {
		data           []byte
		begins, intact bool
	}{{envelope, true, true}, {damaged, true, false}, {envelope[:5], true, false}, {[]byte("value"), false, false}, {nil, false, false}} {
		if begins, intact := record.Envelope(c.data); begins != c.begins || intact != c.intact {
			t.Errorf("%q: begins %v, intact %v; want %v, %v", c.data, begins, intact, c.begins, c.intact)
		}
	}
}

func TestRawSharesTheValue(t *testing.T) {
	value := []byte("value")
	data, _, enveloped := record.EncodeDIS(record.Record{Value: value})
	if enveloped || &data[0] != &value[0] {
		t.Error("a raw value was copied")
	}
}
