package e2e

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

var recordCaptures = flag.Bool("record-captures", false, "record what the clients send and write it to testdata/captures/produce")

// captureFile holds what one client sent. The codec's tests read these files.
type captureFile struct {
	Client   string    `json:"client"`
	Captures []capture `json:"captures"`
}

// capture is the Produce requests of one run, and the records they must hold.
type capture struct {
	Name    string           `json:"name"`
	Version int16            `json:"version"`
	Frames  []string         `json:"frames"` // hexadecimal, without the length in front
	Records []capturedRecord `json:"records"`
}

type capturedRecord struct {
	Key       *string          `json:"key"` // null is null
	Value     *string          `json:"value"`
	Headers   []capturedHeader `json:"headers,omitempty"`
	Timestamp int64            `json:"timestamp,omitempty"` // 0: the client's clock, -1: none
}

type capturedHeader struct {
	Key   string  `json:"key"`
	Value *string `json:"value"`
}

// The records that every client sends, as far as it can.
func capturedRecords() []capturedRecord {
	text := func(s string) *string { return &s }
	return []capturedRecord{
		{Key: text("user-1"), Value: text(strings.Repeat("a value that repeats, ", 12))},
		{Value: text("no key")},
		{Key: text("user-2")},
	}
}

func capturedHeaders() []capturedHeader {
	text := func(s string) *string { return &s }
	return []capturedHeader{{"trace", text("abc")}, {"trace", nil}, {"", text("")}}
}

// TestRecordCaptures records anew what real clients put into Produce requests:
//
//	go test ./e2e -run RecordCaptures -record-captures
func TestRecordCaptures(t *testing.T) {
	if !*recordCaptures {
		t.Skip("records only with -record-captures")
	}
	proxy := newRecorder(t)
	d := startDevOn(t, "127.0.0.1:0,advertise="+proxy.address(), t.TempDir(), "--topic", "captured:1")
	proxy.forwardTo(d.kafka)
	for _, client := range capturedClients(t, proxy.address()) {
		file := captureFile{Client: client.name}
		for _, run := range client.runs {
			frames, version := proxy.during(run.produce)
			if len(frames) == 0 {
				t.Fatalf("%s, %s: nothing was produced", client.name, run.name)
			}
			file.Captures = append(file.Captures, capture{run.name, version, frames, run.records})
		}
		raw, err := json.MarshalIndent(file, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("../testdata/captures/produce", client.file)
		if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// recorder is a proxy in front of the gateway that keeps the Produce requests.
type recorder struct {
	t        *testing.T
	listener net.Listener

	mu      sync.Mutex
	frames  []string
	version int16
}

func newRecorder(t *testing.T) *recorder {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return &recorder{t: t, listener: listener}
}

func (r *recorder) address() string { return r.listener.Addr().String() }

func (r *recorder) forwardTo(address string) {
	go func() {
		for {
			client, err := r.listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				r.t.Errorf("recorder: %v", err)
				return
			}
			go func() {
				defer client.Close()
				_, _ = io.Copy(client, server)
			}()
			go r.requests(client, server)
		}
	}()
}

func (r *recorder) requests(client, server net.Conn) {
	defer server.Close()
	for {
		length := make([]byte, 4)
		if _, err := io.ReadFull(client, length); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(length))
		if _, err := io.ReadFull(client, frame); err != nil {
			return
		}
		if key := binary.BigEndian.Uint16(frame); key == 0 {
			r.mu.Lock()
			r.frames = append(r.frames, hex.EncodeToString(frame))
			r.version = int16(binary.BigEndian.Uint16(frame[2:]))
			r.mu.Unlock()
		}
		if _, err := server.Write(append(length, frame...)); err != nil {
			return
		}
	}
}

func (r *recorder) during(produce func()) (frames []string, version int16) {
	r.mu.Lock()
	r.frames = nil
	r.mu.Unlock()
	produce()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.frames, r.version
}

type capturedClient struct {
	name, file string
	runs       []capturedRun
}

type capturedRun struct {
	name    string
	produce func()
	records []capturedRecord
}

func capturedClients(t *testing.T, broker string) []capturedClient {
	ctx := t.Context()
	return []capturedClient{
		kcatCaptures(t, broker),
		confluentCaptures(t, broker),
		saramaCaptures(t, broker),
		kafkaGoCaptures(ctx, t, broker),
		franzCaptures(ctx, t, broker),
	}
}

// kcatCaptures are runs of today's protocol and, by librdkafka's fallback
// settings, of those of old brokers.
func kcatCaptures(t *testing.T, broker string) capturedClient {
	kcat := requireProgram(t, "kcat", "-V")
	version := kcatVersion.FindStringSubmatch(runClient(t, "", kcat, "-V"))
	client := capturedClient{name: fmt.Sprintf("kcat %s, librdkafka %s", version[1], version[2]), file: "kcat.json"}
	for _, old := range []string{"", "0.8.2", "0.9.0"} {
		for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
			if old != "" && codec == "zstd" {
				continue
			}
			run := capturedRun{name: "broker " + old + ", " + codec, records: capturedRecords()}
			args := []string{"-b", broker, "-P", "-t", "captured", "-p", "0", "-K", "\t", "-Z", "-z", codec, "-X", "linger.ms=300"}
			if old == "" {
				run.name = codec
				args = append(args, "-H", "trace=abc", "-H", "trace")
				for i := range run.records {
					run.records[i].Headers = capturedHeaders()[:2] // a header needs a name here
				}
			} else {
				run.timestamps(-1)
				args = append(args, "-X", "api.version.request=false", "-X", "broker.version.fallback="+old)
			}
			input := fmt.Sprintf("user-1\t%s\nno key\nuser-2\t\n", *run.records[0].Value)
			run.produce = func() { runClient(t, input, kcat, args...) }
			client.runs = append(client.runs, run)
		}
	}
	return client
}

