package gateway

import (
	"cmp"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstError is the first error code in a reply that is not 0, the general one
// before those of topics, partitions and members. The metrics count a request
// by it.
func firstError(reply kmsg.Response) int16 {
	switch r := reply.(type) {
	case *kmsg.ProduceResponse:
		return first(r.Topics, func(t *kmsg.ProduceResponseTopic) int16 {
			return first(t.Partitions, func(p *kmsg.ProduceResponseTopicPartition) int16 { return p.ErrorCode })
		})
	case *kmsg.FetchResponse:
		return cmp.Or(r.ErrorCode, first(r.Topics, func(t *kmsg.FetchResponseTopic) int16 {
			return first(t.Partitions, func(p *kmsg.FetchResponseTopicPartition) int16 { return p.ErrorCode })
		}))
	case *kmsg.ListOffsetsResponse:
		return first(r.Topics, func(t *kmsg.ListOffsetsResponseTopic) int16 {
			return first(t.Partitions, func(p *kmsg.ListOffsetsResponseTopicPartition) int16 { return p.ErrorCode })
		})
	case *kmsg.MetadataResponse:
		return cmp.Or(r.ErrorCode, first(r.Topics, func(t *kmsg.MetadataResponseTopic) int16 { return t.ErrorCode }))
	case *kmsg.OffsetCommitResponse:
		return first(r.Topics, func(t *kmsg.OffsetCommitResponseTopic) int16 {
			return first(t.Partitions, func(p *kmsg.OffsetCommitResponseTopicPartition) int16 { return p.ErrorCode })
		})
	case *kmsg.OffsetFetchResponse:
		return offsetFetchError(r)
	case *kmsg.FindCoordinatorResponse:
		return cmp.Or(r.ErrorCode, first(r.Coordinators, func(c *kmsg.FindCoordinatorResponseCoordinator) int16 { return c.ErrorCode }))
	case *kmsg.JoinGroupResponse:
		return r.ErrorCode
	case *kmsg.SyncGroupResponse:
		return r.ErrorCode
	case *kmsg.HeartbeatResponse:
		return r.ErrorCode
	case *kmsg.LeaveGroupResponse:
		return cmp.Or(r.ErrorCode, first(r.Members, func(m *kmsg.LeaveGroupResponseMember) int16 { return m.ErrorCode }))
	case *kmsg.DescribeGroupsResponse:
		return first(r.Groups, func(g *kmsg.DescribeGroupsResponseGroup) int16 { return g.ErrorCode })
	case *kmsg.ListGroupsResponse:
		return r.ErrorCode
	case *kmsg.ConsumerGroupHeartbeatResponse:
		return r.ErrorCode
	case *kmsg.ConsumerGroupDescribeResponse:
		return first(r.Groups, func(g *kmsg.ConsumerGroupDescribeResponseGroup) int16 { return g.ErrorCode })
	case *kmsg.DeleteGroupsResponse:
		return first(r.Groups, func(g *kmsg.DeleteGroupsResponseGroup) int16 { return g.ErrorCode })
	case *kmsg.OffsetDeleteResponse:
		return cmp.Or(r.ErrorCode, first(r.Topics, func(t *kmsg.OffsetDeleteResponseTopic) int16 {
			return first(t.Partitions, func(p *kmsg.OffsetDeleteResponseTopicPartition) int16 { return p.ErrorCode })
		}))
	case *kmsg.CreateTopicsResponse:
		return first(r.Topics, func(t *kmsg.CreateTopicsResponseTopic) int16 { return t.ErrorCode })
	case *kmsg.DeleteTopicsResponse:
		return first(r.Topics, func(t *kmsg.DeleteTopicsResponseTopic) int16 { return t.ErrorCode })
	case *kmsg.CreatePartitionsResponse:
		return first(r.Topics, func(t *kmsg.CreatePartitionsResponseTopic) int16 { return t.ErrorCode })
	case *kmsg.AlterConfigsResponse:
		return first(r.Resources, func(a *kmsg.AlterConfigsResponseResource) int16 { return a.ErrorCode })
	case *kmsg.IncrementalAlterConfigsResponse:
		return first(r.Resources, func(a *kmsg.IncrementalAlterConfigsResponseResource) int16 { return a.ErrorCode })
	case *kmsg.DescribeLogDirsResponse:
		return cmp.Or(r.ErrorCode, first(r.Dirs, func(d *kmsg.DescribeLogDirsResponseDir) int16 { return d.ErrorCode }))
	case *kmsg.DescribeACLsResponse:
		return r.ErrorCode
	case *kmsg.CreateACLsResponse:
		return first(r.Results, func(a *kmsg.CreateACLsResponseResult) int16 { return a.ErrorCode })
	case *kmsg.DeleteACLsResponse:
		return first(r.Results, func(a *kmsg.DeleteACLsResponseResult) int16 { return a.ErrorCode })
	case *kmsg.ListPartitionReassignmentsResponse:
		return r.ErrorCode
	case *kmsg.DescribeClientQuotasResponse:
		return r.ErrorCode
	case *kmsg.DescribeUserSCRAMCredentialsResponse:
		return cmp.Or(r.ErrorCode, first(r.Results, func(u *kmsg.DescribeUserSCRAMCredentialsResponseResult) int16 { return u.ErrorCode }))
	case *kmsg.ListConfigResourcesResponse:
		return r.ErrorCode
	case *kmsg.InitProducerIDResponse:
		return r.ErrorCode
	case *kmsg.DescribeConfigsResponse:
		return first(r.Resources, func(d *kmsg.DescribeConfigsResponseResource) int16 { return d.ErrorCode })
	case *kmsg.DescribeClusterResponse:
		return r.ErrorCode
	case *kmsg.DescribeTopicPartitionsResponse:
		return first(r.Topics, func(t *kmsg.DescribeTopicPartitionsResponseTopic) int16 { return t.ErrorCode })
	case *kmsg.ApiVersionsResponse:
		return r.ErrorCode
	}
	return 0 // no reply: Produce with acks=0
}

func offsetFetchError(r *kmsg.OffsetFetchResponse) int16 {
	return cmp.Or(
		r.ErrorCode,
		first(r.Topics, func(t *kmsg.OffsetFetchResponseTopic) int16 {
			return first(t.Partitions, func(p *kmsg.OffsetFetchResponseTopicPartition) int16 { return p.ErrorCode })
		}),
		first(r.Groups, func(g *kmsg.OffsetFetchResponseGroup) int16 {
			return cmp.Or(g.ErrorCode, first(g.Topics, func(t *kmsg.OffsetFetchResponseGroupTopic) int16 {
				return first(t.Partitions, func(p *kmsg.OffsetFetchResponseGroupTopicPartition) int16 { return p.ErrorCode })
			}))
		}),
	)
}

func first[T any](list []T, code func(*T) int16) int16 {
	for i := range list {
		if c := code(&list[i]); c != 0 {
			return c
		}
	}
	return 0
}
