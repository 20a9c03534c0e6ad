package gateway

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestACLsAreDisabled(t *testing.T) {
	c := dial(t, newBench(t, full).listen())
	var messages []*string
	described := c.ask(smallRequest(kmsg.DescribeACLs, 3)).(*kmsg.DescribeACLsResponse)
	messages = append(messages, described.ErrorMessage)
	create := smallRequest(kmsg.CreateACLs, 3).(*kmsg.CreateACLsRequest)
	create.Creations = append(create.Creations, create.Creations[0])
	created := c.ask(create).(*kmsg.CreateACLsResponse)
	for _, result := range created.Results {
		messages = append(messages, result.ErrorMessage)
		if result.ErrorCode != securityDisabled {
			t.Errorf("created: error %d", result.ErrorCode)
		}
	}
	remove := smallRequest(kmsg.DeleteACLs, 3).(*kmsg.DeleteACLsRequest)
	remove.Filters = append(remove.Filters, remove.Filters[0])
	deleted := c.ask(remove).(*kmsg.DeleteACLsResponse)
	for _, result := range deleted.Results {
		messages = append(messages, result.ErrorMessage)
		if result.ErrorCode != securityDisabled || len(result.MatchingACLs) != 0 {
			t.Errorf("deleted: %+v", result)
		}
	}
	if described.ErrorCode != securityDisabled || len(described.Resources) != 0 || len(messages) != 5 {
		t.Errorf("described %+v, %d messages", described, len(messages))
	}
	for _, message := range messages {
		if message == nil || !strings.Contains(*message, "DIS permissions") {
			t.Errorf("message %v", message)
		}
	}
}

func TestNothingMovesAndNoQuotaIsSet(t *testing.T) {
	c := dial(t, newBench(t).listen())
	list := kmsg.NewPtrListPartitionReassignmentsRequest()
	list.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: "t", Partitions: []int32{0, 9}}}
	if resp := c.ask(list).(*kmsg.ListPartitionReassignmentsResponse); resp.ErrorCode != 0 || resp.ErrorMessage != nil || len(resp.Topics) != 0 {
		t.Errorf("reassignments %+v", resp)
	}
	for version := int16(0); version <= 1; version++ {
		quotas := kmsg.NewPtrDescribeClientQuotasRequest()
		quotas.Version, quotas.Components = version, []kmsg.DescribeClientQuotasRequestComponent{{EntityType: "user", MatchType: kmsg.QuotasMatchTypeAny}}
		if resp := c.ask(quotas).(*kmsg.DescribeClientQuotasResponse); resp.ErrorCode != 0 || resp.ErrorMessage != nil || resp.Entries == nil || len(resp.Entries) != 0 {
			t.Errorf("quotas, version %d: %+v", version, resp)
		}
	}
}

func TestNoUserHasScramCredentials(t *testing.T) {
	c := dial(t, newBench(t).listen())
	req := kmsg.NewPtrDescribeUserSCRAMCredentialsRequest()
	if resp := c.ask(req).(*kmsg.DescribeUserSCRAMCredentialsResponse); resp.ErrorCode != 0 || len(resp.Results) != 0 {
		t.Errorf("all users: %+v", resp)
	}
	req.Users = []kmsg.DescribeUserSCRAMCredentialsRequestUser{{Name: "alice"}}
	resp := c.ask(req).(*kmsg.DescribeUserSCRAMCredentialsResponse)
	if resp.ErrorCode != 0 || len(resp.Results) != 1 || resp.Results[0].User != "alice" || resp.Results[0].ErrorCode != resourceNotFound || resp.Results[0].ErrorMessage == nil {
		t.Errorf("alice: %+v", resp)
	}
}

func TestListConfigResources(t *testing.T) {
	b := newBench(t)
	b.catalog.topics["u"] = topicOf("u", 1)
	c := dial(t, b.listen())
	type resources []struct {
		Type kmsg.ConfigResourceType
		Name string
	}
	topics := resources{{2, "t"}, {2, "u"}}
	brokers := resources{{4, "1"}, {8, "1"}}
	for _, tc := range []struct {
		name    string
		version int16
		types   []int8
		code    int16
		want    resources
	}{
		{"client metrics", 0, nil, 0, nil},
		{"all", 1, nil, 0, append(topics[:2:2], brokers...)},
		{"topics", 1, []int8{2}, 0, topics},
		{"brokers", 1, []int8{4}, 0, brokers[:1]},
		{"a type more than once", 1, []int8{2, 4, 2, 2}, 0, append(topics[:2:2], brokers[0])},
		{"groups and client metrics", 1, []int8{32, 16}, 0, nil},
		{"of no type", 1, []int8{2, 99}, unsupportedVersion, nil},
	} {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.Version, req.ResourceTypes = tc.version, tc.types
		resp := c.ask(req).(*kmsg.ListConfigResourcesResponse)
		var got resources
		for _, r := range resp.ConfigResources {
			got = append(got, struct {
				Type kmsg.ConfigResourceType
				Name string
			}{kmsg.ConfigResourceType(r.Type), r.Name})
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || resp.ErrorCode != tc.code {
			t.Errorf("%s: error %d, %s", tc.name, resp.ErrorCode, diff)
		}
	}
	b.catalog.list = errors.New("no list")
	req := kmsg.NewPtrListConfigResourcesRequest()
	req.Version = 1
	if code := firstError(c.ask(req)); code != requestTimedOut {
		t.Errorf("without a list: error %d", code)
	}
}
