package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/e2e/oracle"
)

// comparedClients are those that write and read on the real broker as well: a
// client in Java, two of librdkafka and one in Go.
var comparedClients = []string{"java-4.4", "confluent-kafka", "kcat", "franz-go"}

// compareClients lets unmodified clients do the same on the broker and on a
// gateway: what they tell of what they wrote and read, offsets and all, is equal.
func compareClients(t *testing.T, broker string) {
	gateway := startDev(t, "--auto-create-topics=false").kafka
	for i, client := range matrixClients {
		if !slices.Contains(comparedClients, client.name) {
			continue
		}
		t.Run(client.name, func(t *testing.T) {
			path, args := client.program(t, client.name)
			program, err := startClientProgram(t, client.name, path, args...)
			if err != nil {
				t.Fatal(err)
			}
			onBroker := useEveryCodec(t, program, client, broker, int64(1000*(i+1)))
			onGateway := useEveryCodec(t, program, client, gateway, int64(1000*(i+1)))
			for _, what := range []string{"written", "read"} {
				if len(onBroker[what]) == 0 {
					t.Errorf("nothing was %s on the broker", what)
				}
				sameLines(t, what+" on the gateway, and on the broker", onBroker[what], onGateway[what])
			}
		})
	}
}

// useEveryCodec writes a topic for each codec of a client and reads them all. The
// lines of a partition are in their order.
func useEveryCodec(t *testing.T, program *clientProgram, client matrixClient, bootstrap string, seed int64) map[string][]line {
	t.Helper()
	var topics []string
	var written []line
	for i, codec := range client.codecs {
		topic := "clients-" + client.topic(codec)
		topics = append(topics, topic)
		createTopic(t, bootstrap, topic, matrixPartitions)
		if err := oracle.AwaitTopic(bootstrap, topic, matrixPartitions); err != nil {
			t.Fatal(err)
		}
		written = append(written, parseLines(t, program.do(t, matrixTimeout, "produce", "--bootstrap", bootstrap, "--topic", topic, "--codec", codec,
			"--seed", fmt.Sprint(seed+int64(i)), "--count", fmt.Sprint(matrixRecords), "--partitions", fmt.Sprint(matrixPartitions)))...)
	}
	read := parseLines(t, program.do(t, matrixTimeout, "consume", "--bootstrap", bootstrap, "--topic", strings.Join(topics, ","),
		"--count", fmt.Sprint(len(written))))
	for i := range read {
		if written[0].timestamp == untold { // it is that of the moment
			read[i].timestamp = untold
		}
	}
	return map[string][]line{"written": inOrder(written), "read": inOrder(read)}
}

func inOrder(all []line) (sorted []line) {
	topics := byTopic(all)
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		sorted = append(sorted, topics[topic]...)
	}
	return sorted
}
