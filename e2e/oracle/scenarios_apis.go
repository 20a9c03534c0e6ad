package oracle

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// apiScenarios: the small requests of every client, and what is no request.
var apiScenarios = []Scenario{
	{"api-versions", "ApiVersions, also of versions that are too high", apiVersions},
	{"init-producer-id", "producer ids", initProducerID},
	{"find-coordinator", "coordinators of groups and of what is none", findCoordinator},
	{"no-requests", "bytes that are no request", noRequests},
}

func apiVersions(r *Run) {
	c := r.Conn("c")
	show := func(label string, resp kmsg.Response) {
		answer, ok := resp.(*kmsg.ApiVersionsResponse)
		if !ok {
			r.Note(label, "connection closed")
			return
		}
		tellsItself := slices.ContainsFunc(answer.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool {
			return k.ApiKey == kmsg.ApiVersions.Int16()
		})
		r.Note(label, "version %d of the answer: %s, the range of ApiVersions: %t", answer.Version, codeName(answer.ErrorCode), tellsItself)
	}
	request := func(version int16, name, software string) *kmsg.ApiVersionsRequest {
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = version, name, software
		return req
	}
	for v := range int16(5) {
		show(fmt.Sprintf("ApiVersions %d", v), c.Ask("", request(v, "oracle", "1.0")))
	}
	show("software without a name", c.Ask("", request(3, "", "1.0")))
	show("software with a strange name", c.Ask("", request(3, "a b", "1.0")))
	show("software with a strange version", c.Ask("", request(3, "oracle", "-1-")))
	tooHigh := request(4, "oracle", "1.0")
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")).AppendRequest(nil, tooHigh, correlationID)[4:]
	frame[3] = 99 // the version
	show("ApiVersions 99", c.RawAsk("", frame, tooHigh))
	show("and the connection goes on", c.Ask("", request(3, "oracle", "1.0")))
}

func initProducerID(r *Run) {
	c := r.Conn("c")
	request := func(version int16, id int64, epoch int16) *kmsg.InitProducerIDRequest {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version, req.ProducerID, req.ProducerEpoch, req.TransactionTimeoutMillis = version, id, epoch, 60_000
		return req
	}
	for v := range int16(5) {
		c.Ask(fmt.Sprintf("InitProducerId %d", v), request(v, -1, -1))
	}
	id := c.newProducer("an id")
	c.Ask("with an id and epoch", request(4, id, 0))
	c.Ask("with the last epoch", request(4, id, 32767))
	c.Ask("an id without an epoch", request(4, id, -1))
	c.Ask("an epoch without an id", request(4, -1, 0))
	transactional := request(4, -1, -1)
	transactional.TransactionalID = kmsg.StringPtr(r.Name("txn"))
	c.Ask("for transactions", transactional)
	transactional.TransactionalID = kmsg.StringPtr("")
	c.Ask("for transactions of an empty id", transactional)
}

func findCoordinator(r *Run) {
	c := r.Conn("c")
	request := func(version int16, kind int8, key string) *kmsg.FindCoordinatorRequest {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.Version, req.CoordinatorType, req.CoordinatorKey, req.CoordinatorKeys = version, kind, key, []string{key}
		return req
	}
	for v := range int16(5) {
		c.Ask(fmt.Sprintf("FindCoordinator %d", v), request(v, 0, r.Name("g")))
	}
	several := request(4, 0, r.Name("g"))
	several.CoordinatorKeys = append(several.CoordinatorKeys, r.Name("h"), r.Name("i"))
	c.Ask("several groups", several)
	c.Ask("a group without a name", request(4, 0, ""))
	c.Ask("of a transaction", request(4, 1, r.Name("txn")))
	c.Ask("of a transaction, version 2", request(2, 1, r.Name("txn")))
	c.Ask("of what is none", request(4, 9, r.Name("g")))
	c.Ask("of what is none, version 2", request(2, 9, r.Name("g")))
}

func noRequests(r *Run) {
	c := r.Conn("c")
	header := func(key, version byte) []byte { return []byte{0, key, 0, version, 0, 0, 0, correlationID, 0xff, 0xff} }
	c.Raw("no bytes at all", nil)
	c.Raw("half a header", header(3, 1)[:6])
	c.Raw("an API that is none", header(250, 0))
	c.Raw("a version that is none", header(3, 99))
	c.Raw("Metadata without a body", header(3, 1))
	c.Raw("Metadata with a body cut off", append(header(3, 1), 0, 0, 0, 5, 0, 1))
	c.Raw("Metadata with a null topic in version 1", append(header(3, 1), 0, 0, 0, 1, 0xff, 0xff))
	c.Raw("a length beyond the frame", append(header(3, 1), 0x7f, 0xff, 0xff, 0xff))
	c.Raw("Produce without a body", header(0, 9))
}
