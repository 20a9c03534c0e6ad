package topics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
)

// idNamespace separates our UUIDs from all others of version 5. Changing it
// would give every topic a new id, which clients take for a new topic.
var idNamespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/kafka-dis-gateway/kafka-dis-gateway"))

// TopicID is the Kafka topic id of a stream: a UUID v5 of project and stream
// id, so that a stream that was deleted and made again under its name gets a
// new one, and every gateway gives the same one for ever. It is zero for an
// unknown stream id.
func TopicID(projectID, streamID string) [16]byte {
	if streamID == "" {
		return [16]byte{}
	}
	return uuid.NewSHA1(idNamespace, []byte("topic/"+projectID+"/"+streamID))
}

// maxIDs is how many topic ids of one name are remembered.
const maxIDs = 16

// errReplaced is the state of a topic whose stream was deleted and made again,
// until the new one is described: the old description is not merely stale.
var errReplaced = fmt.Errorf("another stream has the name now: %w", translate.ErrNotReady)

// TopicByID finds a topic by its Kafka id, from memory where possible. An id
// that is not known, as after a restart, makes the catalog list the streams
// once; while that answer is fresh further unknown ids cost nothing.
//
// Errors: translate.ErrUnknownID when no stream has the id, also when its stream
// was deleted or replaced by another of its name; otherwise those of Topic.
func (c *Catalog) TopicByID(ctx context.Context, id [16]byte) (*translate.Topic, error) {
	name, err := c.nameOf(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("look topic id %s up: %w", translate.IDText(id), err)
	}
	topic, err := c.Topic(ctx, name)
	switch {
	case err == nil && topic.ID == id:
		return topic, nil
	case err == nil || isAbsent(err):
		return nil, pastID(id, name)
	}
	return nil, err
}

// pastID is the error of an id whose stream is gone.
func pastID(id [16]byte, name string) error {
	return fmt.Errorf("topic id %s was that of an earlier topic %q: %w", translate.IDText(id), name, translate.ErrUnknownID)
}

// nameOf gives the name that a topic id belongs or belonged to.
func (c *Catalog) nameOf(ctx context.Context, id [16]byte) (string, error) {
	// A list that runs already may not be one for this, hence up to twice; then
	// what is known is the answer.
	for range 2 {
		name, err, settled := c.lookUpID(id, false)
		if settled {
			return name, err
		}
		if err := c.wait(ctx, listFlight, c.refresh); err != nil {
			return "", err
		}
	}
	name, err, _ := c.lookUpID(id, true)
	return name, err
}

// lookUpID answers from memory. When it is not settled, a list of the streams
// that identifies all of them is due, and the next one will be; at last it is
// always settled.
func (c *Catalog) lookUpID(id [16]byte, last bool) (name string, err error, settled bool) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.use(now)
	if name, ok := c.cache.names[id]; ok {
		return name, nil, true
	}
	recent := func(t time.Time) bool { return !t.IsZero() && now.Sub(t) < c.cfg.NegativeTTL }
	switch {
	case id == [16]byte{}:
		return "", translate.ErrUnknownID, true
	case c.pace.failures > 0 && recent(c.pace.failedAt):
		return "", c.pace.failure, true
	case last || recent(c.pace.identifiedAt):
		if err := c.cache.unidentified(); err != nil {
			return "", fmt.Errorf("the id of a stream is not known: %w", err), true
		}
		return "", translate.ErrUnknownID, true
	}
	c.pace.identify = true
	return "", nil, false
}

// identify remembers the topic id of a stream.
func (c *cache) identify(name, streamID string) {
	id, e := TopicID(c.projectID, streamID), c.entry(name)
	if streamID == "" || slices.Contains(e.ids, id) {
		return
	}
	e.ids = append(e.ids, id)
	c.names[id] = name
	if len(e.ids) > maxIDs {
		delete(c.names, e.ids[0])
		e.ids = slices.Delete(e.ids, 0, 1)
	}
}

// forget drops a name with its ids.
func (c *cache) forget(name string) {
	for _, id := range c.entries[name].ids {
		delete(c.names, id)
	}
	delete(c.entries, name)
}

// unidentified is why the topic id of a listed stream is not known although it
// may be soon; nil when there is no such stream. One that DIS refuses to
// describe is of no use under any id.
func (c *cache) unidentified() error {
	for _, e := range c.entries {
		unknown := e.listing != listing{} && e.listing.streamID == "" && e.topic == nil
		if unknown && (isHiccup(e.err) || errors.Is(e.err, translate.ErrNoStreamID)) {
			return e.err
		}
	}
	return nil
}

// replacedBy reports whether the list shows another stream under the name than
// the one that was described. Times of creation tell, and ids where they are
// listed; a describe may be newer than the list before, so both count.
func (e *entry) replacedBy(seen listing) bool {
	if e.topic == nil || seen.createTime == e.topic.CreatedAt {
		return false
	}
	if seen.streamID != "" {
		return seen.streamID != e.topic.StreamID
	}
	return e.listing.createTime != 0 && seen.createTime != e.listing.createTime
}
