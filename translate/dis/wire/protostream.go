package wire

// The embedded server writes its answers record by record, as they come out of
// its store: the four functions append what AppendProtoPutRecordsResponse and
// AppendProtoGetRecordsResponse are made of. Fields may come in any order.

// AppendProtoFailedCount appends the number of refused records of a put's results.
func AppendProtoFailedCount(dst []byte, count int) []byte {
	return appendInteger(dst, fieldFailedCount, int64(count))
}

// AppendProtoPutResult appends one of a put's results.
func AppendProtoPutResult(dst []byte, r *PutResult) []byte {
	return appendMessage(dst, fieldPutResults, r, sizePutResult, appendProtoPutResult)
}

// AppendProtoNextCursor appends the cursor behind the records read.
func AppendProtoNextCursor(dst []byte, cursor string) []byte {
	return appendText(dst, fieldNextCursor, cursor)
}

// AppendProtoRecord appends one of the records read.
func AppendProtoRecord(dst []byte, r *Record) []byte {
	return appendMessage(dst, fieldRecords, r, sizeRecord, appendProtoRecord)
}