func (r *capturedRun) timestamps(ms int64) {
	for i := range r.records {
		r.records[i].Timestamp = ms
	}
}

const capturedTime = 1_700_000_000_123

// confluentScript sends the records in one batch.
const confluentScript = `
import sys
from confluent_kafka import Producer
broker, codec, value = sys.argv[1:]
p = Producer({"bootstrap.servers": broker, "compression.type": codec, "linger.ms": 300, "enable.idempotence": True})
headers = [("trace", b"abc"), ("trace", None), ("", b"")]
for key, value in (("user-1", value), (None, "no key"), ("user-2", None)):
    p.produce("captured", key=key, value=value, headers=headers, partition=0, timestamp=1700000000123)
sys.exit(p.flush(30))
`

func confluentCaptures(t *testing.T, broker string) capturedClient {
	python := requireProgram(t, python3, "-c", "import confluent_kafka")
	version := runClient(t, "", python, "-c", "import confluent_kafka as c; print('confluent-kafka-python %s, librdkafka %s' % (c.version()[0], c.libversion()[0]))")
	client := capturedClient{name: strings.TrimSpace(version), file: "confluent-kafka-python.json"}
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		run := capturedRun{name: codec + ", idempotent", records: capturedRecords()}
		run.timestamps(capturedTime)
		for i := range run.records {
			run.records[i].Headers = capturedHeaders()
		}
		run.produce = func() { runClient(t, "", python, "-c", confluentScript, broker, codec, *run.records[0].Value) }
		client.runs = append(client.runs, run)
	}
	return client
}

var kcatVersion = regexp.MustCompile(`Version (\S+).*librdkafka (\S+)`)

func moduleVersion(t *testing.T, path string) string {
	return strings.TrimSpace(runClient(t, "", "go", "list", "-m", "-f", "{{.Path}} {{.Version}}", path))
}

