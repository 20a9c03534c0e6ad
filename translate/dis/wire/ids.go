package wire

import (
	"fmt"
	"strconv"
	"strings"
)

const partitionPrefix = "shardId-"

// PartitionID is the canonical text of a partition number: "shardId-" and at
// least ten digits. Responses must use this form; the Kafka adapter cuts the
// number out at the first zero.
func PartitionID(number int) string {
	return fmt.Sprintf("%s%010d", partitionPrefix, number)
}

// ParsePartitionID reads both forms that clients send: "shardId-0000000003"
// (prefix in any case, any number of digits) and the bare number "3".
func ParsePartitionID(id string) (int, error) {
	digits := id
	if len(id) >= len(partitionPrefix) && strings.EqualFold(id[:len(partitionPrefix)], partitionPrefix) {
		digits = id[len(partitionPrefix):]
	}
	number, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || number < 0 || digits[0] == '+' || digits[0] == '-' {
		return 0, fmt.Errorf("partition id %q is neither a number nor %s and a number", id, partitionPrefix)
	}
	return int(number), nil
}

// SequenceRange is the sequence_number_range of a partition: Oldest is the
// oldest readable sequence number, Next the number that the next record gets.
// Next-Oldest records are readable; both are equal when there is none.
type SequenceRange struct {
	Oldest int64
	Next   int64
}

// String gives the text of the API, "[289911 : 289927]".
func (r SequenceRange) String() string { return formatRange(r.Oldest, r.Next) }

// ParseSequenceRange reads the text that String writes. "null" inside the
// brackets counts as 0, as the Kafka adapter reads it.
func ParseSequenceRange(text string) (SequenceRange, error) {
	low, high, err := parseRange(text)
	if err != nil {
		return SequenceRange{}, fmt.Errorf("sequence number range %q: %w", text, err)
	}
	return SequenceRange{Oldest: low, Next: high}, nil
}

// HashRange is the slice of the key space [0, 2^63-1] that a partition serves,
// both ends included.
type HashRange struct {
	Low  int64
	High int64
}

// String gives the text of the API, "[0 : 9223372036854775807]".
func (r HashRange) String() string { return formatRange(r.Low, r.High) }

// ParseHashRange reads the text that HashRange.String writes.
func ParseHashRange(text string) (HashRange, error) {
	low, high, err := parseRange(text)
	if err != nil {
		return HashRange{}, fmt.Errorf("hash range %q: %w", text, err)
	}
	return HashRange{Low: low, High: high}, nil
}

func formatRange(low, high int64) string { return fmt.Sprintf("[%d : %d]", low, high) }

func parseRange(text string) (low, high int64, err error) {
	inner, ok := strings.CutPrefix(text, "[")
	if ok {
		inner, ok = strings.CutSuffix(inner, "]")
	}
	lowText, highText, found := strings.Cut(inner, " : ")
	if !ok || !found {
		return 0, 0, fmt.Errorf("want %q", "[low : high]")
	}
	if low, err = parseBound(lowText); err != nil {
		return 0, 0, err
	}
	high, err = parseBound(highText)
	return low, high, err
}

func parseBound(text string) (int64, error) {
	if text == "null" {
		return 0, nil
	}
	return strconv.ParseInt(text, 10, 64)
}
