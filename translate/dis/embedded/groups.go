package embedded

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// memberGroup is the locked group of an app.
type memberGroup struct {
	*group
	unlock func()
}

// groupOf finds and locks the group that a call names. The error is an
// *apiError with wire.CodeAppNotFound when there is no such app.
func (s *Server) groupOf(project, name string) (*memberGroup, error) {
	a, err := s.catalog.app(project, name)
	if err != nil {
		return nil, err
	}
	unlock, err := a.open()
	if err != nil {
		return nil, err
	}
	a.groupMu.Lock()
	return &memberGroup{group: a.group, unlock: func() { a.groupMu.Unlock(); unlock() }}, nil
}

// noGroup reports whether an error says that the app does not exist, which the
// coordinator answers with a state instead.
func noGroup(err error) bool {
	var refused *apiError
	return errors.As(err, &refused) && refused.code == wire.CodeAppNotFound
}

// inUse reports whether the app's group has members.
func (a *app) inUse(now time.Time) bool {
	a.groupMu.Lock()
	defer a.groupMu.Unlock()
	return a.group.inUse(now)
}

// applyCommit puts a checkpoint in the order of writes, if its sender may commit.
// The group is locked meanwhile, so that a commit of an old generation never
// comes behind one of the next. Consumers outside of the group send no client id.
func (s *Server) applyCommit(a *app, body *wire.CommitCheckpointRequest, batch *pebble.Batch) error {
	if body.ClientID == "" {
		return s.store.apply(batch)
	}
	generation := int64(-1)
	if body.GenerationID != nil {
		generation = *body.GenerationID
	}
	a.groupMu.Lock()
	defer a.groupMu.Unlock()
	if err := a.group.mayCommit(s.config.Now(), body.ClientID, generation); err != nil {
		return errors.Join(err, batch.Close())
	}
	return s.store.apply(batch)
}

// joinGroup serves POST /v2/{project}/apps/{group}/consumers.
func (s *Server) joinGroup(r *request) (reply, error) {
	var body wire.JoinGroupRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	if body.ClientID == "" {
		return reply{}, invalidRequest("clientId", body.ClientID)
	}
	answer, err := s.join(r.project, r.path[0], &body)
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, answer)
}

func (s *Server) join(project, app string, body *wire.JoinGroupRequest) (wire.JoinGroupResponse, error) {
	streams, names, err := s.catalog.subscriptionOf(project, body)
	wrongSubscription := errors.Is(err, errSubscription)
	if err != nil && !wrongSubscription {
		return wire.JoinGroupResponse{}, err
	}
	g, err := s.groupOf(project, app)
	switch {
	case noGroup(err):
		return wire.JoinGroupResponse{State: wire.JoinGroupNotExist}, nil
	case err != nil:
		return wire.JoinGroupResponse{}, err
	}
	defer g.unlock()
	if wrongSubscription {
		return wire.JoinGroupResponse{State: wire.JoinErrSubscription}, nil
	}
	delay := g.join(s.config.Now(), body.ClientID, joinRequest{
		subscription:     streams,
		rebalanceTimeout: rebalanceTimeout(body.RebalanceTimeoutMS),
		accelerate:       body.AccelerateAssignEnabled,
	})
	// Rounded up: a member that syncs too early waits for another half second.
	wait := (delay + time.Millisecond - 1).Milliseconds()
	return wire.JoinGroupResponse{State: wire.JoinOK, Subscription: names, SyncDelayedTimeMS: wait}, nil
}

func rebalanceTimeout(ms int64) time.Duration {
	ms = min(max(ms, 0), maxRebalanceTimeout.Milliseconds())
	return cmp.Or(time.Duration(ms)*time.Millisecond, defaultRebalanceTimeout)
}

// syncGroup serves POST /v2/{project}/apps/{group}/consumers/{client}/partitions.
func (s *Server) syncGroup(r *request) (reply, error) {
	g, err := s.groupOf(r.project, r.path[0])
	switch {
	case noGroup(err):
		return jsonReply(http.StatusOK, wire.SyncGroupResponse{State: wire.SyncGroupNotExist})
	case err != nil:
		return reply{}, err
	}
	defer g.unlock()
	state, assignment := g.sync(s.config.Now(), r.path[1])
	return jsonReply(http.StatusOK, wire.SyncGroupResponse{State: state, Generation: g.generation, Assignment: assignment})
}

// heartbeat serves POST /v2/{project}/apps/{group}/consumers/{client}/heartbeats.
func (s *Server) heartbeat(r *request) (reply, error) {
	var body wire.HeartbeatRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	g, err := s.groupOf(r.project, r.path[0])
	switch {
	case noGroup(err):
		return jsonReply(http.StatusOK, wire.HeartbeatResponse{State: wire.HeartbeatGroupNotExist})
	case err != nil:
		return reply{}, err
	}
	defer g.unlock()
	return jsonReply(http.StatusOK, wire.HeartbeatResponse{State: g.heartbeat(s.config.Now(), r.path[1], body.Generation)})
}

// leaveGroup serves DELETE /v2/{project}/apps/{group}/consumers/{client}. It is
// no error when the member or the group does not exist.
func (s *Server) leaveGroup(r *request) (reply, error) {
	g, err := s.groupOf(r.project, r.path[0])
	if noGroup(err) {
		return emptyReply(http.StatusNoContent)
	}
	if err != nil {
		return reply{}, err
	}
	defer g.unlock()
	g.leave(s.config.Now(), r.path[1])
	return emptyReply(http.StatusNoContent)
}
