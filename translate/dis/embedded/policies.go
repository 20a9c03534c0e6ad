package embedded

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// maxPolicyRules bounds the description of a stream; the service names no limit.
const maxPolicyRules = 100

// policyRule grants or denies one action on a stream to another account. Rules
// are stored and listed; every project reaches a stream whose id it knows.
type policyRule struct {
	Principal     string `json:"principal,omitempty"`
	PrincipalName string `json:"principal_name,omitempty"`
	ActionType    string `json:"action_type"`
	Effect        string `json:"effect"`
}

type policyRequest struct {
	StreamID      string `json:"stream_id"`
	PrincipalName string `json:"principal_name"` // of the call under /v2
	PrincipalID   string `json:"principal_id"`   // of the call under /v3
	ActionType    string `json:"action_type"`
	Effect        string `json:"effect"`
}

type policiesResponse struct {
	StreamID string       `json:"stream_id"`
	Rules    []policyRule `json:"rules"`
}

// addPolicy serves POST /v2/{project}/streams/{stream}/policies with the names
// of accounts, and the same under /v3 with their ids. A rule for the same
// account and action is replaced.
func (s *Server) addPolicy(r *request) (reply, error) {
	var body policyRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return reply{}, err
	}
	rules, err := body.rules(st)
	if err != nil {
		return reply{}, err
	}
	err = s.changeMeta(st, func(meta *streamMeta) error {
		kept := slices.DeleteFunc(slices.Clone(meta.Policies), func(old policyRule) bool {
			return slices.ContainsFunc(rules, old.replacedBy)
		})
		meta.Policies = append(kept, rules...)
		if len(meta.Policies) > maxPolicyRules {
			return invalidRequest("policies", len(meta.Policies))
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusOK)
}

// rules has one rule for each account of the request's comma-separated list.
func (p *policyRequest) rules(st *stream) ([]policyRule, error) {
	p.Effect = cmp.Or(p.Effect, "deny")
	switch {
	case p.StreamID != "" && p.StreamID != st.id:
		return nil, invalidRequest("stream_id", p.StreamID)
	case !slices.Contains([]string{"putRecords", "getRecords", "getStreamInfo"}, p.ActionType):
		return nil, invalidRequest("action_type", p.ActionType)
	case p.Effect != "accept" && p.Effect != "deny":
		return nil, invalidRequest("effect", p.Effect)
	}
	var rules []policyRule
	for id := range strings.SplitSeq(p.PrincipalID, ",") {
		if id = strings.TrimSpace(id); id != "" {
			rules = append(rules, policyRule{Principal: id, ActionType: p.ActionType, Effect: p.Effect})
		}
	}
	for name := range strings.SplitSeq(p.PrincipalName, ",") {
		if name = strings.TrimSpace(name); name != "" {
			rules = append(rules, policyRule{PrincipalName: name, ActionType: p.ActionType, Effect: p.Effect})
		}
	}
	if len(rules) == 0 {
		return nil, invalidRequest("principal_name", p.PrincipalName)
	}
	return rules, nil
}

func (p policyRule) replacedBy(other policyRule) bool {
	return p.Principal == other.Principal && p.PrincipalName == other.PrincipalName && p.ActionType == other.ActionType
}

// listPolicies serves GET /v2/{project}/streams/{stream}/policies.
func (s *Server) listPolicies(r *request) (reply, error) {
	st, err := s.streamOfPath(r, r.path[0])
	if err != nil {
		return reply{}, err
	}
	unlock, err := st.open()
	if err != nil {
		return reply{}, err
	}
	defer unlock()
	return jsonReply(http.StatusOK, policiesResponse{StreamID: st.id, Rules: append([]policyRule{}, st.meta.Policies...)})
}
