// Package wire holds what travels between a DIS client and a DIS server: the
// bodies of the REST API, its error codes and limits, and the text forms of its
// identifiers (partition ids, sequence number ranges, hash ranges, cursors).
//
// The client (package dis) and the embedded server (package embedded) share
// this package and nothing else, so a body that one of them misreads fails in
// the other's tests. It knows nothing of HTTP, signing or Kafka.
//
// The three bodies that carry records have a decoder of their own, and puts an
// encoder, several times faster than encoding/json; everything they are not made
// for falls back to it, so that the results are always the same. The same three
// may travel as protobuf, which is cheaper still: no base64, and the decoders
// leave the data where they are.
//
// Field names, limits and texts follow the DIS API reference and the official
// Java, Go and Python SDKs. Times are milliseconds since the Unix epoch unless
// a name says otherwise.
package wire
