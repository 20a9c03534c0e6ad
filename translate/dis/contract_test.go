package dis_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// contractPrefix begins the names of all streams and apps that the contract
// tests create. A run that is killed may leave one of each behind.
const contractPrefix = "kdg-contract-"

// target is the DIS that the contract tests run against: without build tags an
// embedded one, with the tag live the one that the environment names.
type target struct {
	config dis.Config
	// ctx ends when the run is interrupted, so that the tests still clean up.
	ctx context.Context
	// patience is how long a stream may take to be created or scaled.
	patience time.Duration
	// live says that the service is a real one. Only what its documents promise is
	// asserted there, and what they leave open is logged.
	live bool
}

// contract is one run: a stream of two partitions and an app, which are new and
// go when it ends.
type contract struct {
	target
	client *dis.Client
	stream string
	app    string
}

// TestContract says in one place what this project relies on DIS for. The
// embedded DIS is held to it in every run of the tests, and a real service by
// everyone who runs them with an account.
func TestContract(t *testing.T) {
	t.Parallel()
	c := startContract(t)
	for _, part := range []struct {
		name string
		test func(*testing.T, *contract)
	}{
		{"stream", testStream},
		{"unknown stream", testUnknownStream},
		{"put and get", testPutAndGet},
		{"forms of requests", testForms},
		{"routing", testRouting},
		{"failed records", testFailedRecords},
		{"cursors", testCursors},
		{"cursors at a time", testCursorsAtTime},
		{"end of a partition", testEndOfPartition},
		{"bytes of an answer", testBytesOfAnswer},
		{"apps", testApps},
		{"checkpoints", testCheckpoints},
		{"consumer state", testConsumerState},
		{"stream by its id", testStreamByID},
		{"tags", testTags},
		{"metrics", testMetrics},
		{"transfer tasks", testTransferTasks},
		{"stream update", testUpdate},
		{"scaling", testScaling},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, c) })
	}
}

func startContract(t *testing.T) *contract {
	t.Helper()
	c := &contract{target: newTarget(t)}
	c.client = connect(t, c.config)
	c.stream = contractPrefix + strings.ToLower(rand.Text()[:12])
	c.app = contractPrefix + strings.ToLower(rand.Text()[:12])
	t.Cleanup(func() { c.remove(t) })
	if err := c.client.CreateStream(c.ctx, wire.CreateStreamRequest{StreamName: c.stream, PartitionCount: 2}); err != nil {
		t.Fatalf("creating a stream: %v", err)
	}
	c.waitForPartitions(t, 2)
	if err := c.client.CreateApp(c.ctx, c.app); err != nil {
		t.Fatalf("creating an app: %v", err)
	}
	return c
}

// remove deletes what the run created, also after a failure or an interrupt.
func (c *contract) remove(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	if err := c.client.DeleteApp(ctx, c.app); err != nil && !dis.HasCode(err, wire.CodeAppNotFound) {
		t.Errorf("app %s is left over: %v", c.app, err)
	}
	if err := c.client.DeleteStream(ctx, c.stream); err != nil && !dis.HasCode(err, wire.CodeStreamNotFound) {
		t.Errorf("stream %s is left over: %v", c.stream, err)
	}
}

// waitForPartitions waits until the stream is there with so many ACTIVE
// partitions: a service may take its time to create and to scale.
func (c *contract) waitForPartitions(t *testing.T, active int) *wire.DescribeStreamResponse {
	t.Helper()
	deadline := time.Now().Add(c.patience)
	for {
		described, err := c.client.DescribeStream(c.ctx, c.stream)
		switch {
		case err == nil && described.Status == wire.StreamRunning && countActive(described) == active:
			return described
		case err != nil && !dis.HasCode(err, wire.CodeStreamNotFound, wire.CodeStreamNotRunning):
			t.Fatal(err)
		case time.Now().After(deadline):
			t.Fatalf("after %v the stream does not have %d active partitions: %+v, %v", c.patience, active, described, err)
		}
		time.Sleep(c.patience / 100)
	}
}

func countActive(described *wire.DescribeStreamResponse) (active int) {
	for _, p := range described.Partitions {
		if p.Status == wire.PartitionActive {
			active++
		}
	}
	return active
}

func connect(t *testing.T, config dis.Config) *dis.Client {
	t.Helper()
	client, err := dis.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// must fails the test on an error; it takes the results of a call whole.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// refused fails the test unless DIS refused a call with that code, and with a
// message that contains the text.
func refused(t *testing.T, err error, code, text string) {
	t.Helper()
	var refusal *dis.Error
	if !errors.As(err, &refusal) {
		t.Errorf("got %v, want %s", err, code)
		return
	}
	if refusal.Code != code || !strings.Contains(refusal.Message, text) || !refusal.NotProcessed {
		t.Errorf("got %v (not processed: %t), want %s and a message with %q", err, refusal.NotProcessed, code, text)
	}
}

// refusedByOne is for a refusal whose code the documents leave open: the first
// of the codes is the one that the embedded DIS gives.
func (c *contract) refusedByOne(t *testing.T, err error, codes ...string) {
	t.Helper()
	if c.live && dis.HasCode(err, codes...) {
		t.Logf("open question, which of %v is it: %v", codes, err)
		return
	}
	refused(t, err, codes[0], "")
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
