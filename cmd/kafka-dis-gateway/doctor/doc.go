// Package doctor examines whether a gateway would work with its settings, and says
// what to do where it would not.
//
// The examination is a table of checks (table.go), each with a name, the checks
// that it needs and a time limit, run one after the other. A check whose needs are
// not met is skipped and says which; one that does not end is given up, so nothing
// that hangs holds up the rest. A check reads only what the checks that it needs
// have found, which is why one that was given up and still runs harms nobody.
//
// Name resolution, connection, certificate, clock and identity are five views of
// one call to each endpoint of DIS, made by the client that the gateway uses, with
// its proxy and its certificates: what is found is what the gateway would meet.
//
// Nothing is changed, neither here nor in DIS, unless Config.WriteTest names a
// stream.
package doctor
