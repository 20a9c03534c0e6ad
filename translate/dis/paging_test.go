package dis

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// pager serves n entries in pages as DIS does: entries behind the start, at
// most limit of them, and whether more follow.
func pager(t *testing.T, n int, startName, limitName string, entry func(i int) string, page func(entries []int, more bool) any) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		limit, err := strconv.Atoi(query.Get(limitName))
		if err != nil {
			t.Errorf("%s: %v", limitName, err)
		}
		var entries []int
		for i := range n {
			if entry(i) > query.Get(startName) {
				entries = append(entries, i)
			}
		}
		more := len(entries) > limit
		writeJSON(t, w, page(entries[:min(limit, len(entries))], more))
	}))
	t.Cleanup(server.Close)
	return dial(t, testConfig(server.URL))
}

func dial(t testing.TB, cfg Config) *Client {
	t.Helper()
	client, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func writeJSON(t testing.TB, w http.ResponseWriter, content any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(content); err != nil {
		t.Errorf("write answer: %v", err)
	}
}

func paddedName(i int) string { return "name-" + strconv.Itoa(100000+i) }

func TestListStreamsReadsAllPages(t *testing.T) {
	for _, n := range []int{0, 1, 100, 101, 250} {
		client := pager(t, n, "start_stream_name", "limit", paddedName, func(entries []int, more bool) any {
			page := wire.ListStreamsResponse{TotalNumber: int64(n), HasMoreStreams: more}
			for _, i := range entries {
				page.StreamInfoList = append(page.StreamInfoList, wire.StreamInfo{StreamName: paddedName(i)})
			}
			return page
		})
		streams, err := client.ListStreams(t.Context())
		complete(t, n, streams, err, func(i int, s wire.StreamInfo) bool { return s.StreamName == paddedName(i) })
	}
}

func TestListAppsReadsAllPages(t *testing.T) {
	for _, n := range []int{0, 100, 201} {
		client := pager(t, n, "start_app_name", "limit", paddedName, func(entries []int, more bool) any {
			page := wire.ListAppsResponse{HasMoreApp: more}
			for _, i := range entries {
				page.Apps = append(page.Apps, wire.App{AppName: paddedName(i)})
			}
			return page
		})
		apps, err := client.ListApps(t.Context(), "")
		complete(t, n, apps, err, func(i int, a wire.App) bool { return a.AppName == paddedName(i) })
	}
}

func TestDescribeStreamReadsAllPartitions(t *testing.T) {
	for _, n := range []int{1, 1000, 2500} {
		client := pager(t, n, "start_partitionId", "limit_partitions", wire.PartitionID, func(entries []int, more bool) any {
			page := wire.DescribeStreamResponse{StreamID: "id1", StreamName: "s", ReadablePartitionCount: n, HasMorePartitions: more}
			for _, i := range entries {
				page.Partitions = append(page.Partitions, wire.PartitionResponse{PartitionID: wire.PartitionID(i)})
			}
			return page
		})
		stream, err := client.DescribeStream(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if stream.StreamID != "id1" || stream.ReadablePartitionCount != n || stream.HasMorePartitions {
			t.Errorf("got %+v", stream)
		}
		complete(t, n, stream.Partitions, nil, func(i int, p wire.PartitionResponse) bool { return p.PartitionID == wire.PartitionID(i) })
	}
}

// An older page of the API reads as if the start were part of the page.
func TestConsumerStateReadsAllPages(t *testing.T) {
	for _, inclusive := range []bool{false, true} {
		for _, n := range []int{1, 100, 199, 350} {
			name := wire.PartitionID
			if inclusive { // compare with the id before, which is no state of its own
				name = func(i int) string { return wire.PartitionID(i) + "x" }
			}
			client := pager(t, n, "start_partition_id", "limit", name, func(entries []int, more bool) any {
				page := wire.ConsumerStateResponse{HasMore: more}
				for _, i := range entries {
					page.PartitionConsumingStates = append(page.PartitionConsumingStates, wire.ConsumingState{PartitionID: wire.Text(wire.PartitionID(i))})
				}
				return page
			})
			states, err := client.ConsumerState(t.Context(), "a", "s", "")
			complete(t, n, states, err, func(i int, s wire.ConsumingState) bool { return string(s.PartitionID) == wire.PartitionID(i) })
		}
	}
}

func complete[T any](t *testing.T, n int, got []T, err error, right func(int, T) bool) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != n {
		t.Fatalf("%d entries, want %d", len(got), n)
	}
	for i, entry := range got {
		if !right(i, entry) {
			t.Fatalf("entry %d is %+v", i, entry)
		}
	}
}

func TestConsumerStateWithoutCheckpoints(t *testing.T) {
	client, _ := play(t, nil, refusal(400, wire.CodeNoCheckpoint))
	states, err := client.ConsumerState(t.Context(), "a", "s", "")
	if err != nil || len(states) != 0 {
		t.Errorf("got %v, %v", states, err)
	}
}

// A page that promises more and brings nothing would be asked for for ever.
func TestPagingThatDoesNotAdvance(t *testing.T) {
	for name, call := range map[string]func(context.Context, *Client) error{
		"streams":    func(ctx context.Context, c *Client) error { _, err := c.ListStreams(ctx); return err },
		"partitions": describe,
		"apps":       func(ctx context.Context, c *Client) error { _, err := c.ListApps(ctx, ""); return err },
		"states":     func(ctx context.Context, c *Client) error { _, err := c.ConsumerState(ctx, "a", "s", ""); return err },
	} {
		more := `{"has_more":true,"has_more_app":true,"has_more_streams":true,"has_more_partitions":true}`
		client, _ := play(t, nil, step{status: 200, body: more})
		if err := call(t.Context(), client); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPagingStopsAtAFailure(t *testing.T) {
	first := `{"has_more_streams":true,"stream_info_list":[{"stream_name":"a"}]}`
	client, script := play(t, nil, step{status: 200, body: first}, refusal(403, "DIS.4116"))
	streams, err := client.ListStreams(t.Context())
	if !HasCode(err, "DIS.4116") || streams != nil {
		t.Errorf("got %v, %v", streams, err)
	}
	uris := []string{script.sent[0].uri, script.sent[1].uri}
	if want := []string{"/v2/p1/streams?limit=100", "/v2/p1/streams?limit=100&start_stream_name=a"}; !slices.Equal(uris, want) {
		t.Errorf("asked for %v, want %v", uris, want)
	}
}
