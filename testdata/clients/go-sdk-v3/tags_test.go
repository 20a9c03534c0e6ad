package gosdkv3

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	dis "github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2"
	"github.com/huaweicloud/huaweicloud-sdk-go-v3/services/dis/v2/model"
)

// tags reads "key=value" texts.
func tags(texts ...string) []model.Tag {
	var parsed []model.Tag
	for _, text := range texts {
		key, value, _ := strings.Cut(text, "=")
		parsed = append(parsed, model.Tag{Key: &key, Value: &value})
	}
	return parsed
}

func addTag(id, text string) *model.CreateTagRequest {
	return &model.CreateTagRequest{StreamId: id, Body: &model.CreateTagReq{Tag: &tags(text)[0]}}
}

func addTags(id string, texts ...string) *model.BatchCreateTagsRequest {
	return &model.BatchCreateTagsRequest{StreamId: id, Body: &model.BatchCreateTagsReq{
		Action: model.GetBatchCreateTagsReqActionEnum().CREATE, Tags: tags(texts...),
	}}
}

func removeTags(id string, texts ...string) *model.BatchDeleteTagsRequest {
	return &model.BatchDeleteTagsRequest{StreamId: id, Body: &model.BatchDeleteTagsReq{
		Action: model.GetBatchDeleteTagsReqActionEnum().DELETE, Tags: tags(texts...),
	}}
}

// tagsOf is the tags of a stream as sorted "key=value" texts.
func tagsOf(t *testing.T, c *dis.DisClient, id string) []string {
	t.Helper()
	answer := succeed(t, 200, c.ShowStreamTags, &model.ShowStreamTagsRequest{StreamId: id})
	texts := []string{}
	if answer.Tags != nil {
		for _, tag := range *answer.Tags {
			texts = append(texts, *tag.Key+"="+*tag.Value)
		}
	}
	slices.Sort(texts)
	return texts
}

func TestTagsOfAStream(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	id := streamID(t, c, "s")
	equalSlices(t, "of a new stream", tagsOf(t, c, id), nil)
	succeed(t, 204, c.CreateTag, addTag(id, "team=billing"))
	succeed(t, 204, c.CreateTag, addTag(id, "team=sales")) // a key is there once
	equalSlices(t, "after one", tagsOf(t, c, id), []string{"team=sales"})
	succeed(t, 204, c.BatchCreateTags, addTags(id, "stage=test", "owner=", "team=ops"))
	equalSlices(t, "after several", tagsOf(t, c, id), []string{"owner=", "stage=test", "team=ops"})
	described := describe(t, c, "s")
	equal(t, "tags that describe shows", len(*described.Tags), 3)
	succeed(t, 204, c.BatchDeleteTags, removeTags(id, "stage=test", "owner=", "never-there="))
	equalSlices(t, "after removing", tagsOf(t, c, id), []string{"team=ops"})
	succeed(t, 204, c.DeleteTag, &model.DeleteTagRequest{StreamId: id, Key: "team"})
	equalSlices(t, "after removing all", tagsOf(t, c, id), nil)
}

func TestTagsOfTheProject(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	for stream, texts := range map[string][]string{"s1": {"team=billing", "stage=test"}, "s2": {"team=sales", "stage=test"}} {
		createStream(t, c, stream, 1)
		succeed(t, 204, c.BatchCreateTags, addTags(streamID(t, c, stream), texts...))
	}
	var texts []string
	for _, tag := range *succeed(t, 200, c.ListTags, &model.ListTagsRequest{}).Tags {
		values := slices.Clone(*tag.Values)
		slices.Sort(values)
		texts = append(texts, *tag.Key+"="+strings.Join(values, "|"))
	}
	slices.Sort(texts)
	equalSlices(t, "tags", texts, []string{"stage=test", "team=billing|sales"})
}

