package embedded

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The two answers that carry records are written here, record by record as they
// come out of the store, so that nothing is copied on the way; all others go
// through encoding/json.

// putReply is the answer of a put, in the form that the request asked for.
func putReply(results []putResult, protobuf bool) reply {
	failed := 0
	for i := range results {
		if results[i].refused != nil {
			failed++
		}
	}
	if protobuf {
		return reply{status: http.StatusOK, body: appendProtoResults(nil, results, failed), protobuf: true}
	}
	return reply{status: http.StatusOK, body: appendJSONResults(nil, results, failed)}
}

func appendProtoResults(dst []byte, results []putResult, failed int) []byte {
	dst = wire.AppendProtoFailedCount(dst, failed)
	for i := range results {
		var one wire.PutResult
		if r := &results[i]; r.refused != nil {
			one.ErrorCode, one.ErrorMessage = r.refused.code, r.refused.message
		} else {
			one.PartitionID, one.SequenceNumber = r.partition.id, strconv.FormatInt(r.number, 10)
		}
		dst = wire.AppendProtoPutResult(dst, &one)
	}
	return dst
}

func appendJSONResults(dst []byte, results []putResult, failed int) []byte {
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

// recordsWriter collects the answer of a read.
type recordsWriter struct {
	protobuf bool
	body     []byte
	count    int
	bytes    int // of data
}

func (w *recordsWriter) add(number int64, r *storedRecord) {
	switch {
	case w.protobuf:
		w.body = appendProtoRecord(w.body, number, r)
	case w.count == 0:
		w.body = appendGetRecord(append(w.body, `{"records":[`...), number, r)
	default:
		w.body = appendGetRecord(append(w.body, ','), number, r)
	}
	w.count++
	w.bytes += len(r.data)
}

// reply ends the answer with the cursor that reads on.
func (w *recordsWriter) reply(cursor string) reply {
	if w.protobuf {
		return reply{status: http.StatusOK, body: wire.AppendProtoNextCursor(w.body, cursor), protobuf: true}
	}
	body := w.body
	if w.count == 0 {
		body = append(body, `{"records":[`...)
	}
	body = append(body, `],"next_partition_cursor":"`...)
	body = append(body, cursor...)
	return reply{status: http.StatusOK, body: append(body, `"}`...)}
}

func appendProtoRecord(dst []byte, number int64, r *storedRecord) []byte {
	record := wire.Record{
		SequenceNumber: strconv.FormatInt(number, 10), Data: r.data,
		Timestamp: r.timestamp, TimestampType: wire.TimestampTypeCreate,
	}
	if r.hasKey {
		key := string(r.key)
		record.PartitionKey = &key
	}
	return wire.AppendProtoRecord(dst, &record)
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
