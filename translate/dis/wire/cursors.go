package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CursorType selects where a cursor starts.
type CursorType string

// The cursor types of the API. An empty type means AT_SEQUENCE_NUMBER.
const (
	CursorAtSequence    CursorType = "AT_SEQUENCE_NUMBER"
	CursorAfterSequence CursorType = "AFTER_SEQUENCE_NUMBER"
	CursorTrimHorizon   CursorType = "TRIM_HORIZON"
	CursorLatest        CursorType = "LATEST"
	CursorAtTimestamp   CursorType = "AT_TIMESTAMP"
)

// CursorLifetime is how long a cursor may be used after it was issued.
const CursorLifetime = 5 * time.Minute

// CursorResponse is the answer of GET /v2/{project}/cursors.
type CursorResponse struct {
	PartitionCursor string `json:"partition_cursor"`
}

// Cursor is the content of a partition cursor. Clients may treat the text as
// opaque, but the Kafka adapter decodes it to answer offsetsForTimes, so
// StartingSequenceNumber is the resolved position for every type.
type Cursor struct {
	StreamName             string
	StreamID               string
	PartitionID            string
	Type                   CursorType
	StartingSequenceNumber int64
	Timestamp              *int64
	IssuedAt               int64 // ms
}

type cursorJSON struct {
	Param             cursorParam `json:"getIteratorParam"`
	GenerateTimestamp int64       `json:"generateTimestamp"`
}

type cursorParam struct {
	StreamName             string     `json:"stream-name"`
	StreamID               string     `json:"stream-id,omitempty"`
	PartitionID            string     `json:"partition-id"`
	CursorType             CursorType `json:"cursor-type"`
	StartingSequenceNumber string     `json:"starting-sequence-number"`
	Timestamp              *int64     `json:"timestamp,omitempty"`
}

// Encode gives the cursor's text: unpadded URL-safe base64 of its JSON, since
// the Java SDK puts it into the query without escaping.
func (c Cursor) Encode() string {
	text, err := json.Marshal(cursorJSON{
		Param: cursorParam{
			StreamName:             c.StreamName,
			StreamID:               c.StreamID,
			PartitionID:            c.PartitionID,
			CursorType:             c.Type,
			StartingSequenceNumber: strconv.FormatInt(c.StartingSequenceNumber, 10),
			Timestamp:              c.Timestamp,
		},
		GenerateTimestamp: c.IssuedAt,
	})
	if err != nil { // strings and integers always marshal
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// DecodeCursor reads the text that Encode writes, with or without padding.
func DecodeCursor(text string) (Cursor, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return Cursor{}, fmt.Errorf("decode cursor: %w", err)
	}
	var body cursorJSON
	if err := json.Unmarshal(raw, &body); err != nil {
		return Cursor{}, fmt.Errorf("decode cursor: %w", err)
	}
	start, err := strconv.ParseInt(body.Param.StartingSequenceNumber, 10, 64)
	if err != nil {
		return Cursor{}, fmt.Errorf("decode cursor: starting-sequence-number: %w", err)
	}
	return Cursor{
		StreamName:             body.Param.StreamName,
		StreamID:               body.Param.StreamID,
		PartitionID:            body.Param.PartitionID,
		Type:                   body.Param.CursorType,
		StartingSequenceNumber: start,
		Timestamp:              body.Param.Timestamp,
		IssuedAt:               body.GenerateTimestamp,
	}, nil
}