func TestFindStreamsByTags(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	for stream, texts := range map[string][]string{
		"s1": {"team=billing", "stage=test"}, "s2": {"team=sales", "stage=test"}, "s3": {"team=sales", "stage=live"}, "s4": nil,
	} {
		createStream(t, c, stream, 1)
		if texts != nil {
			succeed(t, 204, c.BatchCreateTags, addTags(streamID(t, c, stream), texts...))
		}
	}
	actions := model.GetListResourceInstancesReqActionEnum()
	tag := func(key string, values ...string) *[]model.Tags { return &[]model.Tags{{Key: &key, Values: &values}} }
	tests := []struct {
		name   string
		filter model.ListResourceInstancesReq
		want   []string
	}{
		{"nothing said", model.ListResourceInstancesReq{}, []string{"s1", "s2", "s3", "s4"}},
		{"a value", model.ListResourceInstancesReq{Tags: tag("team", "sales")}, []string{"s2", "s3"}},
		{"one of two values", model.ListResourceInstancesReq{Tags: tag("team", "sales", "billing")}, []string{"s1", "s2", "s3"}},
		{"any value", model.ListResourceInstancesReq{Tags: tag("stage")}, []string{"s1", "s2", "s3"}},
		{"all of two keys", model.ListResourceInstancesReq{
			Tags: &[]model.Tags{(*tag("team", "sales"))[0], (*tag("stage", "test"))[0]},
		}, []string{"s2"}},
		{"any of two keys", model.ListResourceInstancesReq{
			TagsAny: &[]model.Tags{(*tag("team", "billing"))[0], (*tag("stage", "live"))[0]},
		}, []string{"s1", "s3"}},
		{"not all of two keys", model.ListResourceInstancesReq{
			NotTags: &[]model.Tags{(*tag("team", "sales"))[0], (*tag("stage", "test"))[0]},
		}, []string{"s1", "s3", "s4"}},
		{"none of the keys", model.ListResourceInstancesReq{NotTagsAny: tag("stage", "test")}, []string{"s3", "s4"}},
	}
	for _, test := range tests {
		filter, count := test.filter, test.filter
		filter.Action, count.Action = actions.FILTER, actions.COUNT
		found := succeed(t, 200, c.ListResourcesByTags, &model.ListResourcesByTagsRequest{Body: &filter})
		var names []string
		for _, resource := range *found.Resources {
			names = append(names, *resource.ResourceName)
			equal(t, "id", *resource.ResourceId, streamID(t, c, *resource.ResourceName))
		}
		slices.Sort(names)
		equalSlices(t, test.name, names, test.want)
		equal(t, "total, "+test.name, *found.TotalCount, int32(len(test.want)))
		counted := succeed(t, 200, c.ListResourcesByTags, &model.ListResourcesByTagsRequest{Body: &count})
		equal(t, "count, "+test.name, *counted.TotalCount, int32(len(test.want)))
	}

	page := &model.ListResourceInstancesReq{Action: actions.FILTER, Limit: new("2"), Offset: new("3")}
	last := succeed(t, 200, c.ListResourcesByTags, &model.ListResourcesByTagsRequest{Body: page})
	equal(t, "resources of the last page", len(*last.Resources), 1)
	equal(t, "total", *last.TotalCount, 4)
}

func TestTagsRefused(t *testing.T) {
	t.Parallel()
	c := connect(t, &unlimited)
	createStream(t, c, "s", 1)
	id := streamID(t, c, "s")
	const none = "00000000000000000000000000000000"
	refuse(t, "DIS.4603", "", c.CreateTag, addTag(none, "k=v"))
	refuse(t, "DIS.4603", "", c.ShowStreamTags, &model.ShowStreamTagsRequest{StreamId: none})
	refuse(t, "DIS.4603", "", c.BatchCreateTags, addTags(none, "k=v"))
	refuse(t, "DIS.4603", "", c.BatchDeleteTags, removeTags(none, "k=v"))
	refuse(t, "DIS.4603", "", c.DeleteTag, &model.DeleteTagRequest{StreamId: none, Key: "k"})
	refuse(t, "DIS.4604", "", c.DeleteTag, &model.DeleteTagRequest{StreamId: id, Key: "k"})
	for _, text := range []string{"=v", strings.Repeat("k", 37) + "=v", "k=" + strings.Repeat("v", 44)} {
		refuse(t, "DIS.4200", "", c.CreateTag, addTag(id, text))
		refuse(t, "DIS.4200", "", c.BatchCreateTags, addTags(id, text))
	}
	refuse(t, "DIS.4200", "", c.BatchCreateTags, addTags(id, "k=v", "k=w"))
	refuse(t, "DIS.4200", "", c.BatchDeleteTags, removeTags(id, "="))
	wrong := addTags(id, "k=v")
	if err := wrong.Body.Action.UnmarshalJSON([]byte(`"replace"`)); err != nil {
		t.Fatal(err)
	}
	refuse(t, "DIS.4605", "", c.BatchCreateTags, wrong)
	search := &model.ListResourceInstancesReq{}
	if err := search.Action.UnmarshalJSON([]byte(`"find"`)); err != nil {
		t.Fatal(err)
	}
	refuse(t, "DIS.4605", "", c.ListResourcesByTags, &model.ListResourcesByTagsRequest{Body: search})
	refuse(t, "DIS.4202", "", c.CreateTag, &model.CreateTagRequest{StreamId: id})

	for i := range 10 {
		succeed(t, 204, c.CreateTag, addTag(id, fmt.Sprintf("k%d=v", i)))
	}
	refuse(t, "DIS.4601", "", c.CreateTag, addTag(id, "one-more=v"))
	refuse(t, "DIS.4601", "", c.BatchCreateTags, addTags(id, "k0=w", "one-more=v"))
	succeed(t, 204, c.CreateTag, addTag(id, "k0=w"))
	equal(t, "tags", len(tagsOf(t, c, id)), 10)
}
