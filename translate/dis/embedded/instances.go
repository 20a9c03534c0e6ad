package embedded

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

const maxInstances = 1000

// findInstances serves POST /v2/{project}/stream/resource_instances/action: it
// lists or counts the streams that carry certain tags, in order of their names.
func (s *Server) findInstances(r *request) (reply, error) {
	var body wire.InstancesRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	if body.Action != wire.InstancesFilter && body.Action != wire.InstancesCount {
		return reply{}, refuse(wire.CodeTagInvalidAction, "Invalid action. [%s]", string(body.Action))
	}
	limit, err := textNumber("limit", body.Limit, 1, maxInstances, maxInstances)
	if err != nil {
		return reply{}, err
	}
	offset, err := textNumber("offset", body.Offset, 0, maxInstances*maxInstances, 0)
	if err != nil {
		return reply{}, err
	}
	name, err := nameFilter(body.Matches)
	if err != nil {
		return reply{}, err
	}
	found := []wire.Instance{}
	for _, st := range s.catalog.streams(r.project) {
		if tags := st.info().Tags; strings.Contains(st.name, name) && tagsMatch(&body, tags) {
			found = append(found, wire.Instance{ResourceID: st.id, ResourceName: st.name, Tags: append([]wire.Tag{}, tags...)})
		}
	}
	answer := wire.InstancesResponse{TotalCount: len(found)}
	if body.Action == wire.InstancesFilter {
		from := min(offset, len(found))
		answer.Resources = found[from:min(from+limit, len(found))]
	}
	return jsonReply(http.StatusOK, answer)
}

func textNumber(field string, text wire.Text, low, high, fallback int) (int, error) {
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < low || n > high {
		return 0, invalidRequest(field, text)
	}
	return n, nil
}

// nameFilter is the part of a name that a request looks for: a text, as in the
// Go SDK v3, or the list of the cloud's tag services.
func nameFilter(matches json.RawMessage) (string, error) {
	var text string
	if len(matches) == 0 || json.Unmarshal(matches, &text) == nil {
		return text, nil
	}
	var list []struct{ Key, Value string }
	if err := json.Unmarshal(matches, &list); err != nil {
		return "", invalidRequest("matches", err)
	}
	for _, match := range list {
		if match.Key != "resource_name" {
			return "", invalidRequest("matches", match.Key)
		}
		text = match.Value
	}
	return text, nil
}

func tagsMatch(r *wire.InstancesRequest, tags []wire.Tag) bool {
	has := func(wanted wire.TagValues) bool { return hasTag(tags, wanted) }
	hasNot := func(wanted wire.TagValues) bool { return !hasTag(tags, wanted) }
	return !slices.ContainsFunc(r.Tags, hasNot) &&
		(len(r.TagsAny) == 0 || slices.ContainsFunc(r.TagsAny, has)) &&
		(len(r.NotTags) == 0 || slices.ContainsFunc(r.NotTags, hasNot)) &&
		!slices.ContainsFunc(r.NotTagsAny, has)
}

// hasTag reports whether there is a tag of that key with one of the values, or
// with any value when none is named.
func hasTag(tags []wire.Tag, wanted wire.TagValues) bool {
	return slices.ContainsFunc(tags, func(t wire.Tag) bool {
		return t.Key == wanted.Key && (len(wanted.Values) == 0 || slices.Contains(wanted.Values, t.Value))
	})
}
