package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// springKafka has Spring Kafka.
var springKafka = newJavaProject("spring-kafka")

// TestSpringKafka: an application of Spring Boot creates its topics, retry topics among
// them, writes orders and reads each once with three threads; what its listener refuses
// goes through the retry topics to the dead letter topic, and questions are answered. A
// second instance takes over a part, and then everything, without a repeat.
func TestSpringKafka(t *testing.T) {
	t.Parallel()
	client := springKafka.client(t, "spring-kafka-3.3")
	d := startDev(t, "--no-auto-create-topics")
	run := func(name string, orders, payments int) programMember {
		shop := joinProgram(t, client.java, client.commandLine("Shop",
			[]string{d.kafka, name, fmt.Sprint(orders), fmt.Sprint(payments)})...)
		waitForPrefix(t, shop.stdout, "ready", rebalancePatience)
		if got := said(shop, "answer"); !slices.Equal(got, []string{"yes-" + name}) {
			t.Errorf("answers to %s: %q", name, got)
		}
		return shop
	}
	north := run("north", 300, 3)
	want := said(north, "sent")
	waitForWords(t, "record", want, north)
	dead := []string{"north-payment-0", "north-payment-1", "north-payment-2"}
	waitForWords(t, "dead", dead, north)
	var attempts []string
	for _, topic := range []string{"payments", "payments-retry-200", "payments-retry-400"} {
		for _, payment := range dead {
			attempts = append(attempts, topic+" "+payment)
		}
	}
	waitForWords(t, "attempt", attempts, north)

	south := run("south", 300, 0)
	want = append(want, said(south, "sent")...)
	waitForWords(t, "record", want, north, south)

	north.leave()
	want = append(want, produceOrders(t, d.kafka, 100)...)
	waitForWords(t, "record", want, north, south)
	south.leave()
}

// said is what follows a word in the lines of programs.
func said(member protocolMember, word string) []string {
	var found []string
	for _, line := range member.entries() {
		if rest, ok := strings.CutPrefix(line, word+" "); ok {
			found = append(found, rest)
		}
	}
	return found
}

// waitForWords waits until the programs have written as many lines with a word as are wanted,
// and compares them. What comes twice shows, at the latest, where more are waited for.
func waitForWords(t *testing.T, word string, want []string, programs ...programMember) {
	t.Helper()
	slices.Sort(want)
	var got []string
	eventually(t, rebalancePatience, fmt.Sprintf("%d lines with %s", len(want), word), func() string {
		got = nil
		for _, program := range programs {
			got = append(got, said(program, word)...)
		}
		if len(got) < len(want) {
			return fmt.Sprintf("there are %d", len(got))
		}
		return ""
	})
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("lines with %s (-want +got):\n%s", word, diff)
	}
}

// produceOrders writes orders like those of a shop and tells where they are, in its words.
func produceOrders(t *testing.T, broker string, count int) []string {
	t.Helper()
	client := newFranz(t, broker)
	var orders []*kgo.Record
	for i := range count {
		orders = append(orders, &kgo.Record{Topic: "orders", Key: fmt.Append(nil, "customer-", i%20), Value: fmt.Append(nil, "order-", i)})
	}
	var written []string
	for _, result := range client.ProduceSync(t.Context(), orders...) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		r := result.Record
		written = append(written, fmt.Sprintf("%s %d %d %s", r.Topic, r.Partition, r.Offset, r.Value))
	}
	return written
}
