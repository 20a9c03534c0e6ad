// Package gateway is the Kafka server: sockets, framing, the table of APIs and
// one handler file per family of them.
//
// A connection has one reader, which takes frames in order, and one writer,
// which sends replies in the order of the requests. What a request does in
// between is its handler's choice: answer on the reader when nothing can wait,
// begin there and complete later (groups: their coordinator keeps the order of
// arrival), or run in a goroutine, alone or in a lane of the connection that
// runs one request after the other (produce, fetch). So a request that waits
// never holds up the reader, while what must be in order stays in order.
//
// The package knows Kafka; what a topic, a write or a commit means to DIS is
// behind the interfaces of Parts.
package gateway
