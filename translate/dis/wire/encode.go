package wire

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// AppendPutRecordsRequest appends the JSON that encoding/json would produce,
// without its copies.
func AppendPutRecordsRequest(dst []byte, put *PutRecordsRequest) []byte {
	dst = append(dst, '{')
	if put.StreamName != "" {
		dst = append(dst, `"stream_name":`...)
		dst = append(appendString(dst, put.StreamName), ',')
	}
	if put.StreamID != "" {
		dst = append(dst, `"stream_id":`...)
		dst = append(appendString(dst, put.StreamID), ',')
	}
	dst = append(dst, `"records":`...)
	dst = appendList(dst, put.Records, appendPutRecord)
	return append(dst, '}')
}

func appendPutRecord(dst []byte, r *PutRecord) []byte {
	dst = append(dst, `{"data":`...)
	dst = appendData(dst, r.Data)
	if r.PartitionID != "" {
		dst = append(dst, `,"partition_id":`...)
		dst = appendString(dst, string(r.PartitionID))
	}
	if r.ExplicitHashKey != "" {
		dst = append(dst, `,"explicit_hash_key":`...)
		dst = appendString(dst, string(r.ExplicitHashKey))
	}
	if r.PartitionKey != nil {
		dst = append(dst, `,"partition_key":`...)
		dst = appendString(dst, *r.PartitionKey)
	}
	if r.Timestamp != nil {
		dst = append(dst, `,"timestamp":`...)
		dst = strconv.AppendInt(dst, *r.Timestamp, 10)
	}
	return append(dst, '}')
}

func appendList[T any](dst []byte, list []T, one func([]byte, *T) []byte) []byte {
	if list == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, &list[i])
	}
	return append(dst, ']')
}

func appendData(dst, data []byte) []byte {
	if data == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}

func appendString(dst []byte, text string) []byte {
	start := len(dst)
	dst = append(dst, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\': // keys are often JSON themselves
			dst = append(dst, '\\', c)
		case c < ' ' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&':
			return appendMarshalled(dst[:start], text)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func appendMarshalled(dst []byte, text string) []byte {
	quoted, err := json.Marshal(text)
	if err != nil { // a string always marshals
		panic(err)
	}
	return append(dst, quoted...)
}
