package fetch

import "github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"

// uncompressed writes zstd batches again for a client that does not know the
// codec. The limits hold for what the client gets, so it may be fewer batches;
// end is the position behind them. A batch that cannot be read ends the records.
func (f *fetch) uncompressed(p *part, batches []byte, limit int, first bool) (plain []byte, end int64) {
	encoding := p.partition.encoding()
	encoding.Codec = record.CodecNone
	plain, end = []byte{}, p.want.offset
	for len(batches) > 0 {
		records, rest, err := record.ReadBatch(batches)
		if err != nil {
			f.logUnreadable(p, end, err)
			return plain, end
		}
		grown, err := encoding.AppendBatch(plain, records)
		if err != nil {
			f.logUnreadable(p, end, err)
			return plain, end
		}
		if len(grown) > limit && (!first || len(plain) > 0) {
			return plain, end
		}
		plain, batches = grown, rest
		end = records[len(records)-1].Offset + 1
	}
	return plain, end
}
