// Package dis is a client of the DIS REST API.
//
// One Client serves one project of one region with one set of credentials. A
// call is encoded once and then attempted up to RetryPolicy.Attempts times;
// each attempt is dated and signed anew over the bytes that leave, so a repeat
// after a long wait is not refused for its age. What may be repeated is decided
// per call: reads always; writes that end in the same state however often they
// arrive likewise; creating and deleting too, where the repeat's "exists" or
// "does not exist" after an attempt of unknown outcome counts as success.
// PutRecords is the exception: DIS has no way to recognise a record that it
// already has, so only the caller, who knows the order of its records, can
// decide to send again.
//
// Every failure is an *Error. Its NotProcessed separates "surely nothing
// happened" from "nobody knows", which a producer has to tell its clients.
//
// Bodies go through package wire and nothing else; the client never looks into
// a record. Memory of request and answer bodies is pooled: a body of a thousand
// records is about a megabyte, and hundreds of them per second would otherwise
// keep the garbage collector busy.
package dis
