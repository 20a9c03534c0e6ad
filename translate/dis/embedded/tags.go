package embedded

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// The calls on tags name a stream by its id.

func checkTags(tags []wire.Tag) error {
	if len(tags) > wire.MaxTags {
		return refuse(wire.CodeTagLimit, "Too many tags. [%d][%d]", len(tags), wire.MaxTags)
	}
	for _, tag := range tags {
		if tag.Key == "" || utf8.RuneCountInString(tag.Key) > wire.MaxTagKeyLen ||
			utf8.RuneCountInString(tag.Value) > wire.MaxTagValueLen {
			return invalidRequest("tags", tag.Key)
		}
	}
	return nil
}

// taggedStream finds a stream of the project by its id.
func (s *Server) taggedStream(project, id string) (*stream, error) {
	st, err := s.catalog.stream(project, "", id)
	if err != nil || st.project != project {
		return nil, refuse(wire.CodeTagResourceNotFound, "Resource does not exist. [%s][%s]", id, project)
	}
	return st, nil
}

// changeTags lets a function replace the tags of a stream.
func (s *Server) changeTags(r *request, change func([]wire.Tag) ([]wire.Tag, error)) (reply, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	st, err := s.taggedStream(r.project, r.path[0])
	if err != nil {
		return reply{}, err
	}
	err = s.changeMeta(st, func(meta *streamMeta) error {
		tags, err := change(slices.Clone(meta.Settings.Tags))
		if err != nil {
			return err
		}
		meta.Settings.Tags = tags
		return checkTags(tags)
	})
	if err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusNoContent)
}

// addTag serves POST /v2/{project}/stream/{id}/tags.
func (s *Server) addTag(r *request) (reply, error) {
	var body wire.AddTagRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	return s.changeTags(r, func(tags []wire.Tag) ([]wire.Tag, error) { return withTag(tags, body.Tag), nil })
}

// withTag sets a tag; one of the same key is replaced.
func withTag(tags []wire.Tag, tag wire.Tag) []wire.Tag {
	if at := slices.IndexFunc(tags, func(t wire.Tag) bool { return t.Key == tag.Key }); at >= 0 {
		tags[at] = tag
		return tags
	}
	return append(tags, tag)
}

// withoutTag removes the tag of a key.
func withoutTag(tags []wire.Tag, key string) []wire.Tag {
	return slices.DeleteFunc(tags, func(t wire.Tag) bool { return t.Key == key })
}

// deleteTag serves DELETE /v2/{project}/stream/{id}/tags/{key}.
func (s *Server) deleteTag(r *request) (reply, error) {
	key := r.path[1]
	return s.changeTags(r, func(tags []wire.Tag) ([]wire.Tag, error) {
		left := withoutTag(slices.Clone(tags), key)
		if len(left) == len(tags) {
			return nil, refuse(wire.CodeTagNotFound, "Tag does not exist. [%s][%s]", key, r.path[0])
		}
		return left, nil
	})
}

// changeManyTags serves POST /v2/{project}/stream/{id}/tags/action. Tags to be
// deleted need not exist.
func (s *Server) changeManyTags(r *request) (reply, error) {
	var body wire.ChangeTagsRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	if body.Action != wire.TagsCreate && body.Action != wire.TagsDelete {
		return reply{}, refuse(wire.CodeTagInvalidAction, "Invalid action. [%s]", string(body.Action))
	}
	if err := checkBatch(body.Tags); err != nil {
		return reply{}, err
	}
	return s.changeTags(r, func(tags []wire.Tag) ([]wire.Tag, error) {
		for _, tag := range body.Tags {
			if body.Action == wire.TagsCreate {
				tags = withTag(tags, tag)
			} else {
				tags = withoutTag(tags, tag.Key)
			}
		}
		return tags, nil
	})
}

// checkBatch refuses a batch that is empty, or names no key or a key twice.
func checkBatch(tags []wire.Tag) error {
	seen := map[string]bool{"": true}
	for _, tag := range tags {
		if seen[tag.Key] {
			return invalidRequest("tags", tag.Key)
		}
		seen[tag.Key] = true
	}
	if len(tags) == 0 {
		return invalidRequest("tags", "")
	}
	return nil
}

// listTags serves GET /v2/{project}/stream/{id}/tags.
func (s *Server) listTags(r *request) (reply, error) {
	st, err := s.taggedStream(r.project, r.path[0])
	if err != nil {
		return reply{}, err
	}
	info := st.info()
	return jsonReply(http.StatusOK, wire.StreamTagsResponse{Tags: append([]wire.Tag{}, info.Tags...), SysTags: info.SysTags})
}

// listProjectTags serves GET /v2/{project}/stream/tags: the keys and values that
// the streams of the project use.
func (s *Server) listProjectTags(r *request) (reply, error) {
	list := wire.ProjectTagsResponse{Tags: []wire.TagValues{}}
	for _, st := range s.catalog.streams(r.project) {
		for _, tag := range st.info().Tags {
			at, found := slices.BinarySearchFunc(list.Tags, tag.Key, func(t wire.TagValues, key string) int {
				return strings.Compare(t.Key, key)
			})
			if !found {
				list.Tags = slices.Insert(list.Tags, at, wire.TagValues{Key: tag.Key})
			}
			values := &list.Tags[at].Values
			if place, known := slices.BinarySearch(*values, tag.Value); !known {
				*values = slices.Insert(*values, place, tag.Value)
			}
		}
	}
	return jsonReply(http.StatusOK, list)
}
