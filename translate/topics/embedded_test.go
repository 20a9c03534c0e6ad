package topics_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// connect starts an embedded DIS and a client of it over HTTP.
func connect(t *testing.T) *dis.Client { return connectTo(t, embedded.Config{}) }

// connectTo does so with limits of its own.
func connectTo(t *testing.T, cfg embedded.Config) *dis.Client {
	t.Helper()
	cfg.DataDir, cfg.ProjectID, cfg.Region, cfg.AccessKeys = t.TempDir(), "local", "local", map[string]string{"dev": "dev-secret"}
	server, err := embedded.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(server.Handler())
	client, err := dis.New(dis.Config{
		Endpoint: listener.URL, Region: "local", ProjectID: "local",
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: "dev", SecretKey: "dev-secret"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		listener.Close()
		if err := server.Close(); err != nil {
			t.Errorf("close the embedded DIS: %v", err)
		}
	})
	return client
}

func open(t *testing.T, client *dis.Client) *topics.Catalog {
	t.Helper()
	c := topics.New(topics.Config{ProjectID: "local"}, client)
	t.Cleanup(c.Close)
	return c
}

func TestTopicsOverHTTP(t *testing.T) {
	client := connect(t)
	here, there := open(t, client), open(t, client)

	if _, err := there.Topic(t.Context(), "orders"); !dis.HasCode(err, wire.CodeStreamNotFound) {
		t.Fatalf("before: %v", err)
	}
	created, err := here.Create(t.Context(), topics.CreateRequest{Name: "orders", Partitions: 120, RetentionHours: 72})
	if err != nil {
		t.Fatal(err)
	}
	if len(created.Partitions) != 120 || created.RetentionHours != 72 || created.ID == [16]byte{} || created.StreamType != wire.StreamCommon {
		t.Errorf("created %d partitions, %d hours, id %x, %s", len(created.Partitions), created.RetentionHours, created.ID, created.StreamType)
	}
	for i, p := range created.Partitions {
		if p.Status != wire.PartitionActive {
			t.Errorf("partition %d is %s", i, p.Status)
		}
	}
	there.Invalidate("orders")
	found, err := there.Topic(t.Context(), "orders")
	if err != nil || found.ID != created.ID {
		t.Fatalf("through another catalog: %+v, %v", found, err)
	}
	if _, err := there.Create(t.Context(), topics.CreateRequest{Name: "orders", Partitions: 1}); !dis.HasCode(err, wire.CodeStreamExists) {
		t.Errorf("created twice: %v", err)
	}

	deleted, err := there.Delete(t.Context(), "orders")
	if err != nil || deleted.ID != created.ID {
		t.Fatalf("deleted %+v, %v", deleted, err)
	}
	again, err := here.Create(t.Context(), topics.CreateRequest{Name: "orders", Partitions: 1})
	if err != nil {
		t.Fatalf("made again under the name: %v", err)
	}
	if again.ID == created.ID {
		t.Error("the new topic has the old one's id")
	}
}

