package embedded

import (
	"encoding/binary"
	"errors"
	"net/http"
	"slices"
	"sort"

	"github.com/cockroachdb/pebble/v2"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// createApp serves POST /v2/{project}/apps.
func (s *Server) createApp(r *request) (reply, error) {
	var body wire.CreateAppRequest
	if err := decodeBody(r.body, &body); err != nil {
		return reply{}, err
	}
	if !isName(body.AppName, s.config.MaxAppName) {
		return reply{}, invalidRequest("app_name", body.AppName)
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	if _, err := s.catalog.app(r.project, body.AppName); err == nil {
		return reply{}, refuse(wire.CodeAppExists, "App already exists. [%s][%s]", body.AppName, r.project)
	}
	if quota := s.config.MaxApps; quota > 0 && len(s.catalog.apps(r.project)) >= quota {
		return reply{}, refuse(wire.CodeAppQuotaExceeded, "Insufficient app quota. [%d]", quota)
	}
	if err := s.addApp(r.project, body.AppName); err != nil {
		return reply{}, err
	}
	return emptyReply(http.StatusCreated)
}

// addApp stores a new app; admin is held.
func (s *Server) addApp(project, name string) error {
	meta := appMeta{ID: newID(), Project: project, Name: name, CreatedAt: s.now()}
	batch := s.store.db.NewBatch()
	var err error
	if meta.Number, err = s.takeNumber(batch); err == nil {
		err = setJSON(batch, appKey(meta.Number), meta)
	}
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	s.catalog.addApp(s.newApp(meta))
	return nil
}

// listApps serves GET /v2/{project}/apps.
func (s *Server) listApps(r *request) (reply, error) {
	limit, err := r.query.number("limit", 1, maxListed, defaultListed)
	if err != nil {
		return reply{}, err
	}
	apps, err := s.appsOfStream(r.project, r.query.get("stream_name"))
	if err != nil {
		return reply{}, err
	}
	start := r.query.get("start_app_name")
	from := sort.Search(len(apps), func(i int) bool { return apps[i].meta.Name > start })
	to := min(from+limit, len(apps))
	list := wire.ListAppsResponse{HasMoreApp: to < len(apps), Apps: []wire.App{}, TotalNumber: int64(len(apps))}
	for _, a := range apps[from:to] {
		described, err := s.describe(a)
		if err != nil {
			return reply{}, err
		}
		list.Apps = append(list.Apps, described)
	}
	return jsonReply(http.StatusOK, list)
}

// appsOfStream lists the apps that have a checkpoint in a stream, or all apps
// of the project when no stream is named.
func (s *Server) appsOfStream(project, streamName string) ([]*app, error) {
	apps := s.catalog.apps(project)
	if streamName == "" {
		return apps, nil
	}
	st, err := s.catalog.stream(project, streamName, "")
	if err != nil {
		return nil, err
	}
	kept := apps[:0]
	for _, a := range apps {
		streams, err := s.store.checkpointStreams(a.meta.Number)
		if err != nil {
			return nil, err
		}
		if slices.Contains(streams, st.number) {
			kept = append(kept, a)
		}
	}
	return kept, nil
}

// describeApp serves GET /v2/{project}/apps/{app}.
func (s *Server) describeApp(r *request) (reply, error) {
	a, err := s.catalog.app(r.project, r.path[0])
	if err != nil {
		return reply{}, err
	}
	described, err := s.describe(a)
	if err != nil {
		return reply{}, err
	}
	return jsonReply(http.StatusOK, described)
}

func (s *Server) describe(a *app) (wire.App, error) {
	numbers, err := s.store.checkpointStreams(a.meta.Number)
	if err != nil {
		return wire.App{}, err
	}
	names := []string{}
	for _, st := range s.catalog.allStreams() {
		if slices.Contains(numbers, st.number) {
			names = append(names, st.name)
		}
	}
	slices.Sort(names)
	return wire.App{
		AppName:                     a.meta.Name,
		AppID:                       a.meta.ID,
		CreateTime:                  a.meta.CreatedAt,
		CommitCheckpointStreamNames: names,
	}, nil
}

// checkpointStreams lists the numbers of the streams in which an app has a
// checkpoint, with one seek per stream.
func (s *store) checkpointStreams(app uint64) (streams []uint64, err error) {
	prefix := binary.BigEndian.AppendUint64([]byte{kindCheckpoint}, app)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: prefixEnd(prefix)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for valid := iter.First(); valid; {
		stream := binary.BigEndian.Uint64(iter.Key()[len(prefix):])
		streams = append(streams, stream)
		valid = iter.SeekGE(checkpointPrefix(app, stream+1))
	}
	return streams, iter.Error()
}

// deleteApp serves DELETE /v2/{project}/apps/{app}; its checkpoints go with it.
// An app whose group has members is in use.
func (s *Server) deleteApp(r *request) (reply, error) {
	s.admin.Lock()
	defer s.admin.Unlock()
	a, err := s.catalog.app(r.project, r.path[0])
	if err != nil {
		return reply{}, err
	}
	if err := s.dropApp(a); err != nil {
		return reply{}, err
	}
	s.catalog.removeApp(a)
	return emptyReply(http.StatusNoContent)
}

func (s *Server) dropApp(a *app) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inUse(s.config.Now()) {
		return refuse(wire.CodeAppInUse, "App is in use. [%s][%s]", a.meta.Name, a.meta.Project)
	}
	batch := s.store.db.NewBatch()
	err := deletePrefixes(batch, [][]byte{
		appKey(a.meta.Number),
		binary.BigEndian.AppendUint64([]byte{kindCheckpoint}, a.meta.Number),
	})
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := s.store.commit(batch); err != nil {
		return err
	}
	a.deleted = true
	return nil
}
