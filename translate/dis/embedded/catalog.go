package embedded

import (
	"slices"
	"strings"
	"sync"
)

// app is a consuming application: the owner of checkpoints.
type app struct {
	meta appMeta

	// mu is held for reading by checkpoint commits and the group's calls, for
	// writing by deletion.
	mu      sync.RWMutex
	deleted bool

	groupMu sync.Mutex
	group   *group // of the consumers that share the app's streams
}

func (s *Server) newApp(meta appMeta) *app {
	return &app{meta: meta, group: newGroup(s.config.Groups)}
}

// appMeta is the stored description of an app; it never changes.
type appMeta struct {
	Number    uint64 `json:"number"`
	ID        string `json:"id"`
	Project   string `json:"project"`
	Name      string `json:"name"`
	CreatedAt int64  `json:"created_at"` // ms
}

// open locks the app for reading, unless it was deleted meanwhile.
func (a *app) open() (unlock func(), err error) {
	a.mu.RLock()
	if a.deleted {
		a.mu.RUnlock()
		return nil, appNotFound(a.meta.Name, a.meta.Project)
	}
	return a.mu.RUnlock, nil
}

// catalog finds streams and apps. It is held only for look-ups; Server.admin
// orders the changes.
type catalog struct {
	mu       sync.RWMutex
	byID     map[string]*stream // of every project: a stream may be shared
	projects map[string]*projectCatalog
}

// projectCatalog has the streams and apps of one project, sorted by name.
type projectCatalog struct {
	streams []*stream
	apps    []*app
}

func newCatalog() *catalog {
	return &catalog{byID: map[string]*stream{}, projects: map[string]*projectCatalog{}}
}

func (c *catalog) project(name string) *projectCatalog {
	p := c.projects[name]
	if p == nil {
		p = &projectCatalog{}
		c.projects[name] = p
	}
	return p
}

func findStream(streams []*stream, name string) (int, bool) {
	return slices.BinarySearchFunc(streams, name, func(st *stream, name string) int { return strings.Compare(st.name, name) })
}

func findApp(apps []*app, name string) (int, bool) {
	return slices.BinarySearchFunc(apps, name, func(a *app, name string) int { return strings.Compare(a.meta.Name, name) })
}

func (c *catalog) addStream(st *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.project(st.project)
	at, _ := findStream(p.streams, st.name)
	p.streams = slices.Insert(p.streams, at, st)
	c.byID[st.id] = st
}

func (c *catalog) removeStream(st *stream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.project(st.project)
	if at, found := findStream(p.streams, st.name); found && p.streams[at] == st {
		p.streams = slices.Delete(p.streams, at, at+1)
	}
	delete(c.byID, st.id)
}

func (c *catalog) addApp(a *app) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.project(a.meta.Project)
	at, _ := findApp(p.apps, a.meta.Name)
	p.apps = slices.Insert(p.apps, at, a)
}

func (c *catalog) removeApp(a *app) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.project(a.meta.Project)
	if at, found := findApp(p.apps, a.meta.Name); found && p.apps[at] == a {
		p.apps = slices.Delete(p.apps, at, at+1)
	}
}

// stream finds a stream by its name; when the project has none of that name,
// the id decides, which may be one of another project.
func (c *catalog) stream(project, name, id string) (*stream, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if p := c.projects[project]; p != nil && name != "" {
		if at, found := findStream(p.streams, name); found {
			return p.streams[at], nil
		}
	}
	if st := c.byID[id]; st != nil {
		return st, nil
	}
	if name == "" {
		name = id
	}
	return nil, streamNotFound(name, project)
}

func (c *catalog) app(project, name string) (*app, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if p := c.projects[project]; p != nil {
		if at, found := findApp(p.apps, name); found {
			return p.apps[at], nil
		}
	}
	return nil, appNotFound(name, project)
}

// streams is a copy of a project's streams, sorted by name.
func (c *catalog) streams(project string) []*stream {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if p := c.projects[project]; p != nil {
		return slices.Clone(p.streams)
	}
	return nil
}

// apps is a copy of a project's apps, sorted by name.
func (c *catalog) apps(project string) []*app {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if p := c.projects[project]; p != nil {
		return slices.Clone(p.apps)
	}
	return nil
}

// allStreams is a copy of the streams of every project.
func (c *catalog) allStreams() []*stream {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]*stream, 0, len(c.byID))
	for _, st := range c.byID {
		all = append(all, st)
	}
	return all
}

// allApps is a copy of the apps of every project.
func (c *catalog) allApps() []*app {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []*app
	for _, p := range c.projects {
		all = append(all, p.apps...)
	}
	return all
}
