package dis

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

var compressions = []Compression{CompressionLZ4, CompressionSnappy, CompressionZstd}

// plainBodies are bodies at the edges of the compressions.
func plainBodies() map[string][]byte {
	return map[string][]byte{
		"one byte":   {7},
		"short":      []byte("hello"),
		"random":     randomData(100_000),
		"repetitive": bytes.Repeat([]byte("abcdefgh"), 100_000),
		"zeros":      make([]byte, 1<<20),
	}
}

// undo decompresses with what the request says.
func undo(packed []byte, with Compression, header http.Header) ([]byte, error) {
	return decompress(packed, with, header, 64<<20)
}

func TestCompressedBodiesOnTheWire(t *testing.T) {
	for _, compression := range compressions {
		for name, plain := range plainBodies() {
			t.Run(fmt.Sprintf("%s/%s", compression, name), func(t *testing.T) {
				client, script := play(t, func(c *Config) { c.Compression = compression }, step{status: 201})
				metadata := string(bytes.ToValidUTF8(plain, nil))
				if err := client.CommitCheckpoint(t.Context(), wire.CommitCheckpointRequest{AppName: "a", Metadata: metadata}); err != nil {
					t.Fatal(err)
				}
				checkCompressed(t, compression, script.sent[0], metadata)
			})
		}
	}
}

