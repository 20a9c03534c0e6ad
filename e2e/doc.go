// Package e2e holds the end-to-end tests: they run the real binary as its own
// process and drive it with unmodified Kafka clients, the Go ones in the test
// and the others as programs. They also hold the promises that only a whole
// process can show: crash safety, drain, exit codes.
//
// A client that is not installed skips its tests by name; with
// REQUIRE_CLIENTS=1 it fails them. Client programs in other languages are in
// testdata/clients.
package e2e
