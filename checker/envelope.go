package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The envelope of docs/record-format.md, read by that page and not by the
// gateway's own code.
const (
	envelopeMagic  = "\x00KDG\x01"
	envelopeHeader = 17
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fromDIS reads a record as it is stored.
func fromDIS(r *wire.Record) (content, error) {
	if len(r.Data) < envelopeHeader || string(r.Data[:5]) != envelopeMagic {
		c := content{Value: r.Data, Timestamp: r.Timestamp}
		if r.PartitionKey != nil {
			c.Key = []byte(*r.PartitionKey)
		}
		return c, nil
	}
	if crc32.Checksum(r.Data[9:], castagnoli) != binary.BigEndian.Uint32(r.Data[5:]) {
		return content{}, errors.New("an envelope with a wrong checksum")
	}
	c := content{Timestamp: int64(binary.BigEndian.Uint64(r.Data[9:]))}
	e := envelopeReader{rest: r.Data[envelopeHeader:]}
	if length := e.varint(); length != int64(len(e.rest)) {
		return content{}, fmt.Errorf("an envelope whose record says %d bytes and has %d", length, len(e.rest))
	}
	e.take(1)  // attributes
	e.varint() // timestamp delta
	e.varint() // offset delta
	c.Key, c.Value = e.bytes(), e.bytes()
	for range e.varint() {
		if e.broken {
			break
		}
		c.Headers = append(c.Headers, kgo.RecordHeader{Key: string(e.bytes()), Value: e.bytes()})
	}
	if e.broken || len(e.rest) != 0 {
		return content{}, errors.New("an envelope that does not hold exactly one record")
	}
	return c, nil
}

type envelopeReader struct {
	rest   []byte
	broken bool
}

func (e *envelopeReader) varint() int64 {
	v, n := binary.Varint(e.rest)
	if n <= 0 {
		e.broken = true
		return 0
	}
	e.rest = e.rest[n:]
	return v
}

func (e *envelopeReader) take(n int64) []byte {
	if n < 0 || n > int64(len(e.rest)) {
		e.broken = true
		return nil
	}
	taken := e.rest[:n:n]
	e.rest = e.rest[n:]
	return taken
}

// bytes reads a length and so many bytes; nil for the length -1.
func (e *envelopeReader) bytes() []byte {
	n := e.varint()
	if n == -1 || e.broken {
		return nil
	}
	return e.take(n)
}
