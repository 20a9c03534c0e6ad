package wire

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLimitsOf(t *testing.T) {
	common := Limits{
		RecordBytes: 1 << 20, RequestBytes: 1 << 20, RequestRecords: 1000,
		WriteBytes: 1 << 20, WriteRecords: 1000, ReadBytes: 2 << 20, ProjectPartitions: 50,
	}
	advanced := Limits{
		RecordBytes: 1 << 20, RequestBytes: 5 << 20, RequestRecords: 1000,
		WriteBytes: 5 << 20, WriteRecords: 2000, ReadBytes: 10 << 20, ProjectPartitions: 10,
	}
	for kind, want := range map[StreamType]Limits{StreamCommon: common, "": common, "NEW": common, StreamAdvanced: advanced} {
		if got := LimitsOf(kind); got != want {
			t.Errorf("%q: got %+v, want %+v", kind, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	limits := Limits{RequestBytes: 10, RequestRecords: 3}
	tests := []struct {
		name  string
		sizes []int
		want  []int // records per piece
	}{
		{"none", nil, nil},
		{"one", []int{4}, []int{1}},
		{"empty data", []int{0, 0, 0, 0}, []int{3, 1}},
		{"just fits", []int{5, 5}, []int{2}},
		{"one byte too many", []int{5, 6}, []int{1, 1}},
		{"too many records", []int{1, 1, 1, 1, 1, 1, 1}, []int{3, 3, 1}},
		{"too large by itself", []int{2, 11, 2, 2}, []int{1, 1, 2}},
		{"too large first and last", []int{11, 1, 12}, []int{1, 1, 1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for piece := range limits.Split(recordsOf(test.sizes)) {
				got = append(got, len(piece))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func recordsOf(sizes []int) []PutRecord {
	records := make([]PutRecord, len(sizes))
	for i, size := range sizes {
		records[i].Data = make([]byte, size)
	}
	return records
}

// Every record is in one piece, in its place; a piece keeps the limits and
// could not have taken the record that begins the next one.
func TestSplitProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{
			RequestBytes: rapid.IntRange(1, 30).Draw(t, "bytes"), RequestRecords: rapid.IntRange(1, 5).Draw(t, "records"),
		}
		records := recordsOf(rapid.SliceOfN(rapid.IntRange(0, 35), 0, 20).Draw(t, "sizes"))
		next := 0
		for piece := range limits.Split(records) {
			if len(piece) == 0 || &piece[0] != &records[next] || len(piece) > limits.RequestRecords {
				t.Fatalf("piece of %d records at %d", len(piece), next)
			}
			next += len(piece)
			size := sizeOf(piece)
			if size > limits.RequestBytes && len(piece) > 1 {
				t.Fatalf("%d bytes in %d records", size, len(piece))
			}
			if next < len(records) && len(piece) < limits.RequestRecords && size+len(records[next].Data) <= limits.RequestBytes {
				t.Fatalf("record %d would have fitted", next)
			}
		}
		if next != len(records) {
			t.Fatalf("%d of %d records", next, len(records))
		}
	})
}

func sizeOf(records []PutRecord) (bytes int) {
	for _, r := range records {
		bytes += len(r.Data)
	}
	return bytes
}

// A caller that has seen enough stops the split.
func TestSplitStops(t *testing.T) {
	for range (Limits{RequestBytes: 1, RequestRecords: 1}).Split(make([]PutRecord, 3)) {
		break
	}
}
