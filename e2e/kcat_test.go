package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kcat runs the program with the broker of d.
type kcat struct {
	t    testing.TB
	path string
	dev  *dev
}

func newKcat(t testing.TB, d *dev) kcat {
	t.Helper()
	return kcat{t, requireProgram(t, "kcat", "-V"), d}
}

func (k kcat) run(input string, args ...string) string {
	k.t.Helper()
	return runClient(k.t, input, k.path, append([]string{"-b", k.dev.kafka, "-q"}, args...)...)
}

func (k kcat) produce(topic, lines string, args ...string) {
	k.t.Helper()
	k.run(lines, append([]string{"-P", "-t", topic, "-K", ":"}, args...)...)
}

// consume reads topic to its end and returns the lines in the given format.
func (k kcat) consume(topic, format string, args ...string) []string {
	k.t.Helper()
	output := k.run("", append([]string{"-C", "-e", "-t", topic, "-f", format + `\n`}, args...)...)
	return splitLines(output)
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func TestKcatListsTheBrokerAndTopics(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--topic", "orders:3", "--topic", "payments:1")
	output := newKcat(t, d).run("", "-L")
	for _, want := range []string{
		"1 brokers:", "broker 1 at " + d.kafka, "2 topics:",
		`topic "orders" with 3 partitions:`, `topic "payments" with 1 partitions:`,
		"partition 2, leader 1, replicas: 1, isrs: 1",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("kcat -L shows no %q:\n%s", want, output)
		}
	}
}

// TestKcatCodecs sends many lines through every codec and compares keys,
// values and the order within each partition.
func TestKcatCodecs(t *testing.T) {
	t.Parallel()
	const count, partitions = 10_000, 4
	d := startDev(t)
	k := newKcat(t, d)
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			topic := "codec-" + codec
			createTopic(t, d.kafka, topic, partitions)
			sent := numberedLines(count)
			k := kcat{t, k.path, d}
			k.produce(topic, strings.Join(sent, "\n")+"\n", "-z", codec)
			compareKeyedLines(t, sent, k.consume(topic, `%p %o %k:%s`), partitions)
		})
	}
}

// numberedLines are distinct values under a few thousand keys, so that a batch
// compresses and every partition gets many.
func numberedLines(count int) []string {
	sent := make([]string, count)
	for i := range sent {
		sent[i] = fmt.Sprintf("key-%d:value %d of ünïcode and some text that repeats, some text that repeats", i%2500, i)
	}
	return sent
}

// compareKeyedLines checks lines "partition offset key:value": each sent line
// once, offsets counting up from 0, and lines of one key in the order sent.
func compareKeyedLines(t *testing.T, sent, received []string, partitions int) {
	t.Helper()
	var got []string
	next := make([]int, partitions)
	perKey := map[string][]string{}
	for _, line := range received {
		fields := strings.SplitN(line, " ", 3)
		partition, offset := atoi(t, fields[0]), atoi(t, fields[1])
		if offset != next[partition] {
			t.Fatalf("partition %d: offset %d where %d was due", partition, offset, next[partition])
		}
		next[partition]++
		got = append(got, fields[2])
		key, _, _ := strings.Cut(fields[2], ":")
		perKey[key] = append(perKey[key], fields[2])
	}
	if slices.Min(next) == 0 {
		t.Errorf("a partition got nothing: %v", next)
	}
	for _, line := range sent {
		key, _, _ := strings.Cut(line, ":")
		if len(perKey[key]) == 0 || perKey[key][0] != line {
			t.Fatalf("key %s: expected %q next, have %.3q", key, line, perKey[key])
		}
		perKey[key] = perKey[key][1:]
	}
	if len(got) != len(sent) {
		t.Errorf("%d lines came back of %d sent", len(got), len(sent))
	}
}

func atoi(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestKcatHeaders(t *testing.T) {
	t.Parallel()
	k := newKcat(t, startDev(t, "--topic", "t:1"))
	k.produce("t", "k:with headers\n", "-H", "trace=abc", "-H", "empty=", "-H", "null", "-H", "trace=second")
	k.produce("t", "k:without\n")
	got := k.consume("t", `%s [%h]`)
	want := []string{"with headers [trace=abc,empty=,null=NULL,trace=second]", "without []"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestKcatNullAndEmpty: a tombstone is not an empty value, a missing key is not
// an empty key. kcat prints length -1 for null.
func TestKcatNullAndEmpty(t *testing.T) {
	t.Parallel()
	k := newKcat(t, startDev(t, "--topic", "t:1"))
	k.produce("t", "empty:\n")
	k.produce("t", "null:\n", "-Z")
	k.run("no key\n", "-P", "-t", "t")
	k.produce("t", ":empty key\n")
	k.produce("t", ":null key\n", "-Z")
	got := k.consume("t", `%k(%K)=%s(%S)`)
	want := []string{"empty(5)=(0)", "null(4)=(-1)", "(-1)=no key(6)", "(0)=empty key(9)", "(-1)=null key(8)"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestKcatStartOffsets: from the end, and by time.
func TestKcatStartOffsets(t *testing.T) {
	t.Parallel()
	k := newKcat(t, startDev(t, "--topic", "t:1"))
	for round := range 3 {
		var lines strings.Builder
		for i := range 10 {
			fmt.Fprintf(&lines, "k:%d\n", round*10+i)
		}
		k.produce("t", lines.String())
		time.Sleep(20 * time.Millisecond) // distinct times for the rounds
	}
	if got, want := k.consume("t", "%s", "-o", "-5"), numbers(25, 30); !slices.Equal(got, want) {
		t.Errorf("-o -5: %v, want %v", got, want)
	}
	if got, want := k.consume("t", "%s", "-o", "12"), numbers(12, 30); !slices.Equal(got, want) {
		t.Errorf("-o 12: %v, want %v", got, want)
	}
	times := k.consume("t", "%T")
	for _, record := range []int{0, 10, 20} {
		if got, want := k.consume("t", "%s", "-o", "s@"+times[record]), numbers(record, 30); !slices.Equal(got, want) {
			t.Errorf("-o s@ the time of record %d: %v, want %v", record, got, want)
		}
	}
	between := strconv.Itoa(atoi(t, times[20]) - 1)
	if got, want := k.consume("t", "%s", "-o", "s@"+between), numbers(20, 30); !slices.Equal(got, want) {
		t.Errorf("-o s@ a ms before record 20: %v, want %v", got, want)
	}
	if got, want := k.consume("t", "%s", "-o", "s@"+times[10], "-o", "e@"+times[20]), numbers(10, 20); !slices.Equal(got, want) {
		t.Errorf("-o s@ to e@: %v, want %v", got, want)
	}
	if got := k.run("", "-Q", "-t", "t:0:"+times[10]); strings.TrimSpace(got) != "t [0] offset 10" {
		t.Errorf("-Q at the time of record 10 printed %q", got)
	}
}

func numbers(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, strconv.Itoa(i))
	}
	return all
}
