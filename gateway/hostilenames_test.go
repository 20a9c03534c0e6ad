package gateway

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestLongTextsComeBackReadable: refusals repeat what the client sent. In versions
// before KIP-482 a string has 2 bytes of length, and a longer text would make the
// reply unreadable.
func TestLongTextsComeBackReadable(t *testing.T) {
	c := dial(t, newBench(t, full).listen())
	long := strings.Repeat("ü", 16000)
	for version := int16(0); version <= 1; version++ {
		req := alterTopic("t", set(long, long))
		req.Version = version
		if code, message := refusedAlteration(c.ask(req)); code != invalidConfig || len(message) > 2100 || !strings.HasSuffix(message, "ü…") {
			t.Errorf("IncrementalAlterConfigs %d: error %d, %d bytes", version, code, len(message))
		}
	}
	for version := int16(1); version <= 7; version++ {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "u", 1, 1
		topic.Configs = []kmsg.CreateTopicsRequestTopicConfig{{Name: configRetention, Value: &long}}
		req := kmsg.NewPtrCreateTopicsRequest()
		req.Version, req.Topics = version, []kmsg.CreateTopicsRequestTopic{topic}
		answer := c.ask(req).(*kmsg.CreateTopicsResponse).Topics[0]
		if answer.ErrorCode != invalidConfig || answer.ErrorMessage == nil || len(*answer.ErrorMessage) > 2100 {
			t.Errorf("CreateTopics %d: error %d", version, answer.ErrorCode)
		}
	}
}

// TestManyRefusedKeys: some are told, the others counted.
func TestManyRefusedKeys(t *testing.T) {
	c := dial(t, newBench(t, full).listen())
	var pairs []string
	for i := range 19_000 {
		pairs = append(pairs, fmt.Sprintf("key-%d.", i), "x")
	}
	for version := int16(0); version <= 2; version++ {
		req := alterConfigs(kmsg.ConfigResourceTypeTopic, "t", pairs...)
		req.Version = version
		code, message := refusedAlteration(c.ask(req))
		if code != invalidConfig || !strings.Contains(message, "key-9.") || strings.Contains(message, "key-10.") || !strings.HasSuffix(message, "; and 18990 more") {
			t.Errorf("version %d: error %d: %s", version, code, message)
		}
	}
}

// TestDescribedOnce: a resource that a request names again and again is in the answer
// once, with all that was asked of it.
func TestDescribedOnce(t *testing.T) {
	c := dial(t, newBench(t).listen())
	req := describeConfigs(kmsg.ConfigResourceTypeTopic, "t", "retention.ms")
	for range 5000 {
		again := req.Resources[0]
		again.ConfigNames = []string{"cleanup.policy"}
		req.Resources = append(req.Resources, again)
	}
	req.Resources = append(req.Resources, describeConfigs(kmsg.ConfigResourceTypeBroker, "1").Resources...)
	resp := c.ask(req).(*kmsg.DescribeConfigsResponse)
	if len(resp.Resources) != 2 || len(resp.Resources[0].Configs) != 2 || len(resp.Resources[1].Configs) < 5 {
		t.Errorf("%d resources: %+v", len(resp.Resources), resp.Resources[0])
	}
	req.Resources = append(req.Resources, describeConfigs(kmsg.ConfigResourceTypeTopic, "t").Resources...)
	resp = c.ask(req).(*kmsg.DescribeConfigsResponse)
	if len(resp.Resources) != 2 || len(resp.Resources[0].Configs) < 5 {
		t.Errorf("all keys: %+v", resp.Resources[0])
	}
}

// TestNamesInTheLogAreShort: names of clients, which may be as long as a frame, and
// what is answered about them.
func TestNamesInTheLogAreShort(t *testing.T) {
	log := &logLines{}
	b := newBench(t, full, func(c *Config) { c.Logger = zerolog.New(log).Level(zerolog.DebugLevel) })
	c := dial(t, b.listen())
	name := strings.Repeat("n", 500_000)
	alter := alterTopic(name, set(name, "x"))
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version = 7
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 0, 1
	create.Topics = append(create.Topics, topic)
	remove := kmsg.NewPtrDeleteTopicsRequest()
	remove.Version = 5
	remove.TopicNames = []string{name}
	for _, req := range []kmsg.Request{alter, create, remove, addPartitions(name, 5)} {
		req.SetVersion(min(req.MaxVersion(), req.GetVersion()))
		if code := firstError(c.ask(req)); code == 0 {
			t.Errorf("%T is not refused", req)
		}
	}
	nameless := &client{t: t, nc: dial(t, b.server.Addrs()[0].String()).nc}
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID(name[:32767])).AppendRequest(nil, metadataFor(9, "t"), 1)
	if _, err := nameless.nc.Write(append(frame, 0, 0, 0, 0)); err != nil { // and then a frame that is none
		t.Fatal(err)
	}
	nameless.patience(5 * time.Second)
	if _, err := io.ReadAll(nameless.nc); err != nil {
		t.Fatal(err)
	}
	lines := log.all()
	if len(lines) < 8 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if len(line) > 4000 {
			t.Errorf("a line of %d bytes: %.300s", len(line), line)
		}
	}
}