func checkCompressed(t *testing.T, compression Compression, sent sentRequest, metadata string) {
	t.Helper()
	for _, name := range []string{"Content-Encoding", "Accept-Encoding"} {
		if got := sent.header.Get(name); got != string(compression) {
			t.Errorf("%s: %q", name, got)
		}
	}
	plain, err := undo([]byte(sent.body), compression, sent.header)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(plain), `"app_name":"a"`) || len(plain) < len(metadata) {
		t.Errorf("%d bytes arrived: %.60q", len(plain), plain)
	}
	lengths := map[Compression]string{CompressionLZ4: "X-Dis-Lz4-Content-Length", CompressionZstd: "X-Dis-Zstd-Content-Length"}
	for of, name := range lengths {
		want := ""
		if of == compression {
			want = strconv.Itoa(len(plain))
		}
		if got := sent.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestRequestsWithoutABodyAreNotCompressed(t *testing.T) {
	client, script := play(t, func(c *Config) { c.Compression = CompressionZstd }, step{status: 200, body: "{}"})
	if err := describe(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Content-Encoding", "Accept-Encoding", "X-Dis-Zstd-Content-Length"} {
		if got := script.sent[0].header.Get(name); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A put without anything in it has no protobuf body to compress.
func TestEmptyProtobufBody(t *testing.T) {
	body, err := newBody(func(dst []byte) ([]byte, error) { return dst, nil }, CompressionLZ4)
	if body != nil || err != nil {
		t.Errorf("got %v, %v", body, err)
	}
}

// The formats are the bare ones: an LZ4 block has no frame around it, and a zstd
// body is one frame that says its length.
func TestCompressedFormats(t *testing.T) {
	plain := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	block, err := compress(nil, plain, CompressionLZ4)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(plain))
	if n, err := lz4.UncompressBlock(block, got); err != nil || n != len(plain) || !bytes.Equal(got, plain) {
		t.Errorf("lz4: %d bytes, %v", n, err)
	}
	frame, err := compress(nil, plain, CompressionZstd)
	if err != nil {
		t.Fatal(err)
	}
	var header zstd.Header
	if err := header.Decode(frame); err != nil || !header.HasFCS || header.FrameContentSize != uint64(len(plain)) {
		t.Errorf("zstd: %+v, %v", header, err)
	}
}

// The memory of a body is used again; nothing of an earlier, longer one may stay.
func TestCompressionReusesMemory(t *testing.T) {
	for _, compression := range compressions {
		memory := make([]byte, 0, 2<<20)
		for _, plain := range [][]byte{bytes.Repeat([]byte("long"), 100_000), []byte("short"), randomData(1000)} {
			packed, err := compress(memory[:0], plain, compression)
			if err != nil {
				t.Fatal(err)
			}
			header := http.Header{headerLZ4Length: {strconv.Itoa(len(plain))}}
			got, err := undo(packed, compression, header)
			if err != nil || !bytes.Equal(got, plain) {
				t.Errorf("%s: %d bytes came back as %d: %v", compression, len(plain), len(got), err)
			}
		}
	}
}

func compressedStep(t *testing.T, plain []byte, with Compression) step {
	t.Helper()
	packed, err := compress(nil, plain, with)
	if err != nil {
		t.Fatal(err)
	}
	return step{status: 200, body: string(packed), header: http.Header{
		"Content-Encoding": {string(with)}, "X-Dis-Lz4-Content-Length": {strconv.Itoa(len(plain))},
	}}
}

// DIS answers uncompressed, but the request allows otherwise.
func TestCompressedAnswers(t *testing.T) {
	plain := []byte(`{"stream_id":"` + strings.Repeat("i", 5000) + `"}`)
	for _, compression := range compressions {
		client, _ := play(t, nil, compressedStep(t, plain, compression))
		stream, err := client.DescribeStream(t.Context(), "s")
		if err != nil || len(stream.StreamID) != 5000 {
			t.Errorf("%s: %v", compression, err)
		}
	}
}

// An answer must not become larger than the limit on its way out of a compression.
func TestCompressedBombs(t *testing.T) {
	plain := []byte(`{"stream_id":"` + strings.Repeat("i", 1_000_000) + `"}`)
	for _, compression := range compressions {
		client, _ := play(t, func(c *Config) { c.MaxResponseBytes = 100_000 }, compressedStep(t, plain, compression))
		if err := describe(t.Context(), client); !errors.Is(err, ErrAnswerTooLarge) {
			t.Errorf("%s: %v", compression, err)
		}
	}
}

func TestUndecodableAnswers(t *testing.T) {
	for _, header := range []http.Header{
		{"Content-Encoding": {"gzip"}},
		{"Content-Encoding": {"snappy"}},
		{"Content-Encoding": {"zstd"}},
		{"Content-Encoding": {"lz4"}},
		{"Content-Encoding": {"lz4"}, "X-Dis-Lz4-Content-Length": {"-1"}},
		{"Content-Encoding": {"lz4"}, "X-Dis-Lz4-Content-Length": {"1000"}},
	} {
		client, _ := play(t, nil, step{status: 200, body: "\xff\xff\xff\xff nonsense", header: header})
		failure := failedWith(t, describe(t.Context(), client))
		if encoding := header.Get("Content-Encoding"); !strings.Contains(failure.Error(), `"`+encoding+`"`) || failure.NotProcessed {
			t.Errorf("%s: %v", encoding, failure)
		}
	}
}

// The status of an error counts even where its text cannot be read.
func TestUndecodableError(t *testing.T) {
	unreadable := step{status: 503, body: "nonsense", header: http.Header{"Content-Encoding": {"br"}}}
	client, script := play(t, func(c *Config) { c.Retry.Attempts, c.Retry.Initial = 2, 1 }, unreadable, unreadable)
	failure := failedWith(t, describe(t.Context(), client))
	if failure.HTTPStatus != 503 || len(script.sent) != 2 {
		t.Errorf("%d attempts: %v", len(script.sent), failure)
	}
}

func TestIdentityEncoding(t *testing.T) {
	client, _ := play(t, nil, step{status: 200, body: "{}", header: http.Header{"Content-Encoding": {"Identity"}}})
	if err := describe(t.Context(), client); err != nil {
		t.Error(err)
	}
}

func BenchmarkCompress(b *testing.B) {
	put := &wire.PutRecordsRequest{StreamName: "orders"}
	random := rand.New(rand.NewPCG(1, 2))
	for range benchRecords {
		order := fmt.Sprintf(`{"customer":%d,"article":"%x","amount":%.2f}`, random.IntN(1e5), random.Uint64(), random.Float64()*100)
		put.Records = append(put.Records, wire.PutRecord{Data: []byte(order)})
	}
	body := wire.AppendProtoPutRecordsRequest(nil, put)
	for _, compression := range compressions {
		b.Run(string(compression), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			var packed []byte
			for b.Loop() {
				var err error
				if packed, err = compress(packed[:0], body, compression); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(body))/float64(len(packed)), "ratio")
		})
	}
}
