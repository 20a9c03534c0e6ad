package topics

import (
	"encoding/base64"
	"fmt"
	"math"

	"github.com/google/uuid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// ClusterID names the project in its region as a Kafka cluster. It has the form
// of Kafka's own ids, 22 characters of URL-safe base64, and every gateway of
// the project gives the same one for ever: Connect and MirrorMaker store it.
func ClusterID(projectID, region string) string {
	for attempt := 0; ; attempt++ {
		id := uuid.NewSHA1(idNamespace, fmt.Appendf(nil, "cluster/%s/%s/%d", region, projectID, attempt))
		text := base64.RawURLEncoding.EncodeToString(id[:])
		if text[0] != '-' { // command line tools would take it for a flag
			return text
		}
	}
}

// LongestRetention is the longest retention that DIS offers, in hours: a week.
const LongestRetention = 7 * 24

// retentionStep is the unit of the retention that DIS offers, in hours: a day.
const retentionStep = 24

// RetentionHours turns Kafka's retention.ms into DIS's retention. It is rounded
// up to whole days, so that nothing is dropped earlier than was asked for.
// Unlimited retention (-1), other negative values and more than a week are
// refused with INVALID_CONFIG.
func RetentionHours(milliseconds int64) (int, error) {
	hours := math.Ceil(float64(milliseconds) / 3_600_000)
	if milliseconds < 0 || hours > LongestRetention {
		return 0, translate.Failure{
			Code:    codeInvalidConfig,
			Message: fmt.Sprintf("retention.ms %d: DIS keeps records for at most %d hours (%d ms)", milliseconds, LongestRetention, LongestRetention*3_600_000),
		}
	}
	days := max(1, (int(hours)+retentionStep-1)/retentionStep)
	return days * retentionStep, nil
}

// documentedRetention is the longest retention in the API reference, in hours; the
// comments of the SDKs have LongestRetention. Which of them holds may depend on the
// region.
const documentedRetention = 72

// explainRetention says what may be wrong with a request that DIS refused: it names
// the field at best.
func explainRetention(err error, hours int) error {
	if hours <= documentedRetention || !dis.HasCode(err, wire.CodeInvalidRequest) {
		return err
	}
	return fmt.Errorf("%w (%d hours of retention are asked for; where DIS takes no more than %d, retention.ms may be %d at most)",
		err, hours, documentedRetention, documentedRetention*3_600_000)
}
