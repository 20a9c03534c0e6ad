package dis

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func serve(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

func TestHeaders(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for name, want := range map[string]string{
			"Content-Type": "application/json; charset=utf-8", "Accept": "application/json", "User-Agent": "test/1",
			"X-Project-Id": "p1", "X-Security-Token": "", "Accept-Encoding": "",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
	cfg := testConfig(server.URL)
	cfg.UserAgent = "test/1"
	client := dial(t, cfg)
	for _, call := range []func(context.Context, *Client) error{deleteStream, commit} {
		if err := call(t.Context(), client); err != nil {
			t.Error(err)
		}
	}
}

// Opening connections under load costs more than the calls, so none may be
// closed while calls go on, whatever they answer.
func TestConnectionsAreReused(t *testing.T) {
	const workers, calls = 8, 40
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch r.URL.Path {
		case "/v2/p1/records": // chunked, longer than any buffer on the way
			_, _ = io.WriteString(w, `{"next_partition_cursor":"`+strings.Repeat("c", 20_000)+`"}`)
		case "/v2/p1/streams/s":
			http.Error(w, `{"errorCode":"DIS.4301","message":"Stream does not exist."}`, http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusCreated)
		}
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	cfg := testConfig(server.URL)
	cfg.MaxConnections = workers
	client := dial(t, cfg)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range calls {
				if _, err := client.GetRecords(t.Context(), GetRecordsRequest{Cursor: "c"}); err != nil {
					t.Error(err)
				}
				if err := describe(t.Context(), client); !HasCode(err, wire.CodeStreamNotFound) {
					t.Error(err)
				}
				if err := commit(t.Context(), client); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := opened.Load(); got > workers {
		t.Errorf("%d connections for %d workers", got, workers)
	}
}

func TestCancelOverASocket(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"records":[`)
		w.(http.Flusher).Flush()
		arrived <- struct{}{}
		<-release
	})
	defer close(release)
	client := dial(t, testConfig(server.URL))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	err := put(ctx, client)
	if !errors.Is(err, context.Canceled) || failedWith(t, err).NotProcessed {
		t.Errorf("got %v", err)
	}
}

// A dial that fails is the one network failure of which a producer may be sure.
func TestNothingListens(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client := dial(t, testConfig(server.URL))
	failure := failedWith(t, put(t.Context(), client))
	if !failure.NotProcessed || failure.HTTPStatus != 0 || !strings.HasPrefix(failure.Error(), "DIS PutRecords: not sent: dial tcp") {
		t.Errorf("got %v", failure)
	}
}

func TestLostAnswerOverASocket(t *testing.T) {
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})
	client := dial(t, testConfig(server.URL))
	failure := failedWith(t, put(t.Context(), client))
	if failure.NotProcessed || failure.HTTPStatus != 0 || !strings.HasPrefix(failure.Error(), "DIS PutRecords: no answer: ") {
		t.Errorf("got %v", failure)
	}
}

// A server that keeps alive for a shorter time than the client closes
// connections that the client holds for good.
func TestConnectionsClosedByTheServer(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
	})
	client := dial(t, testConfig(server.URL))
	for range 20 {
		if err := commit(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		server.CloseClientConnections()
	}
}

func TestCAFile(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshake is wanted
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	content := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(server.URL)
	if err := deleteStream(t.Context(), dial(t, cfg)); err == nil || !failedWith(t, err).NotProcessed {
		t.Errorf("without the CA: %v", err)
	}
	cfg.CAFile = file
	if err := deleteStream(t.Context(), dial(t, cfg)); err != nil {
		t.Errorf("with the CA: %v", err)
	}
}

// Many calls at once with bodies of their own: pooled memory must not leak from
// one call into another.
func TestBodiesDoNotMix(t *testing.T) {
	for _, form := range []RecordBody{RecordBodyJSON, RecordBodyProtobuf} {
		for _, compression := range []Compression{CompressionNone, CompressionLZ4, CompressionSnappy, CompressionZstd} {
			t.Run(string(form)+"/"+string(compression), func(t *testing.T) {
				server := serve(t, func(w http.ResponseWriter, r *http.Request) {
					content, err := io.ReadAll(r.Body)
					if err != nil {
						return // the client gave up
					}
					answerByName(t, w, r, content)
				})
				cfg := testConfig(server.URL)
				cfg.RecordBody, cfg.Compression = form, compression
				putByName(t, dial(t, cfg))
			})
		}
	}
}

// putByName puts records that hold nothing but the name of their stream, from
// several goroutines, some of which give up in between.
func putByName(t *testing.T, client *Client) {
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			name := string(rune('a' + worker))
			for call := range 20 {
				request := &wire.PutRecordsRequest{StreamName: name}
				for range 1 + call%7 {
					request.Records = append(request.Records, wire.PutRecord{Data: []byte(strings.Repeat(name, 1000*(1+call%5)))})
				}
				ctx, cancel := context.WithCancel(t.Context())
				if call%5 == 4 {
					go cancel() // somewhere in the middle
				}
				response, err := client.PutRecords(ctx, request)
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				if err == nil && response.Records[0].PartitionID != name {
					t.Errorf("answer for %s went to %s", response.Records[0].PartitionID, name)
				}
				cancel()
			}
		})
	}
	group.Wait()
}

// appendJSON appends a value in JSON, as a server answers it.
func appendJSON[T any](dst []byte, value *T) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return append(dst, text...)
}

// answerByName checks the records and answers with the stream's name.
func answerByName(t *testing.T, w http.ResponseWriter, r *http.Request, content []byte) {
	decode, encode := wire.DecodePutRecordsRequest, appendJSON[wire.PutRecordsResponse]
	if r.Header.Get("Content-Type") == protobufType {
		decode, encode = wire.DecodeProtoPutRecordsRequest, wire.AppendProtoPutRecordsResponse
	}
	plain, err := decompressed(content, r.Header, 1<<20)
	if err != nil {
		t.Errorf("body of %d bytes: %v", len(content), err)
		return
	}
	put, err := decode(plain)
	if err != nil {
		t.Errorf("body of %d bytes: %v", len(plain), err)
		return
	}
	results := new(wire.PutRecordsResponse)
	for _, record := range put.Records {
		if strings.Trim(string(record.Data), put.StreamName) != "" {
			t.Errorf("stream %s got %.20q", put.StreamName, record.Data)
		}
		results.Records = append(results.Records, wire.PutResult{PartitionID: put.StreamName, SequenceNumber: "1"})
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	_, _ = w.Write(encode(nil, results)) // the client may have given up
}
