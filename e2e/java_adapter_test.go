package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// javaApplication is an application with a Java Kafka API, either the DIS Kafka
// adapter against DIS or Kafka's own client against the gateway: a new process
// for every step.
type javaApplication struct{ javaClient }

func newAdapter(t testing.TB, disURL string) javaApplication {
	return javaApplication{javaDIS.client(t, "adapter", "--endpoint", disURL)}
}

func newJavaKafka(t testing.TB, broker string) javaApplication {
	return javaApplication{javaDIS.client(t, "kafka", "--bootstrap", broker)}
}

func (a javaApplication) produce(t *testing.T, topic string, sent []message) {
	t.Helper()
	var input strings.Builder
	for _, m := range sent {
		fmt.Fprintf(&input, "%s\t%s\n", m.key, m.value)
	}
	acknowledged := 0
	for _, words := range a.run(t, input.String(), "Produce", "--topic", topic) {
		if words[0] == "sent" {
			acknowledged++
		}
	}
	if acknowledged != len(sent) {
		t.Fatalf("%d of %d messages were acknowledged", acknowledged, len(sent))
	}
}

func (a javaApplication) consume(t *testing.T, mode, group, topic string, count int) []message {
	t.Helper()
	return javaMessages(t, a.run(t, "", "Consume", "--mode", mode, "--group", group, "--topic", topic, "--count", strconv.Itoa(count)))
}

// javaMessages reads the records among the printed lines.
func javaMessages(t testing.TB, printed [][]string) []message {
	t.Helper()
	var received []message
	for _, words := range printed {
		if words[0] != "record" {
			continue
		}
		partition, err := strconv.Atoi(words[2])
		if err != nil {
			t.Fatal(err)
		}
		offset, err := strconv.ParseInt(words[3], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		received = append(received, message{words[1], partition, offset, words[4], words[5]})
	}
	return received
}

func (a javaApplication) subscribe(t *testing.T, group, topic string, count int) []message {
	return a.consume(t, "subscribe", group, topic, count)
}

func (a javaApplication) pattern(t *testing.T, group, pattern string, count int) []message {
	return a.consume(t, "pattern", group, pattern, count)
}

func (a javaApplication) assign(t *testing.T, topic string, _, count int) []message {
	return a.consume(t, "assign", "assign", topic, count)
}

// TestDISKafkaAdapter: what every Kafka client does through the gateway, the
// adapter does with DIS; and what it commits, the gateway's users see.
func TestDISKafkaAdapter(t *testing.T) {
	t.Parallel()
	d := startDev(t)
	testClient(t, d.kafka, newAdapter(t, d.dis))
}

// TestJavaKafkaClient is Kafka's own client, through the gateway.
func TestJavaKafkaClient(t *testing.T) {
	t.Parallel()
	d := startDev(t)
	testClient(t, d.kafka, newJavaKafka(t, d.kafka))
}

// adapterMember is a consumer of the adapter that runs until it is stopped.
type adapterMember struct{ *process }

func (a javaApplication) join(t testing.TB, mode, group, topic string, options ...string) adapterMember {
	options = append([]string{"--mode", mode, "--group", group, "--topic", topic}, options...)
	return adapterMember{a.start(t, "Consume", options...)}
}

// assignedPartitions are those of the last line about partitions; not stable once
// they were revoked.
func assignedPartitions(printed []string) (partitions []string, stable bool) {
	for _, line := range printed {
		words := strings.Split(line, "\t")
		switch words[0] {
		case "assigned":
			partitions, stable = strings.Fields(words[1]), true
		case "revoked":
			stable = false
		}
	}
	return partitions, stable
}

// waitForPartitions waits until the members share the partitions evenly.
func waitForPartitions(t *testing.T, want []string, members ...adapterMember) {
	t.Helper()
	for {
		var all []string
		even := true
		changes := make([]<-chan struct{}, len(members))
		for i, m := range members {
			changes[i] = m.stdout.change()
			partitions, stable := assignedPartitions(m.stdout.all())
			even = even && stable && len(partitions) == len(want)/len(members)
			all = append(all, partitions...)
		}
		if slices.Sort(all); even && slices.Equal(all, want) {
			return
		}
		waitForAny(t, changes, members)
	}
}

// waitForAny waits until one of at most two members prints something.
func waitForAny(t *testing.T, changes []<-chan struct{}, members []adapterMember) {
	t.Helper()
	select {
	case <-changes[0]:
	case <-changes[len(changes)-1]:
	case <-time.After(clientTimeout):
		for _, m := range members {
			t.Logf("a member printed:\n%s", tail(m.stdout.String(), 4000))
		}
		t.Fatal("the members stay as they are")
	}
}

// waitForMessages waits until the members have printed that many records.
func waitForMessages(t *testing.T, count int, members ...adapterMember) []message {
	t.Helper()
	for {
		changes := make([]<-chan struct{}, len(members))
		var received []message
		for i, m := range members {
			changes[i] = m.stdout.change()
			received = append(received, m.messages(t)...)
		}
		if len(received) >= count {
			return received
		}
		waitForAny(t, changes, members)
	}
}

func (m adapterMember) messages(t testing.TB) []message {
	t.Helper()
	var printed [][]string
	for _, line := range m.stdout.all() {
		printed = append(printed, strings.Split(line, "\t"))
	}
	return javaMessages(t, printed)
}

// byOffset brings the records of several members into an order that can be checked.
func byOffset(received []message) []message {
	slices.SortFunc(received, func(a, b message) int { return int(a.offset - b.offset) })
	return received
}

// adapterGroup is a group of two members.
type adapterGroup struct {
	mode, stream, topic string
	partitions          []string
	first, second       adapterMember
}

// TestDISKafkaAdapterGroup: two members share the partitions, and one takes over
// when the other leaves; every record is read once. The two modes run side by
// side: most of the time the members wait for their next heartbeat.
func TestDISKafkaAdapterGroup(t *testing.T) {
	t.Parallel()
	url := startEmbeddedDIS(t)
	adapter := newAdapter(t, url)
	client := newDISClient(t, &dev{dis: url})
	groups := []*adapterGroup{
		{mode: "subscribe", stream: "by-name", topic: "by-name"},
		{mode: "pattern", stream: "matched", topic: "mat.*d"},
	}
	for _, g := range groups {
		createStream(t, client, g.stream, 4)
		for p := range 4 {
			g.partitions = append(g.partitions, fmt.Sprintf("%s-%d", g.stream, p))
		}
		g.first = adapter.join(t, g.mode, "group-"+g.mode, g.topic)
	}
	for _, g := range groups {
		waitForPartitions(t, g.partitions, g.first)
		g.second = adapter.join(t, g.mode, "group-"+g.mode, g.topic)
	}
	sent := keyedMessages(400)
	for _, g := range groups {
		waitForPartitions(t, g.partitions, g.first, g.second)
		adapter.produce(t, g.stream, sent[:200])
		waitForMessages(t, 200, g.first, g.second)
		if len(g.first.messages(t)) == 0 || len(g.second.messages(t)) == 0 {
			t.Errorf("%s: one member got nothing", g.mode)
		}
	}
	for _, g := range groups {
		g.second.signal(syscall.SIGTERM)
		<-g.second.ended
		adapter.produce(t, g.stream, sent[200:])
	}
	for _, g := range groups {
		waitForPartitions(t, g.partitions, g.first)
		checkMessages(t, sent, byOffset(waitForMessages(t, 400, g.first, g.second)))
	}
}

func createStream(t *testing.T, client *dis.Client, name string, partitions int) {
	t.Helper()
	if err := client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: name, PartitionCount: partitions}); err != nil {
		t.Fatal(err)
	}
}

