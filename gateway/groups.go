package gateway

import (
	"context"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/groupcoord"
)

// The group requests go to the coordinator as they came; the server adds who
// asks. Their versions:
//
//	FindCoordinator  v1 coordinator type, error message; v2 throttling after
//	                 the reply (KIP-219); v3 flexible; v4 several keys (KIP-699)
//	JoinGroup        v1 rebalance timeout; v4 MEMBER_ID_REQUIRED (KIP-394);
//	                 v5 static members (KIP-345); v6 flexible; v7 protocol type
//	                 in the reply (KIP-559); v8 reason (KIP-800); v9 the leader
//	                 may be told to skip the assignment (KIP-814)
//	SyncGroup        v3 static members; v4 flexible; v5 protocol type and name
//	Heartbeat        v3 static members; v4 flexible
//	LeaveGroup       v3 several members; v4 flexible; v5 reason
//	OffsetCommit     v1 generation and member; v2 retention (ignored, gone in
//	                 v5); v6 leader epoch; v7 static members; v8 flexible; v9
//	                 member epochs (KIP-848)
//	OffsetFetch      v2 all topics, group error; v5 leader epoch; v6 flexible;
//	                 v7 stable offsets only (KIP-447); v8 several groups; v9
//	                 member epochs (KIP-848)
//	DescribeGroups   v3 authorised operations; v4 static members; v5 flexible;
//	                 v6 an error for a group that does not exist (KIP-1043)
//	ListGroups       v3 flexible; v4 states in reply and filter (KIP-518); v5
//	                 types in both (KIP-848)
//	DeleteGroups     v2 flexible
//	OffsetDelete     v0 alone (KIP-496)
//	ConsumerGroupHeartbeat  v1 patterns, member ids made by clients (KIP-848)
//	ConsumerGroupDescribe   v1 the protocol of each member (KIP-848)

// coordinated begins a group request on the reader, which keeps the order of
// arrival; the coordinator replies when it can.
func coordinated[Q kmsg.Request, R kmsg.Response](groups Groups, begin func(Groups, context.Context, groupcoord.Client, Q, func(R))) handler {
	return func(c *call, req kmsg.Request) {
		begin(groups, c.ctx(), c.client(), req.(Q), func(resp R) { c.reply(resp) })
	}
}

// lasting is coordinated for what must be carried out even when the client does
// not wait for the reply, as many do when they leave.
func lasting[Q kmsg.Request, R kmsg.Response](groups Groups, begin func(Groups, context.Context, groupcoord.Client, Q, func(R))) handler {
	return func(c *call, req kmsg.Request) {
		begin(groups, c.detached(), c.client(), req.(Q), func(resp R) { c.reply(resp) })
	}
}

// asked is coordinated for what may ask for much: few of them at a time.
func asked[Q kmsg.Request, R kmsg.Response](groups Groups, begin func(Groups, context.Context, groupcoord.Client, Q, func(R))) handler {
	return func(c *call, req kmsg.Request) {
		c.ask(func() {
			begin(groups, c.ctx(), c.client(), req.(Q), func(resp R) { c.reply(resp) })
		})
	}
}

// coordinatorTypeGroup is the only type served; 1 is the transaction
// coordinator.
const (
	coordinatorTypeGroup       = 0
	coordinatorTypeTransaction = 1
)

// handleFindCoordinator names this gateway as the coordinator of every group that
// it can keep.
//
// For a transactional id the answer must end the client's search at once and
// say why. CLUSTER_AUTHORIZATION_FAILED is the code that is final in every
// client and whose message they print; others are retried until a timeout.
func handleFindCoordinator(cfg Config) handler {
	return atOnce(func(c *call, req *kmsg.FindCoordinatorRequest) kmsg.Response {
		resp := kmsg.NewPtrFindCoordinatorResponse()
		if req.Version >= 4 {
			for _, key := range req.CoordinatorKeys {
				resp.Coordinators = append(resp.Coordinators, coordinatorOf(cfg, c, req.CoordinatorType, key))
			}
			return resp
		}
		found := coordinatorOf(cfg, c, req.CoordinatorType, req.CoordinatorKey)
		resp.NodeID, resp.Host, resp.Port = found.NodeID, found.Host, found.Port
		resp.ErrorCode, resp.ErrorMessage = found.ErrorCode, found.ErrorMessage
		return resp
	})
}

func coordinatorOf(cfg Config, c *call, coordinatorType int8, key string) kmsg.FindCoordinatorResponseCoordinator {
	found := kmsg.NewFindCoordinatorResponseCoordinator()
	found.Key = key
	switch coordinatorType {
	case coordinatorTypeGroup:
		if found.ErrorCode, found.ErrorMessage = cfg.groupRefusal(key); found.ErrorCode == 0 {
			found.NodeID = nodeID
			found.Host, found.Port = c.broker()
			return found
		}
	case coordinatorTypeTransaction:
		found.ErrorCode, found.ErrorMessage = clusterAuthorizationFailed, kmsg.StringPtr(noTransactions)
	default:
		found.ErrorCode, found.ErrorMessage = invalidRequest, kmsg.StringPtr("unknown coordinator type")
	}
	found.NodeID, found.Port = -1, -1
	return found
}

// groupRefusal is why a group has no coordinator here, in codes that are final in
// every client.
func (c Config) groupRefusal(group string) (code int16, message *string) {
	if c.GroupsOff {
		return groupAuthorizationFailed, kmsg.StringPtr("this gateway serves no consumer groups (--groups=off)")
	}
	if c.CheckGroup == nil {
		return 0, nil
	}
	if err := c.CheckGroup(group); err != nil {
		return invalidGroupID, kmsg.StringPtr(err.Error())
	}
	return 0, nil
}
