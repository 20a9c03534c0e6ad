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
	return waiting(func(ctx context.Context, _ *call, req *kmsg.ListConfigResourcesRequest) (kmsg.Response, error) {
		resp := kmsg.NewPtrListConfigResourcesResponse()
		wanted := configuredTypes
		switch {
		case req.Version == 0:
			wanted = []kmsg.ConfigResourceType{kmsg.ConfigResourceTypeClientMetrics}
		case len(req.ResourceTypes) > 0:
			wanted = nil
			for _, t := range req.ResourceTypes { // each once, however often it is named
				if kind := kmsg.ConfigResourceType(t); !slices.Contains(wanted, kind) {
					wanted = append(wanted, kind)
				}
			}
		}
		for _, kind := range wanted {
			names, failure := configuredNames(ctx, catalog, kind)
			if failure != 0 {
				resp.ErrorCode, resp.ConfigResources = failure, nil
				return resp, nil
			}
			for _, name := range names {
				resp.ConfigResources = append(resp.ConfigResources, kmsg.ListConfigResourcesResponseConfigResource{Name: name, Type: int8(kind)})
			}
		}
		return resp, nil
	})
}

func configuredNames(ctx context.Context, catalog Catalog, kind kmsg.ConfigResourceType) (names []string, failure int16) {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		all, err := catalog.Topics(ctx)
		if err != nil {
			return nil, translate.KafkaError(translate.CallDescribeConfigs, err).Code
		}
		for _, topic := range all {
			names = append(names, topic.Name)
		}
		return names, 0
	case kmsg.ConfigResourceTypeBroker, kmsg.ConfigResourceTypeBrokerLogger:
		return []string{strconv.Itoa(nodeID)}, 0
	case kmsg.ConfigResourceTypeClientMetrics, kmsg.ConfigResourceTypeGroupConfig:
		return nil, 0
	}
	return nil, unsupportedVersion
}
