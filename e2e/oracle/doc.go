// Package oracle runs scripted scenarios on the Kafka wire against any server
// and writes down what it answers. The transcripts of a real Apache Kafka broker
// are the golden files in testdata/oracle/golden; the gateway has to give the
// same, but for the differences listed in this package, each with its reason.
// docs/compatibility.md is made of the same list. The tests that compare are in
// package e2e.
//
// A scenario is a function over a *Run. It speaks through named connections:
//
//	func nullValue(r *Run) {
//		r.Topic("t", 1)
//		c := r.Conn("c")
//		c.Produce("a record without a value", "t", 0, Batch{Records: []Record{{Key: []byte("k")}}})
//		c.FetchAll("what is there", "t", 0)
//	}
//
// Each call with a label is a step of the transcript. What has no label is not
// written down. For what no helper builds there is Conn.Ask with any request of
// kmsg, and Conn.Raw with any bytes. Requests that wait are begun with
// Conn.Begin, several at once if need be, and written down when Pending.Wait
// returns, so that transcripts do not depend on who was faster.
//
// Members of groups: Run.Group, Group.Member, and the methods of Member.
//
// A transcript holds nothing that differs from run to run. Names that Run.Name
// made are shown without the prefix that keeps scenarios apart; member, producer
// and topic ids, ports and the cluster id are shown as M1, P1, T1 and so on in
// the order in which they appear, or by the name of the Member that they belong
// to; ids of topics that Run.Topic made are id(name); times close to now are
// "now". Elements of arrays are shown in an order of their own. Left out are
// throttle times, the texts of errors, tagged fields, and fields that have the
// value of "not told" (-1 where it is the default, null, empty, false).
package oracle
