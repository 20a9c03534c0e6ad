package gateway

import (
	"github.com/twmb/franz-go/pkg/kmsg"
)

// endpointBrokers is the kind of endpoint that this listener is; the other one
// are the controllers of a KRaft quorum.
const endpointBrokers = 1

// DescribeCluster
//
//	v0 (KIP-700) the brokers, the controller and the cluster id
//	v1 (KIP-919) brokers or controllers
func handleDescribeCluster(cfg Config) handler {
	return atOnce(func(c *call, req *kmsg.DescribeClusterRequest) kmsg.Response {
		resp := kmsg.NewPtrDescribeClusterResponse()
		resp.ClusterID, resp.ControllerID = cfg.ClusterID, nodeID
		if req.Version >= 1 && req.EndpointType != endpointBrokers {
			resp.ErrorCode = unsupportedEndpointType
			resp.ErrorMessage = kmsg.StringPtr("this gateway has no controllers of its own: ask for brokers")
			return resp
		}
		if req.IncludeClusterAuthorizedOperations {
			resp.ClusterAuthorizedOperations = clusterOperations(cfg.TopicAdmin)
		}
		broker := kmsg.NewDescribeClusterResponseBroker()
		broker.NodeID = nodeID
		broker.Host, broker.Port = c.broker()
		resp.Brokers = append(resp.Brokers, broker)
		return resp
	})
}

// operations is a set of kmsg.ACLOperation as authorised-operations fields
// carry it (KIP-430).
func operations(allowed ...kmsg.ACLOperation) int32 {
	var set int32
	for _, op := range allowed {
		set |= 1 << op
	}
	return set
}

// clusterOperations are what a client may do to the cluster.
func clusterOperations(admin TopicAdmin) int32 {
	set := operations(kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs, kmsg.ACLOperationIdempotentWrite)
	if admin.mayCreate() {
		set |= operations(kmsg.ACLOperationCreate)
	}
	return set
}

// topicOperations are what a client may do to any topic.
func topicOperations(admin TopicAdmin) int32 {
	set := operations(kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs)
	if admin.mayAlter() {
		set |= operations(kmsg.ACLOperationAlter, kmsg.ACLOperationAlterConfigs)
	}
	if admin.mayDelete() {
		set |= operations(kmsg.ACLOperationDelete)
	}
	return set
}
