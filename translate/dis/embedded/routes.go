package embedded

import (
	"net/http"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// route is one call of the API: method, and path behind /v2/{project}/ with *
// for a variable part.
type route struct {
	method string
	path   string
	serve  func(*Server, *request) (reply, error)
}

// routes is the API. The paths of one method never match the same request.
var routes = []route{
	{http.MethodPost, "records", (*Server).putRecords},
	{http.MethodGet, "records", (*Server).getRecords},
	{http.MethodGet, "cursors", (*Server).getCursor},

	{http.MethodPost, "streams", (*Server).createStream},
	{http.MethodGet, "streams", (*Server).listStreams},
	{http.MethodGet, "streams/*", (*Server).describeStream},
	{http.MethodDelete, "streams/*", (*Server).deleteStream},
	{http.MethodPut, "streams/*", (*Server).changePartitionCount},

	{http.MethodPost, "checkpoints", (*Server).commitCheckpoint},
	{http.MethodGet, "checkpoints", (*Server).getCheckpoint},
	{http.MethodDelete, "checkpoints", (*Server).deleteCheckpoints},

	{http.MethodPost, "apps", (*Server).createApp},
	{http.MethodGet, "apps", (*Server).listApps},
	{http.MethodGet, "apps/*", (*Server).describeApp},
	{http.MethodDelete, "apps/*", (*Server).deleteApp},
	{http.MethodGet, "apps/*/streams/*", (*Server).consumerState},
}

// match finds the call that a request means. A trailing slash makes no
// difference.
func (s *Server) match(r *http.Request) (*route, *request, error) {
	segments := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	if len(segments) < 3 || segments[0] != "v2" || segments[1] == "" {
		return nil, nil, unknownCall(r)
	}
	project := unescape(segments[1])
	for i := range routes {
		path, matches := routes[i].match(r.Method, segments[2:])
		if !matches {
			continue
		}
		if s.config.ProjectID != "" && project != s.config.ProjectID {
			return nil, nil, refuse(wire.CodeProjectInvalid, "Invalid project id. [%s]", project)
		}
		return &routes[i], &request{project: project, path: path, query: parseQuery(r.URL.RawQuery)}, nil
	}
	return nil, nil, unknownCall(r)
}

func (rt *route) match(method string, segments []string) (path []string, matches bool) {
	if method != rt.method || strings.Count(rt.path, "/") != len(segments)-1 {
		return nil, false
	}
	i := 0
	for want := range strings.SplitSeq(rt.path, "/") {
		switch {
		case want == "*" && segments[i] != "":
			path = append(path, unescape(segments[i]))
		case want != segments[i]:
			return nil, false
		}
		i++
	}
	return path, true
}

func unknownCall(r *http.Request) *apiError {
	return &apiError{
		status:  http.StatusNotFound,
		code:    wire.CodeInvalidRequest,
		message: "API does not exist. [" + r.Method + "][" + r.URL.Path + "]",
	}
}
