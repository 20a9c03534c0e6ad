package embedded

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// otherDestination is one that the embedded DIS knows but cannot write to.
type otherDestination struct {
	dataTypes []string // of the streams that it takes
	required  []requiredField
}

// requiredField is a text that a descriptor must have, and the error without it.
type requiredField struct{ name, code, what string }

var otherDestinations = map[wire.Destination]otherDestination{
	wire.DestinationMRS: {
		dataTypes: []string{"BLOB", "JSON", "CSV"},
		required: []requiredField{
			{"mrs_cluster_name", wire.CodeInvalidMRSCluster, "MRS cluster"},
			{"mrs_cluster_id", wire.CodeInvalidMRSCluster, "MRS cluster"},
			{"mrs_hdfs_path", wire.CodeInvalidHDFSPath, "HDFS path"},
		},
	},
	wire.DestinationDLI: {
		dataTypes: []string{"JSON", "CSV"},
		required: []requiredField{
			{"dli_database_name", wire.CodeDLIDatabase, "DLI database"},
			{"dli_table_name", wire.CodeDLITable, "DLI table"},
		},
	},
	wire.DestinationCloudTable: {
		dataTypes: []string{"JSON"},
		required: []requiredField{
			{"cloudtable_cluster_name", wire.CodeInvalidCloudTable, "CloudTable cluster"},
			{"cloudtable_cluster_id", wire.CodeInvalidCloudTable, "CloudTable cluster"},
		},
	},
	wire.DestinationDWS: {
		dataTypes: []string{"JSON", "CSV"},
		required: []requiredField{
			{"dws_cluster_name", wire.CodeInvalidDWSCluster, "DWS cluster"},
			{"dws_cluster_id", wire.CodeInvalidDWSCluster, "DWS cluster"},
			{"dws_database_name", wire.CodeInvalidRequest, "DWS database"},
			{"dws_table_name", wire.CodeInvalidRequest, "DWS table"},
		},
	},
}

// passwordField is never stored, nor shown.
const passwordField = "user_password"

// otherSettings checks the descriptor of a task for another destination than OBS.
func otherSettings(to wire.Destination, descriptor json.RawMessage, dataType string) (transferSettings, error) {
	name := descriptorField(to)
	var common commonSettings
	var fields map[string]json.RawMessage
	if len(descriptor) > 0 {
		if err := json.Unmarshal(descriptor, &common); err != nil {
			return transferSettings{}, invalidRequest(name, err)
		}
		if err := json.Unmarshal(descriptor, &fields); err != nil {
			return transferSettings{}, invalidRequest(name, err)
		}
	}
	if fields == nil {
		return transferSettings{}, invalidRequest(name, "")
	}
	if err := common.check(); err != nil {
		return transferSettings{}, err
	}
	destination := otherDestinations[to]
	for _, field := range destination.required {
		var text string
		if json.Unmarshal(fields[field.name], &text) != nil || text == "" {
			return transferSettings{}, refuse(field.code, "Invalid %s. [%s][%s]", field.what, field.name, text)
		}
	}
	if !slices.Contains(destination.dataTypes, dataType) {
		return transferSettings{}, wrongDataType(string(to), dataType)
	}
	maps.DeleteFunc(fields, func(field string, _ json.RawMessage) bool { return field == passwordField })
	kept, err := json.Marshal(fields)
	return transferSettings{Name: common.Name, Descriptor: kept, Strategy: common.Strategy}, err
}
