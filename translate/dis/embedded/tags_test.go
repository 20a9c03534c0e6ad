package embedded

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

func (s *service) tags(id string) []wire.Tag {
	s.t.Helper()
	return wants[wire.StreamTagsResponse](s.t, s.call("GET", "stream/"+id+"/tags", "", nil), 200).Tags
}

func TestTags(t *testing.T) {
	s := startService(t, func(c *Config) { c.Insecure = true }) // the harness signs plain paths only
	s.createStream("s", 1)
	id := s.describe("s").StreamID
	if diff := cmp.Diff([]wire.Tag{}, s.tags(id)); diff != "" {
		t.Error(diff)
	}
	wants[empty](t, s.call("POST", "stream/"+id+"/tags/", "", `{"tag":{"key":"team","value":"a"}}`), 204)
	wants[empty](t, s.call("POST", "stream/"+id+"/tags", "", `{"tag":{"key":"stage","value":"test"}}`), 204)
	wants[empty](t, s.call("POST", "stream/"+id+"/tags", "", `{"tag":{"key":"team","value":"b"}}`), 204)
	s.reopen()
	if diff := cmp.Diff([]wire.Tag{{Key: "team", Value: "b"}, {Key: "stage", Value: "test"}}, s.tags(id)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(s.tags(id), s.describe("s").Tags); diff != "" {
		t.Error(diff)
	}
	wants[empty](t, s.call("DELETE", "stream/"+id+"/tags/team", "", nil), 204)
	wantsError(t, s.call("DELETE", "stream/"+id+"/tags/team", "", nil), 400, "DIS.4604", "Tag does not exist. [team]["+id+"]")
	wants[empty](t, s.call("POST", "stream/"+id+"/tags/action", "",
		`{"action":"create","tags":[{"key":"a b","value":""},{"key":"stage","value":"live"}]}`), 204)
	if diff := cmp.Diff([]wire.Tag{{Key: "stage", Value: "live"}, {Key: "a b"}}, s.tags(id)); diff != "" {
		t.Error(diff)
	}
	wants[empty](t, s.call("DELETE", "stream/"+id+"/tags/a%20b", "", nil), 204)
	wants[empty](t, s.call("POST", "stream/"+id+"/tags/action", "", `{"action":"delete","tags":[{"key":"stage"},{"key":"absent"}]}`), 204)
	if diff := cmp.Diff([]wire.Tag{}, s.tags(id)); diff != "" {
		t.Error(diff)
	}
}

func TestTagErrors(t *testing.T) {
	s := startService(t)
	s.createStream("s", 1)
	id := s.describe("s").StreamID
	for i := range 9 {
		wants[empty](t, s.call("POST", "stream/"+id+"/tags", "", wire.AddTagRequest{Tag: wire.Tag{Key: fmt.Sprint(i)}}), 204)
	}
	tests := []struct{ path, body, code, message string }{
		{"none/tags", `{"tag":{"key":"k"}}`, "DIS.4603", "Resource does not exist. [none][local]"},
		{"s/tags", `{"tag":{"key":"k"}}`, "DIS.4603", "Resource does not exist. [s][local]"},
		{id + "/tags", `{"tag":{"value":"v"}}`, "DIS.4200", "Invalid request. [tags][]"},
		{id + "/tags/action", `{"action":"update","tags":[{"key":"k"}]}`, "DIS.4605", "Invalid action. [update]"},
		{id + "/tags/action", `{"action":"create","tags":[]}`, "DIS.4200", "Invalid request. [tags][]"},
		{id + "/tags/action", `{"action":"create","tags":[{"key":"k"},{"key":"k"}]}`, "DIS.4200", "Invalid request. [tags][k]"},
		{id + "/tags/action", `{"action":"delete","tags":[{"key":""}]}`, "DIS.4200", "Invalid request. [tags][]"},
		{id + "/tags/action", `{"action":"create","tags":[{"key":"x"},{"key":"y"}]}`, "DIS.4601", "Too many tags. [11][10]"},
	}
	for _, test := range tests {
		wantsError(t, s.call("POST", "stream/"+test.path, "", test.body), 400, test.code, test.message)
	}
	if got := len(s.tags(id)); got != 9 {
		t.Errorf("%d tags", got)
	}
	wants[empty](t, s.call("POST", "stream/"+id+"/tags", "", `{"tag":{"key":"x"}}`), 204)
	wantsError(t, s.call("POST", "stream/"+id+"/tags", "", `{"tag":{"key":"y"}}`), 400, "DIS.4601", "Too many tags. [11][10]")
}

// taggedStreams are five streams by name with their tags.
func taggedStreams(s *service) {
	for name, tags := range map[string][]wire.Tag{
		"bare": nil,
		"a1":   {{Key: "team", Value: "a"}, {Key: "stage", Value: "test"}},
		"a2":   {{Key: "team", Value: "a"}, {Key: "stage", Value: "live"}},
		"b1":   {{Key: "team", Value: "b"}},
		"b2":   {{Key: "team", Value: "b"}, {Key: "stage", Value: "test"}},
	} {
		wants[empty](s.t, s.call("POST", "streams", "", wire.CreateStreamRequest{StreamName: name, PartitionCount: 1, Tags: tags}), 201)
	}
}

func TestProjectTags(t *testing.T) {
	s := startService(t)
	taggedStreams(s)
	got := wants[wire.ProjectTagsResponse](t, s.call("GET", "stream/tags", "", nil), 200)
	want := []wire.TagValues{{Key: "stage", Values: []string{"live", "test"}}, {Key: "team", Values: []string{"a", "b"}}}
	if diff := cmp.Diff(want, got.Tags); diff != "" {
		t.Error(diff)
	}
}

func TestInstances(t *testing.T) {
	s := startService(t)
	taggedStreams(s)
	const team, stage = `[{"key":"team","values":["a","b"]}`, `{"key":"stage","values":["test"]}`
	tests := []struct {
		name, filter string
		want         []string
	}{
		{"no filter", ``, []string{"a1", "a2", "b1", "b2", "bare"}},
		{"all of them", `,"tags":` + team + `,` + stage + `]`, []string{"a1", "b2"}},
		{"any value", `,"tags":[{"key":"stage","values":[]}]`, []string{"a1", "a2", "b2"}},
		{"one of them", `,"tags_any":[{"key":"team","values":["b"]},` + stage + `]`, []string{"a1", "b1", "b2"}},
		{"not all of them", `,"not_tags":[{"key":"team","values":["a"]},` + stage + `]`, []string{"a2", "b1", "b2", "bare"}},
		{"none of them", `,"not_tags_any":[{"key":"team","values":["a"]},` + stage + `]`, []string{"b1", "bare"}},
		{"several", `,"tags":` + team + `],"not_tags_any":[` + stage + `]`, []string{"a2", "b1"}},
		{"name", `,"matches":[{"key":"resource_name","value":"a"}]`, []string{"a1", "a2", "bare"}},
		{"name as text", `,"matches":"b"`, []string{"b1", "b2", "bare"}},
		{"page", `,"limit":"2","offset":"1"`, []string{"a2", "b1"}},
		{"last page", `,"limit":2,"offset":4`, []string{"bare"}},
		{"past the end", `,"offset":"9"`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			got := wants[wire.InstancesResponse](t, s.call("POST", "stream/resource_instances/action", "", `{"action":"filter"`+test.filter+`}`), 200)
			var names []string
			for _, instance := range got.Resources {
				names = append(names, instance.ResourceName)
				if d := s.describe(instance.ResourceName); d.StreamID != instance.ResourceID || cmp.Diff(append([]wire.Tag{}, d.Tags...), instance.Tags) != "" {
					t.Errorf("%+v", instance)
				}
			}
			if diff := cmp.Diff(test.want, names); diff != "" {
				t.Error(diff)
			}
		})
	}
	count := wants[wire.InstancesResponse](t, s.call("POST", "stream/resource_instances/action", "", `{"action":"count","tags":`+team+`]}`), 200)
	if count.TotalCount != 4 || count.Resources != nil {
		t.Errorf("%+v", count)
	}
	page := wants[wire.InstancesResponse](t, s.call("POST", "stream/resource_instances/action", "", `{"action":"filter","limit":"1"}`), 200)
	if page.TotalCount != 5 || len(page.Resources) != 1 {
		t.Errorf("%+v", page)
	}
	for body, want := range map[string][2]string{
		`{"action":"list"}`:                                                 {"DIS.4605", "Invalid action. [list]"},
		`{"action":"filter","limit":"1001"}`:                                {"DIS.4200", "Invalid request. [limit][1001]"},
		`{"action":"filter","offset":"-1"}`:                                 {"DIS.4200", "Invalid request. [offset][-1]"},
		`{"action":"filter","matches":[{"key":"resource_id","value":"x"}]}`: {"DIS.4200", "Invalid request. [matches][resource_id]"},
	} {
		wantsError(t, s.call("POST", "stream/resource_instances/action", "", body), 400, want[0], want[1])
	}
}
