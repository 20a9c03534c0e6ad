package gateway

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// The configuration keys that mean something to DIS.
const (
	configCleanup    = "cleanup.policy"
	configRetention  = "retention.ms"
	configTimestamps = "message.timestamp.type"
	configStreamType = "dis.stream.type"
	configDataType   = "dis.data.type"
	configAutoScale  = "dis.auto.scale"
)

// unlimited is the retention.ms of topics whose records stay until their readers,
// such as Kafka Streams, delete them.
const unlimited = -1

const millisPerHour = 3_600_000

// noAutoScale is the dis.auto.scale of a stream that DIS does not scale by itself.
const noAutoScale = "off"

// topicKey is a configuration of a topic that can be altered, since DIS can
// change it of a stream.
type topicKey struct {
	standard string // what DIS has when nobody said anything
	alter    func(request *topics.AlterRequest, value string, cfg Config) error
}

// topicKeys are all of them: what PUT /v3/{project}/streams/{stream} takes but for
// the data schema, which means nothing to Kafka clients.
var topicKeys = map[string]topicKey{
	configRetention: {strconv.Itoa(topics.DefaultRetention * millisPerHour), func(request *topics.AlterRequest, value string, cfg Config) error {
		hours, err := retentionHours(value, cfg.AcceptCompact)
		request.RetentionHours = &hours
		return err
	}},
	configDataType: {topics.DefaultDataType, func(request *topics.AlterRequest, value string, _ Config) error {
		dataType := strings.ToUpper(strings.TrimSpace(value))
		request.DataType = &dataType
		return nil
	}},
	configAutoScale: {noAutoScale, func(request *topics.AlterRequest, value string, _ Config) error {
		bounds, err := parseAutoScale(value)
		request.AutoScale = &bounds
		return err
	}},
}

// applyConfig carries one key of a CreateTopics request over to the stream. A
// key that DIS knows nothing of is ignored, as tools send many, unless ignoring
// it would store something else than was asked for.
func applyConfig(request *topics.CreateRequest, name, value string, acceptCompact bool) (err error) {
	switch name {
	case configRetention:
		request.RetentionHours, err = retentionHours(value, acceptCompact)
	case configCleanup:
		err = checkCleanup(value, acceptCompact)
	case configTimestamps:
		if value != "CreateTime" && value != "LogAppendTime" {
			return refusedConfig(name, value, "CreateTime, LogAppendTime")
		}
		request.TimestampType = value
	case configStreamType:
		request.StreamType = wire.StreamType(strings.ToUpper(value))
	case configDataType:
		request.DataType = strings.ToUpper(value)
	case configAutoScale:
		request.AutoScale, err = parseAutoScale(value)
	}
	return err
}

// retentionHours reads retention.ms. Who accepts that compacted topics are not,
// also accepts that topics without end are those of a week.
func retentionHours(value string, acceptCompact bool) (int, error) {
	milliseconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return 0, refusedConfig(configRetention, value, "a number of milliseconds")
	}
	if milliseconds == unlimited && acceptCompact {
		return topics.LongestRetention, nil
	}
	return topics.RetentionHours(milliseconds)
}

// parseAutoScale reads "off" or the two bounds, such as 2-10.
func parseAutoScale(value string) (translate.AutoScale, error) {
	text := strings.TrimSpace(value)
	if strings.EqualFold(text, noAutoScale) {
		return translate.AutoScale{}, nil
	}
	low, high, both := strings.Cut(text, "-")
	least, err := strconv.Atoi(low)
	most, err2 := strconv.Atoi(high)
	if !both || err != nil || err2 != nil || least < 1 || most < least {
		return translate.AutoScale{}, refusedConfig(configAutoScale, value, "off, or from how many to how many partitions DIS scales the stream, such as 2-10")
	}
	return translate.AutoScale{Min: least, Max: most}, nil
}

func autoScaleText(bounds translate.AutoScale) string {
	if bounds == (translate.AutoScale{}) {
		return noAutoScale
	}
	return fmt.Sprintf("%d-%d", bounds.Min, bounds.Max)
}

func checkCleanup(value string, acceptCompact bool) error {
	for policy := range strings.SplitSeq(value, ",") {
		switch strings.TrimSpace(policy) {
		case "delete":
		case "compact":
			if !acceptCompact {
				return translate.Failure{Code: invalidConfig, Message: "cleanup.policy=compact: DIS does not compact, records are deleted by age; " +
					"allowed: delete, or compact without effect when the gateway runs with --accept-compact"}
			}
		default:
			return refusedConfig(configCleanup, value, "delete")
		}
	}
	return nil
}

func refusedConfig(name, value, allowed string) error {
	return translate.Failure{Code: invalidConfig, Message: fmt.Sprintf("%s=%s; allowed: %s", name, value, allowed)}
}
