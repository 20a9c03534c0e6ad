// Package dis is a client of the DIS REST API.
//
// One Client serves one project of one region with one source of credentials. A
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
// Who calls is proved by a signature, in the scheme of the DIS SDKs or that of the
// v3 SDKs, or by an IAM token. The keys come from the environment, a file that is
// read again when it changes, or the metadata service of the cloud host; a Client
// asks its source once per attempt, so new keys count from the next attempt on.
//
// Bodies go through package wire and nothing else; the client never looks into
// a record. Records travel as protobuf or JSON, and every body can be compressed;
// the signature covers what leaves. The form of an answer is its own word, so a
// service that knows only JSON is understood. Memory of request and answer bodies
// is pooled: a body of a thousand records is about a megabyte, and hundreds of
// them per second would otherwise keep the garbage collector busy. The one
// exception is a protobuf answer with records, whose data stay where they arrived.
package dis
