package gateway

import "github.com/twmb/franz-go/pkg/kmsg"

// InitProducerId
//
//	v0 (KIP-98) a producer id for idempotence or transactions
//	v1 throttling after the reply (KIP-219), same layout
//	v2 flexible
//	v3 (KIP-360) the client may name the id and epoch it has
//	v4 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH, same layout
//
// The id is new each time, also to a client that names the one it has: only a
// transactional id would keep it, as in Kafka. No gateway gives it out again, but
// what was written under it is remembered in this process alone. A transactional
// id is refused with the code that ends the client's attempt at once (its text
// says "not authorised": the explanation was in the answer to FindCoordinator).
func handleInitProducerID(producer Producer) handler {
	return atOnce(func(_ *call, req *kmsg.InitProducerIDRequest) kmsg.Response {
		resp := kmsg.NewPtrInitProducerIDResponse()
		resp.ProducerID, resp.ProducerEpoch = -1, -1
		switch {
		case req.TransactionalID != nil && *req.TransactionalID == "":
			resp.ErrorCode = invalidRequest
		case req.TransactionalID != nil:
			resp.ErrorCode = transactionalIDNotAuthorized
		case (req.ProducerID < 0) != (req.ProducerEpoch < 0):
			resp.ErrorCode = invalidRequest
		default:
			resp.ProducerID, resp.ProducerEpoch = producer.NewProducerID()
		}
		return resp
	})
}
