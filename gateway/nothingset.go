package gateway

import (
	"context"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// What Kafka's tools ask for on the way to their own job, and what there is
// nothing of here: they fail where the API is missing, and show an empty list
// where it is not.

// ListPartitionReassignments v0 (KIP-455): no partition moves from one broker to
// another. kafka-topics --describe asks.
func handleListPartitionReassignments() handler {
	return atOnce(func(*call, *kmsg.ListPartitionReassignmentsRequest) kmsg.Response {
		return kmsg.NewPtrListPartitionReassignmentsResponse()
	})
}

// DescribeClientQuotas: none are set. kafka-configs --describe asks for users,
// clients and addresses.
//
//	v0 (KIP-546)
//	v1 flexible
func handleDescribeClientQuotas() handler {
	return atOnce(func(*call, *kmsg.DescribeClientQuotasRequest) kmsg.Response {
		resp := kmsg.NewPtrDescribeClientQuotasResponse()
		resp.Entries = []kmsg.DescribeClientQuotasResponseEntry{} // null would say that there was an error
		return resp
	})
}

// DescribeUserScramCredentials v0 (KIP-554): no users are kept where Kafka clients
// could see or change them. kafka-configs --describe asks for users.
func handleDescribeUserSCRAMCredentials() handler {
	return atOnce(func(_ *call, req *kmsg.DescribeUserSCRAMCredentialsRequest) kmsg.Response {
		resp := kmsg.NewPtrDescribeUserSCRAMCredentialsResponse()
		for _, user := range req.Users {
			result := kmsg.NewDescribeUserSCRAMCredentialsResponseResult()
			result.User = user.Name
			result.ErrorCode, result.ErrorMessage = resourceNotFound, kmsg.StringPtr("this gateway keeps no users that Kafka clients can see")
			resp.Results = append(resp.Results, result)
		}
		return resp
	})
}

// configuredTypes are the types of resources that can be listed, in this order.
var configuredTypes = []kmsg.ConfigResourceType{
	kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger,
	kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig,
}

// ListConfigResources
//
//	v0 (KIP-714) of client metrics alone, then called ListClientMetricsResources
//	v1 (KIP-1142) of the types that are named, or of all
//
// kafka-configs --describe asks for client metrics and groups, of which none have
// a configuration here.
func handleListConfigResources(catalog Catalog) handler {
	return waiting(func(ctx context.Context, c *call, req *kmsg.ListConfigResourcesRequest) (kmsg.Response, error) {
		resp := kmsg.NewPtrListConfigResourcesResponse()
		var wanted []kmsg.ConfigResourceType
		for _, t := range req.ResourceTypes {
			wanted = append(wanted, kmsg.ConfigResourceType(t))
		}
		for _, t := range wanted {
			if !slices.Contains(configuredTypes, t) {
				resp.ErrorCode = unsupportedVersion
				return resp, nil
			}
		}
		if req.Version == 0 {
			return resp, nil
		}
		if len(wanted) == 0 {
			wanted = configuredTypes
		}
		add := func(kind kmsg.ConfigResourceType, name string) {
			resp.ConfigResources = append(resp.ConfigResources, kmsg.ListConfigResourcesResponseConfigResource{Name: name, Type: int8(kind)})
		}
		if slices.Contains(wanted, kmsg.ConfigResourceTypeTopic) {
			all, err := catalog.Topics(ctx)
			if err != nil {
				resp.ErrorCode = translate.KafkaError(translate.CallDescribeConfigs, err).Code
				return resp, nil
			}
			for _, topic := range all {
				add(kmsg.ConfigResourceTypeTopic, topic.Name)
			}
		}
		for _, kind := range []kmsg.ConfigResourceType{kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger} {
			if slices.Contains(wanted, kind) {
				add(kind, strconv.Itoa(nodeID))
			}
		}
		return resp, nil
	})
}
