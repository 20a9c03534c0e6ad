package dis

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// BenchmarkDescribeStream is the call that the gateway makes most where nothing
// happens, of a stream with 10 partitions: what the client itself does, with a
// transport that answers at once, and the whole call over a socket, with what the
// server allocates.
func BenchmarkDescribeStream(b *testing.B) {
	stream := &wire.DescribeStreamResponse{StreamID: "stream-1", StreamName: "orders", Status: wire.StreamRunning}
	for i := range 10 {
		sequences := wire.SequenceRange{Oldest: 4_000_000, Next: 5_000_000}.String()
		stream.Partitions = append(stream.Partitions, wire.PartitionResponse{
			Status: wire.PartitionActive, PartitionID: wire.PartitionID(i), HashRange: "[0 : 9223372036854775807]", SequenceNumberRange: &sequences,
		})
	}
	answer := appendJSON(nil, stream)
	describe := func(b *testing.B, client *Client) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := client.DescribeStream(b.Context(), "orders"); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("client alone", func(b *testing.B) {
		cfg, err := testConfig("http://dis.test").checked()
		if err != nil {
			b.Fatal(err)
		}
		describe(b, newClient(cfg, answering(answer)))
	})
	b.Run("over a socket", func(b *testing.B) {
		server := serve(b, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			_, _ = w.Write(answer)
		})
		describe(b, dial(b, testConfig(server.URL)))
	})
}

// answering is a transport that answers every request with the same body.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode:    http.StatusOK,
		Header:        http.Header{headerContentType: {"application/json; charset=utf-8"}, headerAnswerDate: {"Tue, 02 Jan 2024 03:04:05 GMT"}},
		ContentLength: int64(len(a)), Body: io.NopCloser(bytes.NewReader(a)), Request: r,
	}, nil
}
