package embedded

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The two answers that carry records are written here, record by record as they
// come out of the store, so that nothing is copied on the way; all others go
// through encoding/json.

// appendPutReply writes the JSON of wire.PutRecordsResponse.
func appendPutReply(dst []byte, results []putResult) []byte {
	failed := 0
	for i := range results {
		if results[i].refused != nil {
			failed++
		}
	}
	dst = append(dst, `{"failed_record_count":`...)
	dst = strconv.AppendInt(dst, int64(failed), 10)
	dst = append(dst, `,"records":[`...)
	for i := range results {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendPutResult(dst, &results[i])
	}
	return append(dst, "]}"...)
}

func appendPutResult(dst []byte, result *putResult) []byte {
	if refused := result.refused; refused != nil {
		dst = append(dst, `{"error_code":`...)
		dst = appendJSONString(dst, []byte(refused.code))
		dst = append(dst, `,"error_message":`...)
		dst = appendJSONString(dst, []byte(refused.message))
		return append(dst, '}')
	}
	dst = append(dst, `{"partition_id":"`...)
	dst = append(dst, result.partition.id...)
	dst = append(dst, `","sequence_number":"`...)
	dst = strconv.AppendInt(dst, result.number, 10)
	return append(dst, `"}`...)
}

// appendGetRecord writes the JSON of wire.Record.
func appendGetRecord(dst []byte, number int64, r *storedRecord) []byte {
	dst = append(dst, '{')
	if r.hasKey {
		dst = append(dst, `"partition_key":`...)
		dst = appendJSONString(dst, r.key)
		dst = append(dst, ',')
	}
	dst = append(dst, `"sequence_number":"`...)
	dst = strconv.AppendInt(dst, number, 10)
	dst = append(dst, `","data":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, r.data)
	dst = append(dst, `","timestamp":`...)
	dst = strconv.AppendInt(dst, r.timestamp, 10)
	return append(dst, `,"timestamp_type":"`+wire.TimestampTypeCreate+`"}`...)
}

// appendJSONString writes a text in quotes.
func appendJSONString(dst, text []byte) []byte {
	if isPlainJSON(text) {
		dst = append(dst, '"')
		dst = append(dst, text...)
		return append(dst, '"')
	}
	quoted, err := json.Marshal(string(text))
	if err != nil { // a string always marshals
		panic(err)
	}
	return append(dst, quoted...)
}

func isPlainJSON(text []byte) bool {
	ascii := true
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(text)
}