func saramaCaptures(t *testing.T, broker string) capturedClient {
	client := capturedClient{name: moduleVersion(t, "github.com/IBM/sarama"), file: "sarama.json"}
	for _, version := range []sarama.KafkaVersion{sarama.V0_8_2_0, sarama.V0_9_0_0, sarama.V0_10_0_0, sarama.V0_11_0_0, sarama.V2_1_0_0} {
		for codec := sarama.CompressionNone; codec <= sarama.CompressionZSTD; codec++ {
			config := sarama.NewConfig()
			config.Version = version
			config.Producer.Return.Successes = true
			config.Producer.Compression = codec
			config.Producer.Flush.Messages, config.Producer.Flush.Frequency = 3, time.Second
			if config.Validate() != nil { // the version has no such codec
				continue
			}
			run := capturedRun{name: fmt.Sprintf("broker %s, %s", version, codec), records: capturedRecords()}
			run.timestamps(capturedTime)
			if !version.IsAtLeast(sarama.V0_10_0_0) {
				run.timestamps(-1)
			}
			headers := version.IsAtLeast(sarama.V0_11_0_0)
			for i := range run.records {
				if headers {
					run.records[i].Headers = capturedHeaders()
				}
			}
			run.produce = func() { saramaSends(t, broker, config, run.records) }
			client.runs = append(client.runs, run)
		}
	}
	return client
}

func saramaSends(t *testing.T, broker string, config *sarama.Config, records []capturedRecord) {
	producer, err := sarama.NewSyncProducer([]string{broker}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer closeClient(t, producer)
	var batch []*sarama.ProducerMessage
	for _, r := range records {
		m := &sarama.ProducerMessage{Topic: "captured", Timestamp: time.UnixMilli(capturedTime)}
		if r.Key != nil {
			m.Key = sarama.StringEncoder(*r.Key)
		}
		if r.Value != nil {
			m.Value = sarama.StringEncoder(*r.Value)
		}
		for _, h := range r.Headers {
			m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte(h.Key), Value: orNil(h.Value)})
		}
		batch = append(batch, m)
	}
	if err := producer.SendMessages(batch); err != nil {
		t.Fatal(err)
	}
}

func orNil(text *string) []byte {
	if text == nil {
		return nil
	}
	return append([]byte{}, *text...)
}

func kafkaGoCaptures(ctx context.Context, t *testing.T, broker string) capturedClient {
	client := capturedClient{name: moduleVersion(t, "github.com/segmentio/kafka-go"), file: "kafka-go.json"}
	for _, codec := range []kafka.Compression{0, kafka.Gzip, kafka.Snappy, kafka.Lz4, kafka.Zstd} {
		run := capturedRun{name: codec.String(), records: capturedRecords()}
		run.timestamps(capturedTime)
		writer := &kafka.Writer{Addr: kafka.TCP(broker), Topic: "captured", BatchSize: 3, RequiredAcks: kafka.RequireAll, Compression: codec}
		var batch []kafka.Message
		for i := range run.records {
			r := &run.records[i]
			r.Headers = capturedHeaders()
			m := kafka.Message{Key: orNil(r.Key), Value: orNil(r.Value), Time: time.UnixMilli(capturedTime)}
			for _, h := range r.Headers {
				m.Headers = append(m.Headers, kafka.Header{Key: h.Key, Value: orNil(h.Value)})
			}
			batch = append(batch, m)
		}
		run.produce = func() {
			defer closeClient(t, writer)
			if err := writer.WriteMessages(ctx, batch...); err != nil {
				t.Fatal(err)
			}
		}
		client.runs = append(client.runs, run)
	}
	return client
}

func franzCaptures(ctx context.Context, t *testing.T, broker string) capturedClient {
	client := capturedClient{name: moduleVersion(t, "github.com/twmb/franz-go"), file: "franz-go.json"}
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	for _, name := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		run := capturedRun{name: name + ", idempotent", records: capturedRecords()}
		run.timestamps(capturedTime)
		var batch []*kgo.Record
		for i := range run.records {
			r := &run.records[i]
			r.Headers = capturedHeaders()
			record := &kgo.Record{Topic: "captured", Key: orNil(r.Key), Value: orNil(r.Value), Timestamp: time.UnixMilli(capturedTime)}
			for _, h := range r.Headers {
				record.Headers = append(record.Headers, kgo.RecordHeader{Key: h.Key, Value: orNil(h.Value)})
			}
			batch = append(batch, record)
		}
		run.produce = func() {
			client := newFranz(t, broker, kgo.ProducerBatchCompression(codecs[name]), kgo.ProducerLinger(300*time.Millisecond))
			if err := client.ProduceSync(ctx, batch...).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		client.runs = append(client.runs, run)
	}
	return client
}
