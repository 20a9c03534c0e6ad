package fetch

import "github.com/kafka-dis-gateway/kafka-dis-gateway/translate/record"

// messages writes batches again as a message set for a consumer of before Kafka
// 0.11. The limits hold for what the client gets, and are met between records, so
// the set may end in the middle of a batch; end is the position behind it, and
// count the number of its whole records. The set begins at the fetch offset: unlike brokers, which serve their batches
// whole, there is no need to make the client skip.
//
// The first record of a response is served even beyond the limits. Where the
// partition's limit is a hard one the record is cut there, in every partition:
// half a message tells the client that it should have asked for more, so it must
// not come of any other limit.
func (f *fetch) messages(p *part, batches []byte, b budget) (set []byte, end int64, count int) {
	magic, encoding := f.magic(), p.partition.encoding()
	set, end = []byte{}, p.want.offset
	for len(batches) > 0 {
		records, rest, err := record.ReadBatch(batches)
		if err != nil {
			f.logUnreadable(p, end, err)
			return set, end, count
		}
		records = notBelow(records, end)
		n := fitting(records, magic, b.limit()-len(set))
		if n == 0 && len(set) == 0 && (b.first || f.hard() && b.left >= b.most) {
			n = min(1, len(records))
		}
		if n > 0 {
			if set, err = encoding.AppendMessageSet(set, magic, records[:n]); err != nil {
				f.logUnreadable(p, end, err)
				return set, end, count
			}
			end = records[n-1].Offset + 1
			count += n
		}
		if n < len(records) {
			break
		}
		batches = rest
	}
	if f.hard() && len(set) > b.most {
		return set[:max(b.most, 0)], p.want.offset, 0
	}
	return set, end, count
}

// magic is the message format of the request's version.
func (f *fetch) magic() int8 {
	if f.request.Version < magic1Version {
		return 0
	}
	return 1
}

func notBelow(records []record.Positioned, offset int64) []record.Positioned {
	for len(records) > 0 && records[0].Offset < offset {
		records = records[1:]
	}
	return records
}

// fitting is how many of the records fit into the room as messages.
func fitting(records []record.Positioned, magic int8, room int) int {
	for i := range records {
		if room -= record.MessageBytes(magic, &records[i].Record); room < 0 {
			return i
		}
	}
	return len(records)
}

// logUnreadable tells of a batch that cannot be written again. Batches are the
// engine's own work, so that is a bug.
func (f *fetch) logUnreadable(p *part, offset int64, err error) {
	f.engine.cfg.Logger.Error().Err(err).Str("topic", p.partition.stream.topic.Name).
		Int32("partition", p.partition.number).Int64("offset", offset).Msg("cannot rewrite a batch for an old client")
}
