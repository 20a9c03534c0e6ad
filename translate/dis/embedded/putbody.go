package embedded

import (
	"encoding/base64"
	"strconv"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// putBody is a decoded wire.PutRecordsRequest. The bytes of its records belong
// to the request's body, except data.
type putBody struct {
	streamName string
	streamID   string
	records    []putRecord
}

// putRecord is a record of a request with what decides its partition.
type putRecord struct {
	storedRecord
	hasTimestamp bool
	hasData      bool
	partitionID  []byte
	hashKey      []byte // explicit_hash_key
}

// decodePut reads the body of a put. It is the one body whose decoding costs
// more than storing what is in it, so it is read in a single pass and without
// reflection. Ids, keys and numbers may each be a JSON string or number.
func decodePut(raw []byte) (*putBody, error) {
	if len(raw) == 0 {
		return nil, refuse(wire.CodeEmptyRequest, "Request cannot be empty.")
	}
	d := putDecoder{
		scanner: scanner{text: raw},
		data:    make([]byte, 0, base64.StdEncoding.DecodedLen(len(raw))),
	}
	var body putBody
	if err := d.body(&body); err != nil {
		return nil, invalidRequest("body", err)
	}
	if len(body.records) == 0 {
		return nil, refuse(wire.CodeEmptyRequest, "Request cannot be empty. [records]")
	}
	for i := range body.records {
		if !body.records[i].hasData {
			return nil, invalidRequest("records["+strconv.Itoa(i)+"].data", "")
		}
	}
	return &body, nil
}

type putDecoder struct {
	scanner
	data []byte // the data of all records, one after the other
}

func (d *putDecoder) body(body *putBody) error {
	if err := d.object(func(field []byte) error {
		switch string(field) {
		case "stream_name":
			name, _, err := d.stringOrNumber()
			body.streamName = string(name)
			return err
		case "stream_id":
			id, _, err := d.stringOrNumber()
			body.streamID = string(id)
			return err
		case "records":
			return d.array(func() error {
				var r putRecord
				err := d.record(&r)
				body.records = append(body.records, r)
				return err
			})
		}
		return d.skip()
	}); err != nil {
		return err
	}
	return d.end()
}

func (d *putDecoder) record(r *putRecord) error {
	return d.object(func(field []byte) (err error) {
		switch string(field) {
		case "data":
			r.data, r.hasData, err = d.base64()
		case "partition_key":
			r.key, r.hasKey, err = d.stringOrNumber()
		case "partition_id":
			r.partitionID, _, err = d.stringOrNumber()
		case "explicit_hash_key":
			r.hashKey, _, err = d.stringOrNumber()
		case "timestamp":
			r.timestamp, r.hasTimestamp, err = d.integer()
		default:
			err = d.skip()
		}
		return err
	})
}

// base64 decodes a string behind the data read so far; false for null.
func (d *putDecoder) base64() (data []byte, present bool, err error) {
	text, present, err := d.stringOrNull()
	if err != nil || !present {
		return nil, false, err
	}
	start := len(d.data)
	d.data, err = base64.StdEncoding.AppendDecode(d.data, text)
	if err != nil {
		return nil, false, err
	}
	return d.data[start:len(d.data):len(d.data)], true, nil
}
