package embedded

import (
	"net/http"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// route is one call of the API. Its operation is the name that faults and logs
// use; path is what follows /v2/{project}/ with * for a variable part.
type route struct {
	operation string
	method    string
	path      string
	serve     func(*Server, *request) (reply, error)
}

// routes is the API. The paths of one method never match the same request.
var routes = []route{
	{"PutRecords", http.MethodPost, "records", (*Server).putRecords},
	{"GetRecords", http.MethodGet, "records", (*Server).getRecords},
	{"GetCursor", http.MethodGet, "cursors", (*Server).getCursor},

	{"CreateStream", http.MethodPost, "streams", (*Server).createStream},
	{"ListStreams", http.MethodGet, "streams", (*Server).listStreams},
	{"DescribeStream", http.MethodGet, "streams/*", (*Server).describeStream},
	{"DeleteStream", http.MethodDelete, "streams/*", (*Server).deleteStream},
	{"ChangePartitionCount", http.MethodPut, "streams/*", (*Server).changePartitionCount},
	{"UpdateStream", http.MethodPut, "streams/*/update", (*Server).updateStreamV2},
	{"StreamMetrics", http.MethodGet, "streams/*/metrics", (*Server).streamMetrics},
	{"PartitionMetrics", http.MethodGet, "streams/*/partitions/*/metrics", (*Server).partitionMetrics},
	{"AddPolicy", http.MethodPost, "streams/*/policies", (*Server).addPolicy},
	{"ListPolicies", http.MethodGet, "streams/*/policies", (*Server).listPolicies},

	{"CreateTransferTask", http.MethodPost, "streams/*/transfer-tasks", (*Server).createTransfer},
	{"UpdateTransferTask", http.MethodPut, "streams/*/transfer-tasks", (*Server).updateTransfer},
	{"ListTransferTasks", http.MethodGet, "streams/*/transfer-tasks", (*Server).listTransfers},
	{"DescribeTransferTask", http.MethodGet, "streams/*/transfer-tasks/*", (*Server).describeTransfer},
	{"DeleteTransferTask", http.MethodDelete, "streams/*/transfer-tasks/*", (*Server).deleteTransfer},
	{"ChangeTransferTasks", http.MethodPost, "streams/*/transfer-tasks/action", (*Server).changeTransferStates},
	// Where the Python SDK creates and describes tasks; it lists and deletes them above.
	{"CreateTransferTask", http.MethodPost, "stream/*/transfer-tasks", (*Server).createTransfer},
	{"DescribeTransferTask", http.MethodGet, "stream/*/transfer-tasks/*", (*Server).describeTransfer},

	{"CommitCheckpoint", http.MethodPost, "checkpoints", (*Server).commitCheckpoint},
	{"GetCheckpoint", http.MethodGet, "checkpoints", (*Server).getCheckpoint},
	{"DeleteCheckpoints", http.MethodDelete, "checkpoints", (*Server).deleteCheckpoints},

	{"CreateApp", http.MethodPost, "apps", (*Server).createApp},
	{"ListApps", http.MethodGet, "apps", (*Server).listApps},
	{"DescribeApp", http.MethodGet, "apps/*", (*Server).describeApp},
	{"DeleteApp", http.MethodDelete, "apps/*", (*Server).deleteApp},
	{"ConsumerState", http.MethodGet, "apps/*/streams/*", (*Server).consumerState},

	{"JoinGroup", http.MethodPost, "apps/*/consumers", (*Server).joinGroup},
	{"LeaveGroup", http.MethodDelete, "apps/*/consumers/*", (*Server).leaveGroup},
	{"SyncGroup", http.MethodPost, "apps/*/consumers/*/partitions", (*Server).syncGroup},
	{"Heartbeat", http.MethodPost, "apps/*/consumers/*/heartbeats", (*Server).heartbeat},

	{"AddTag", http.MethodPost, "stream/*/tags", (*Server).addTag},
	{"StreamTags", http.MethodGet, "stream/*/tags", (*Server).listTags},
	{"DeleteTag", http.MethodDelete, "stream/*/tags/*", (*Server).deleteTag},
	{"ChangeTags", http.MethodPost, "stream/*/tags/action", (*Server).changeManyTags},
	{"ProjectTags", http.MethodGet, "stream/tags", (*Server).listProjectTags},
	{"StreamsByTags", http.MethodPost, "stream/resource_instances/action", (*Server).findInstances},
}

// routesV3 are the few calls whose path begins with /v3.
var routesV3 = []route{
	{"UpdateStream", http.MethodPut, "streams/*", (*Server).updateStream},
	{"AddPolicy", http.MethodPost, "streams/*/policies", (*Server).addPolicy},
}

// match finds the call that a request means. A trailing slash makes no
// difference.
func (s *Server) match(r *http.Request) (*route, *request, error) {
	segments := strings.Split(strings.Trim(r.URL.EscapedPath(), "/"), "/")
	if len(segments) < 3 || segments[1] == "" {
		return nil, nil, unknownCall(r)
	}
	var table []route
	switch segments[0] {
	case "v2":
		table = routes
	case "v3":
		table = routesV3
	}
	project := unescape(segments[1])
	for i := range table {
		path, matches := table[i].match(r.Method, segments[2:])
		if !matches {
			continue
		}
		if s.config.ProjectID != "" && project != s.config.ProjectID {
			return nil, nil, refuse(wire.CodeProjectInvalid, "Invalid project id. [%s]", project)
		}
		return &table[i], &request{project: project, path: path, query: parseQuery(r.URL.RawQuery)}, nil
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
