package embedded

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const (
	maxTransferName = 64
	maxAgencyName   = 64
	maxFilePrefix   = 50

	minDeliverSeconds     = 30
	maxDeliverSeconds     = 900
	defaultDeliverSeconds = 300

	fileTypeText     = "text"
	defaultDelimiter = ","
)

// folderLayouts are the partition formats of the API, as layouts of package time.
var folderLayouts = map[string]string{
	"":                 "",
	"N/A":              "",
	"yyyy":             "2006",
	"yyyy/MM":          "2006/01",
	"yyyy/MM/dd":       "2006/01/02",
	"yyyy/MM/dd/HH":    "2006/01/02/15",
	"yyyy/MM/dd/HH/mm": "2006/01/02/15/04",
}

// transferBody is the body of the calls that create and update a task: the
// descriptor of its destination, under a name of its own for each.
type transferBody struct {
	DestinationType wire.Destination `json:"destination_type"`
	OBS             json.RawMessage  `json:"obs_destination_descriptor"`
	MRS             json.RawMessage  `json:"mrs_destination_descriptor"`
	DLI             json.RawMessage  `json:"dli_destination_descriptor"`
	CloudTable      json.RawMessage  `json:"cloudtable_destination_descriptor"`
	DWS             json.RawMessage  `json:"dws_destination_descriptor"`
}

// settings checks a description for a stream with that type of data.
func (b *transferBody) settings(dataType string) (transferSettings, error) {
	if b.DestinationType == wire.DestinationOBS {
		return obsSettings(b.OBS, dataType)
	}
	descriptor, known := map[wire.Destination]json.RawMessage{
		wire.DestinationMRS: b.MRS, wire.DestinationDLI: b.DLI,
		wire.DestinationCloudTable: b.CloudTable, wire.DestinationDWS: b.DWS,
	}[b.DestinationType]
	if !known {
		return transferSettings{}, invalidRequest("destination_type", b.DestinationType)
	}
	return otherSettings(b.DestinationType, descriptor, dataType)
}

// descriptorField is the name of a destination's descriptor in a body.
func descriptorField(destination wire.Destination) string {
	return strings.ToLower(string(destination)) + "_destination_descriptor"
}

func obsSettings(descriptor json.RawMessage, dataType string) (transferSettings, error) {
	var obs *wire.OBSDestination
	if len(descriptor) > 0 {
		if err := json.Unmarshal(descriptor, &obs); err != nil {
			return transferSettings{}, invalidRequest(descriptorField(wire.DestinationOBS), err)
		}
	}
	if obs == nil {
		return transferSettings{}, invalidRequest(descriptorField(wire.DestinationOBS), "")
	}
	common := commonSettings{obs.TaskName, obs.AgencyName, obs.DeliverTimeInterval, obs.ConsumerStrategy}
	if err := common.check(); err != nil {
		return transferSettings{}, err
	}
	obs.DeliverTimeInterval, obs.ConsumerStrategy = common.Interval, common.Strategy
	obs.DestinationFileType = cmp.Or(obs.DestinationFileType, fileTypeText)
	obs.RecordDelimiter = cmp.Or(obs.RecordDelimiter, defaultDelimiter)
	if err := checkOBS(obs, dataType); err != nil {
		return transferSettings{}, err
	}
	return transferSettings{Name: obs.TaskName, OBS: obs, Strategy: obs.ConsumerStrategy}, nil
}

// commonSettings are those of every destination.
type commonSettings struct {
	Name     string          `json:"task_name"`
	Agency   string          `json:"agency_name"`
	Interval int             `json:"deliver_time_interval"`
	Strategy wire.CursorType `json:"consumer_strategy"`
}

// check also fills in the defaults.
func (c *commonSettings) check() error {
	c.Interval = cmp.Or(c.Interval, defaultDeliverSeconds)
	c.Strategy = cmp.Or(c.Strategy, wire.CursorLatest)
	switch {
	case !isName(c.Name, maxTransferName):
		return invalidRequest("task_name", c.Name)
	case c.Agency == "" || len(c.Agency) > maxAgencyName:
		return refuse(wire.CodeInvalidAgency, "Invalid IAM agency. [%s]", c.Agency)
	case c.Interval < minDeliverSeconds || c.Interval > maxDeliverSeconds:
		return invalidRequest("deliver_time_interval", c.Interval)
	case c.Strategy != wire.CursorLatest && c.Strategy != wire.CursorTrimHorizon:
		return invalidRequest("consumer_strategy", c.Strategy)
	}
	return nil
}

func checkOBS(obs *wire.OBSDestination, dataType string) error {
	_, knownFormat := folderLayouts[obs.PartitionFormat]
	switch {
	case !isBucketPath(obs.OBSBucketPath):
		return invalidRequest("obs_bucket_path", obs.OBSBucketPath)
	case len(obs.FilePrefix) > maxFilePrefix || !isFolder(obs.FilePrefix):
		return invalidRequest("file_prefix", obs.FilePrefix)
	case !knownFormat:
		return invalidRequest("partition_format", obs.PartitionFormat)
	case !slices.Contains([]string{fileTypeText, "parquet", "carbon"}, obs.DestinationFileType):
		return invalidRequest("destination_file_type", obs.DestinationFileType)
	case !slices.Contains([]string{",", ";", "|", "\n"}, obs.RecordDelimiter):
		return invalidRequest("record_delimiter", obs.RecordDelimiter)
	case obs.DestinationFileType != fileTypeText && dataType != "JSON":
		return wrongDataType(obs.DestinationFileType, dataType)
	}
	return checkProcessing(obs.ProcessingSchema, dataType)
}

// checkProcessing checks the description of a field that has a record's time.
func checkProcessing(p *wire.ProcessingSchema, dataType string) error {
	switch {
	case p == nil:
		return nil
	case dataType == "BLOB":
		return wrongDataType("processing_schema", dataType)
	case p.TimestampName == "":
		return invalidRequest("timestamp_name", p.TimestampName)
	case p.TimestampType != "String" && p.TimestampType != "Timestamp":
		return invalidRequest("timestamp_type", p.TimestampType)
	case p.TimestampType == "String" && p.TimestampFormat == "":
		return invalidRequest("timestamp_format", p.TimestampFormat)
	}
	return nil
}

func wrongDataType(what, dataType string) error {
	return refuse(wire.CodeTransferDataType, "The data type of the stream does not allow this transfer task. [%s][%s]", what, dataType)
}

// isBucketPath reports whether a text is a bucket, with or without folders.
func isBucketPath(path string) bool {
	bucket, folder, _ := strings.Cut(path, "/")
	if len(bucket) < 3 || len(bucket) > 63 || !isFolder(folder) || bucket != strings.ToLower(bucket) {
		return false
	}
	// The dots of a bucket's name stand alone and within it.
	return !slices.ContainsFunc(strings.Split(bucket, "."), func(label string) bool { return !isName(label, 63) })
}

// isFolder reports whether a text names folders below each other, or nothing. A
// slash may follow, none may come first.
func isFolder(path string) bool {
	if path == "" {
		return true
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if !isName(segment, len(path)) {
			return false
		}
	}
	return true
}