func TestTopicListOverHTTP(t *testing.T) {
	client := connect(t)
	const streams = 130 // more than one page
	for i := range streams {
		if err := client.CreateStream(t.Context(), wire.CreateStreamRequest{StreamName: fmt.Sprintf("s-%03d", i), PartitionCount: 2}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := open(t, client).Topics(t.Context())
	if err != nil || len(all) != streams {
		t.Fatalf("%d topics, %v", len(all), err)
	}
	for i, topic := range all {
		if want := fmt.Sprintf("s-%03d", i); topic.Name != want || len(topic.Partitions) != 2 {
			t.Errorf("topic %d is %s with %d partitions, want %s with 2", i, topic.Name, len(topic.Partitions), want)
		}
	}
}

func TestTopicsChangedOverHTTP(t *testing.T) {
	client := connect(t)
	here, there := open(t, client), open(t, client)
	if _, err := here.Create(t.Context(), topics.CreateRequest{Name: "orders", Partitions: 2, AutoScale: translate.AutoScale{Min: 1, Max: 4}}); err != nil {
		t.Fatal(err)
	}
	before, err := there.Topic(t.Context(), "orders")
	if err != nil || before.AutoScale != (translate.AutoScale{Min: 1, Max: 4}) {
		t.Fatalf("%+v, %v", before, err)
	}

	scaled, err := here.CreatePartitions(t.Context(), topics.PartitionsRequest{Name: "orders", Count: 5})
	if err != nil || len(scaled.Partitions) != 5 || scaled.ID != before.ID {
		t.Fatalf("scaled %+v, %v", scaled, err)
	}
	if _, err := there.CreatePartitions(t.Context(), topics.PartitionsRequest{Name: "orders", Count: 5}); translate.KafkaError(translate.CallCreatePartitions, err).Code != 37 {
		t.Errorf("scaled twice: %v", err)
	}
	// A scale-down elsewhere: Kafka clients go on to see five.
	if _, err := client.ChangePartitionCount(t.Context(), "orders", 1); err != nil {
		t.Fatal(err)
	}
	scaled, err = there.CreatePartitions(t.Context(), topics.PartitionsRequest{Name: "orders", Count: 6})
	if err != nil || len(scaled.Partitions) != 6 {
		t.Fatalf("scaled %+v, %v", scaled, err)
	}
	for i, p := range scaled.Partitions {
		if p.Status != wire.PartitionActive {
			t.Errorf("partition %d is %s", i, p.Status)
		}
	}

	altered, err := here.Alter(t.Context(), topics.AlterRequest{Name: "orders", RetentionHours: new(72), DataType: new("JSON"), AutoScale: &translate.AutoScale{}})
	if err != nil || altered.RetentionHours != 72 || altered.DataType != "JSON" || altered.AutoScale != (translate.AutoScale{}) || len(altered.Partitions) != 6 {
		t.Errorf("altered %+v, %v", altered, err)
	}
	if _, err := here.Alter(t.Context(), topics.AlterRequest{Name: "orders", RetentionHours: new(169)}); !dis.HasCode(err, wire.CodeInvalidRequest) {
		t.Errorf("a retention that DIS refuses: %v", err)
	}
	if found, err := here.Topic(t.Context(), "orders"); err != nil || found.RetentionHours != 72 {
		t.Errorf("after a refusal: %+v, %v", found, err)
	}
}

func TestScalingLimitOverHTTP(t *testing.T) {
	c := open(t, connectTo(t, embedded.Config{ScalingLimits: embedded.ScalingAPI}))
	if _, err := c.Create(t.Context(), topics.CreateRequest{Name: "orders", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreatePartitions(t.Context(), topics.PartitionsRequest{Name: "orders", Count: 2}); err != nil {
		t.Fatal(err)
	}
	_, err := c.CreatePartitions(t.Context(), topics.PartitionsRequest{Name: "orders", Count: 3})
	got := translate.KafkaError(translate.CallCreatePartitions, err)
	for _, part := range []string{"DIS limits how often a stream is scaled", wire.CodeTooManyStreamCalls, "none within an hour"} {
		if got.Code != 44 || !strings.Contains(got.Message, part) {
			t.Errorf("%+v, want 44 that says %q", got, part)
		}
	}
	if found, err := c.Topic(t.Context(), "orders"); err != nil || len(found.Partitions) != 2 {
		t.Errorf("afterwards: %+v, %v", found, err)
	}
}

// What DIS says of a retention that it does not offer is the name of a field.
func TestRetentionLimitOverHTTP(t *testing.T) {
	c := open(t, connectTo(t, embedded.Config{MaxRetentionHours: 72}))
	_, err := c.Create(t.Context(), topics.CreateRequest{Name: "orders", Partitions: 1, RetentionHours: 168})
	refused := []translate.Failure{translate.KafkaError(translate.CallCreateTopic, err)}
	if _, err := c.Create(t.Context(), topics.CreateRequest{Name: "orders", Partitions: 1, RetentionHours: 72}); err != nil {
		t.Fatal(err)
	}
	_, err = c.Alter(t.Context(), topics.AlterRequest{Name: "orders", RetentionHours: new(96)})
	refused = append(refused, translate.KafkaError(translate.CallAlterConfigs, err))
	for i, hours := range []string{"168 hours", "96 hours"} {
		for _, part := range []string{wire.CodeInvalidRequest, "data_duration", hours, "259200000 at most"} {
			if refused[i].Code != 42 || !strings.Contains(refused[i].Message, part) {
				t.Errorf("%+v, want 42 that says %q", refused[i], part)
			}
		}
	}
}
