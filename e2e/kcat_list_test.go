package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// listed is what kcat -L must print of topics, each with its lines.
func listed(broker, asked string, topics ...string) string {
	head := fmt.Sprintf("Metadata for %s (from broker 1: %s/1):\n 1 brokers:\n  broker 1 at %s (controller)\n %d topics:\n",
		asked, broker, broker, len(topics))
	return head + strings.Join(topics, "")
}

func listedTopic(name string, partitions int) string {
	text := fmt.Sprintf("  topic %q with %d partitions:\n", name, partitions)
	for p := range partitions {
		text += fmt.Sprintf("    partition %d, leader 1, replicas: 1, isrs: 1\n", p)
	}
	return text
}

// TestKcatListsDetailsAndErrors: all that kcat -L prints, of one topic and of several,
// as JSON, and of topics that are not there or never can be. A topic that has grown in
// DIS itself is shown so.
func TestKcatListsDetailsAndErrors(t *testing.T) {
	t.Parallel()
	d := startDev(t, "--no-auto-create-topics", "--topic", "scaled0:2")
	k := newKcat(t, d)
	wantListed := func(want string, args ...string) {
		t.Helper()
		if got := k.run("", append([]string{"-L"}, args...)...); got != want {
			t.Errorf("kcat -L %s printed\n%swant\n%s", strings.Join(args, " "), got, want)
		}
	}
	wantListed(listed(d.kafka, "all topics", listedTopic("scaled0", 2)))
	wantListed(listed(d.kafka, "scaled0", listedTopic("scaled0", 2)), "-t", "scaled0")
	wantListed(listed(d.kafka, "nowhere", "  topic \"nowhere\" with 0 partitions: Broker: Unknown topic or partition\n"), "-t", "nowhere")
	wantListed(listed(d.kafka, "no.stream", "  topic \"no.stream\" with 0 partitions: Broker: Invalid topic\n"), "-t", "no.stream")

	scale(t, newDISClient(t, d), 4)
	eventually(t, clientTimeout, "four partitions", func() string {
		if got := k.run("", "-L", "-t", "scaled0"); got != listed(d.kafka, "scaled0", listedTopic("scaled0", 4)) {
			return got
		}
		return ""
	})
	checkListedJSON(t, d.kafka, k.run("", "-L", "-J"))
}

// checkListedJSON wants the four partitions of scaled0 on the only broker.
func checkListedJSON(t *testing.T, broker, output string) {
	t.Helper()
	type node struct{ ID int }
	var got struct {
		ControllerID int
		Brokers      []struct {
			ID   int
			Name string
		}
		Topics []struct {
			Topic      string
			Partitions []struct {
				Partition, Leader int
				Replicas, ISRs    []node
			}
		}
	}
	if err := json.Unmarshal([]byte(output), &got); err != nil {
		t.Fatalf("%v in\n%s", err, output)
	}
	brokers := fmt.Sprintf("%d %v", got.ControllerID, got.Brokers)
	if want := fmt.Sprintf("1 [{1 %s}]", broker); brokers != want {
		t.Errorf("controller and brokers %s, want %s", brokers, want)
	}
	topics := fmt.Sprint(got.Topics)
	if want := "[{scaled0 [{0 1 [{1}] [{1}]} {1 1 [{1}] [{1}]} {2 1 [{1}] [{1}]} {3 1 [{1}] [{1}]}]}]"; topics != want {
		t.Errorf("topics %s, want %s", topics, want)
	}
}
