package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	oracleDir       = "testdata/oracle"
	brokerPatience  = 2 * time.Minute
	brokerJava      = "-server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 -XX:+ExplicitGCInvokesConcurrent -Xms1G -Xmx1G"
	loopbackAnyPort = "127.0.0.1:0"
)

// brokerProperties undo what the tests set for a small machine: the threads and
// the partitions of offsets are those of Kafka's defaults, as the options of Java
// above are those of its start script.
var brokerProperties = []string{
	"num.network.threads=3", "num.io.threads=8", "background.threads=10", "offsets.topic.num.partitions=50",
}

// broker is a real Apache Kafka broker, its own controller.
type broker struct {
	*server
	kafka string
	log   string // file of what it prints
}

// startBroker needs Java, and Maven when the broker is not installed yet. It
// returns when the broker answers.
func startBroker(dir string) (*broker, error) {
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%w: %s is not installed", errNoJava, program)
		}
	}
	if output, err := exec.Command(filepath.Join(oracleDir, "install")).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("installing the broker: %w\n%s", err, output)
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp(dir, "broker-")
	if err != nil {
		return nil, err
	}
	b := &broker{kafka: net.JoinHostPort("127.0.0.1", ports[0]), log: filepath.Join(dir, "broker.log")}
	log, err := os.Create(b.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := exec.Command(filepath.Join(oracleDir, "start"), append([]string{data, ports[0], ports[1]}, brokerProperties...)...)
	command.Env = append(os.Environ(), "ORACLE_JAVA="+brokerJava)
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting the broker: %w", err)
	}
	b.server = &server{command: command}
	if err := awaitKafka(b.kafka); err != nil {
		b.stop()
		said, readErr := os.ReadFile(b.log)
		return nil, errors.Join(fmt.Errorf("starting the broker: %w; it printed:\n%s", err, said), readErr)
	}
	return b, nil
}

// freePorts finds ports of 127.0.0.1 that nobody uses.
func freePorts(count int) (ports []string, err error) {
	for range count {
		listener, err := net.Listen("tcp", loopbackAnyPort)
		if err != nil {
			return nil, err
		}
		defer listener.Close() // when all are found, so that they differ
		ports = append(ports, strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

func awaitKafka(address string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), brokerPatience)
	defer cancel()
	for {
		err := client.Ping(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no answer within %s: %w", brokerPatience, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// createTopic makes a topic through the Kafka protocol.
func createTopic(address, topic string, partitions int) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), brokerPatience)
	defer cancel()
	created, err := kadm.NewClient(client).CreateTopics(ctx, int32(partitions), 1, nil, topic)
	if err == nil {
		err = created.Error()
	}
	if err != nil {
		return fmt.Errorf("creating topic %s: %w", topic, err)
	}
	return nil
}