// TestDISKafkaAdapterScaleUp: partitions that appear while a group reads from
// the end of the stream are read from their beginning.
func TestDISKafkaAdapterScaleUp(t *testing.T) {
	t.Parallel()
	url := startEmbeddedDIS(t)
	client := newDISClient(t, &dev{dis: url})
	createStream(t, client, "growing", 1)
	put := func(partition int, value string) {
		t.Helper()
		answer, err := client.PutRecords(t.Context(), &wire.PutRecordsRequest{StreamName: "growing", Records: []wire.PutRecord{
			{PartitionID: wire.Text(strconv.Itoa(partition)), Data: []byte(value)},
		}})
		if err != nil || answer.FailedRecordCount != 0 {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	put(0, "before the group")
	member := newAdapter(t, url).join(t, "subscribe", "group", "growing", "--reset", "latest")
	waitForPartitions(t, []string{"growing-0"}, member)

	if _, err := client.ChangePartitionCount(t.Context(), "growing", 3); err != nil {
		t.Fatal(err)
	}
	put(1, "first of 1")
	put(2, "first of 2")
	put(1, "second of 1")
	waitForPartitions(t, []string{"growing-0", "growing-1", "growing-2"}, member)
	var values []string
	for _, m := range waitForMessages(t, 3, member) {
		values = append(values, m.value)
	}
	slices.Sort(values)
	if want := []string{"first of 1", "first of 2", "second of 1"}; !slices.Equal(values, want) {
		t.Errorf("got %q, want %q", values, want)
	}
}
