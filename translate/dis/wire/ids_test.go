package wire

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPartitionID(t *testing.T) {
	for number, want := range map[int]string{
		0: "shardId-0000000000", 10: "shardId-0000000010", math.MaxInt32: "shardId-2147483647",
	} {
		if got := PartitionID(number); got != want {
			t.Errorf("%d: got %s, want %s", number, got, want)
		}
	}
}

func TestParsePartitionID(t *testing.T) {
	valid := map[string]int{
		"shardId-0000000003": 3, "SHARDID-3": 3, "shardid-00000000000000012": 12, "0": 0, "17": 17, "2147483647": math.MaxInt32,
	}
	for text, want := range valid {
		if got, err := ParsePartitionID(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "shardId-", "shardId-x", "-1", "+1", "shardId--1", "shardId-+1", "1.0", " 1", "2147483648", "shard-1", "0x1"} {
		if got, err := ParsePartitionID(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestSequenceRange(t *testing.T) {
	got, err := ParseSequenceRange("[289911 : 289927]")
	if want := (SequenceRange{Oldest: 289911, Next: 289927}); err != nil || got != want {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := ParseSequenceRange("[null : null]"); err != nil || got != (SequenceRange{}) {
		t.Errorf("null bounds: got %v, %v", got, err)
	}
	for _, text := range []string{"", "[]", "[0 : 1", "0 : 1]", "[0:1]", "[0 : ]", "[a : 1]", "[0 : 9223372036854775808]", "[0 : 1] "} {
		if got, err := ParseSequenceRange(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// The ranges of the API page's example of two partitions.
func TestHashRange(t *testing.T) {
	for text, want := range map[string]HashRange{
		"[0 : 4611686018427387902]":                   {0, 4611686018427387902},
		"[4611686018427387903 : 9223372036854775807]": {4611686018427387903, math.MaxInt64},
	} {
		got, err := ParseHashRange(text)
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("written as %s, want %s", got, text)
		}
	}
}

func TestIDsAndRangesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, math.MaxInt32).Draw(t, "partition")
		if got, err := ParsePartitionID(PartitionID(number)); err != nil || got != number {
			t.Fatalf("partition %d came back as %d, %v", number, got, err)
		}
		want := SequenceRange{Oldest: rapid.Int64Min(0).Draw(t, "oldest"), Next: rapid.Int64Min(0).Draw(t, "next")}
		if got, err := ParseSequenceRange(want.String()); err != nil || got != want {
			t.Fatalf("range %v came back as %v, %v", want, got, err)
		}
	})
}

func FuzzParsePartitionID(f *testing.F) {
	f.Add("shardId-0000000003")
	f.Add("SHARDID--3")
	f.Fuzz(func(t *testing.T, text string) {
		number, err := ParsePartitionID(text)
		if err == nil && number < 0 {
			t.Fatalf("%q gave %d", text, number)
		}
	})
}
