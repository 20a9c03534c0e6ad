package gateway

import "github.com/twmb/franz-go/pkg/kmsg"

// noACLs answers all that is about access lists, as a Kafka broker without an
// authorizer does: clients show it as it is, and tools that only look for lists,
// such as user interfaces and MirrorMaker, go on without them.
const noACLs = "the Kafka gateway for DIS keeps no access lists: who may do what with a stream is decided by the DIS permissions of the gateway's keys"

// DescribeAcls
//
//	v0 (KIP-140)
//	v1 (KIP-290) pattern types
//	v2 flexible
//	v3 (KIP-373) user resources, same layout
func handleDescribeACLs() handler {
	return atOnce(func(*call, *kmsg.DescribeACLsRequest) kmsg.Response {
		resp := kmsg.NewPtrDescribeACLsResponse()
		resp.ErrorCode, resp.ErrorMessage = securityDisabled, kmsg.StringPtr(noACLs)
		return resp
	})
}

// CreateAcls, with the versions of DescribeAcls.
func handleCreateACLs() handler {
	return atOnce(func(_ *call, req *kmsg.CreateACLsRequest) kmsg.Response {
		resp := kmsg.NewPtrCreateACLsResponse()
		for range req.Creations {
			result := kmsg.NewCreateACLsResponseResult()
			result.ErrorCode, result.ErrorMessage = securityDisabled, kmsg.StringPtr(noACLs)
			resp.Results = append(resp.Results, result)
		}
		return resp
	})
}

// DeleteAcls, with the versions of DescribeAcls.
func handleDeleteACLs() handler {
	return atOnce(func(_ *call, req *kmsg.DeleteACLsRequest) kmsg.Response {
		resp := kmsg.NewPtrDeleteACLsResponse()
		for range req.Filters {
			result := kmsg.NewDeleteACLsResponseResult()
			result.ErrorCode, result.ErrorMessage = securityDisabled, kmsg.StringPtr(noACLs)
			resp.Results = append(resp.Results, result)
		}
		return resp
	})
}
