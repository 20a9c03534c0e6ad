package wire

import "encoding/json"

// Limits of the tags of a stream: how many, and the characters of a key and of a
// value.
const (
	MaxTags        = 10
	MaxTagKeyLen   = 36
	MaxTagValueLen = 43
)

// AddTagRequest is the body of POST /v2/{project}/stream/{stream id}/tags.
type AddTagRequest struct {
	Tag Tag `json:"tag"`
}

// StreamTagsResponse is the answer of GET /v2/{project}/stream/{stream id}/tags.
type StreamTagsResponse struct {
	Tags    []Tag `json:"tags"`
	SysTags []Tag `json:"sys_tags,omitempty"`
}

// TagAction says what a ChangeTagsRequest does.
type TagAction string

// The actions on tags.
const (
	TagsCreate TagAction = "create"
	TagsDelete TagAction = "delete"
)

// ChangeTagsRequest is the body of POST /v2/{project}/stream/{stream id}/tags/action.
type ChangeTagsRequest struct {
	Action TagAction `json:"action"`
	Tags   []Tag     `json:"tags"`
}

// TagValues is one tag key with the values in use; in a filter, no values mean
// any value.
type TagValues struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// ProjectTagsResponse is the answer of GET /v2/{project}/stream/tags: the tags of
// all streams of the project.
type ProjectTagsResponse struct {
	Tags []TagValues `json:"tags"`
}

// InstancesAction says whether an InstancesRequest lists streams or counts them.
type InstancesAction string

// The actions of an InstancesRequest.
const (
	InstancesFilter InstancesAction = "filter"
	InstancesCount  InstancesAction = "count"
)

// InstancesRequest is the body of POST /v2/{project}/stream/resource_instances/action.
// Limit (1 to 1000, default 1000) and Offset are numbers as text and belong to a
// filter alone.
type InstancesRequest struct {
	Action     InstancesAction `json:"action"`
	Limit      Text            `json:"limit,omitempty"`
	Offset     Text            `json:"offset,omitempty"`
	Tags       []TagValues     `json:"tags,omitempty"`         // all of them
	TagsAny    []TagValues     `json:"tags_any,omitempty"`     // at least one of them
	NotTags    []TagValues     `json:"not_tags,omitempty"`     // not all of them
	NotTagsAny []TagValues     `json:"not_tags_any,omitempty"` // none of them
	// Matches restricts the names. The Go SDK v3 sends a text, the tag services of
	// the cloud take a list of key "resource_name" and a value.
	Matches json.RawMessage `json:"matches,omitempty"`
}

// InstancesResponse is the answer to an InstancesRequest; a count has no resources.
type InstancesResponse struct {
	Resources  []Instance `json:"resources,omitempty"`
	TotalCount int        `json:"total_count"`
}

// Instance is a stream as the tag service names it.
type Instance struct {
	ResourceID   string `json:"resource_id"`
	ResourceName string `json:"resource_name"`
	Tags         []Tag  `json:"tags"`
}
