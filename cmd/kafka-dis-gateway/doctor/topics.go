package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

// exposed are the topics of the streams of this project and of those of others that
// the settings name, without those that the settings hide.
func (e *examination) exposed(list []wire.StreamInfo) (all []translate.Alias) {
	seen := map[string]bool{}
	for _, info := range list {
		if topic, shown := e.cfg.Names.Topic(info.StreamName, info.StreamID); shown {
			all = append(all, translate.Alias{Topic: topic, Stream: translate.StreamRef{Name: info.StreamName}})
			seen[topic] = true
		}
	}
	for _, alias := range e.cfg.Names.ByID() {
		if !seen[alias.Topic] {
			all = append(all, alias)
		}
	}
	return all
}

// chooseTrial prefers a stream that was asked for; it can be read.
func (e *examination) chooseTrial(list []wire.StreamInfo) (best string) {
	for _, info := range list {
		topic, shown := e.cfg.Names.Topic(info.StreamName, info.StreamID)
		switch {
		case !shown || info.Status != wire.StreamRunning:
		case slices.Contains(e.cfg.Topics, topic):
			return info.StreamName
		case best == "":
			best = info.StreamName
		}
	}
	return best
}

// topicsLimit is how much longer than other checks the one of all topics may take.
const topicsLimit = 6

// lookTopics looks at each topic, at several at a time and in the time that there
// is; those that it did not come to are counted.
func lookTopics(ctx context.Context, e *examination) []Result {
	wanted, results := e.wantedTopics()
	if len(wanted) == 0 && len(results) == 0 {
		return doubtful("create a topic, or check the project (HUAWEICLOUD_SDK_PROJECT_ID or --project-id)", "there is no topic")
	}
	var mu sync.Mutex
	var workers errgroup.Group
	workers.SetLimit(parallel)
	late := 0
	for _, s := range wanted {
		workers.Go(func() error {
			result := e.lookTopic(ctx, s)
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() != nil {
				late++
				return nil
			}
			results = append(results, result)
			return nil
		})
	}
	_ = workers.Wait() // the workers return no error
	slices.SortStableFunc(results, func(a, b Result) int { return strings.Compare(a.Subject, b.Subject) })
	if late > 0 {
		results = append(results, found(Skipped, "", "", "%s not looked at within %s: name those that matter", plural(late, "more topic"), topicsLimit*e.cfg.Limit))
	}
	return results
}

// wantedTopics are the topics to look at, and a failure for each that was named and
// is not there.
func (e *examination) wantedTopics() (wanted []translate.Alias, missing []Result) {
	if len(e.cfg.Topics) == 0 {
		return e.streams, nil
	}
	for _, name := range e.cfg.Topics {
		at := slices.IndexFunc(e.streams, func(s translate.Alias) bool { return s.Topic == name })
		if at >= 0 {
			wanted = append(wanted, e.streams[at])
			continue
		}
		missing = append(missing, e.missingTopic(name))
	}
	return wanted, missing
}

func (e *examination) missingTopic(name string) Result {
	stream, err := e.cfg.Names.Stream(name)
	switch {
	case errors.Is(err, translate.ErrHidden):
		return found(Failed, name, "change --expose-topics, --hide-topics or --alias", "%v", err)
	case err != nil:
		return found(Failed, name, "use a name of letters, digits, _ and -, or give the topic a stream of another name with --alias", "%v", err)
	}
	return found(Failed, name, "create it, or check the name and the project (HUAWEICLOUD_SDK_PROJECT_ID or --project-id)", "there is no such topic: DIS has no stream %s", stream)
}

// describe looks a stream up by what is known of it.
func (e *examination) describe(ctx context.Context, stream translate.StreamRef) (*wire.DescribeStreamResponse, error) {
	if stream.Name == "" {
		return e.client.DescribeStreamByID(ctx, stream.ID)
	}
	return e.client.DescribeStream(ctx, stream.Name)
}

// trouble is the state of a topic that cannot be used: it fails only if it was
// asked for.
func (e *examination) trouble(topic string) State {
	if slices.Contains(e.cfg.Topics, topic) {
		return Failed
	}
	return Warning
}

func (e *examination) lookTopic(ctx context.Context, s translate.Alias) Result {
	described, err := e.describe(ctx, s.Stream)
	switch {
	case dis.HasCode(err, wire.CodeStreamNotFound) && s.Stream.Name == "":
		return found(e.trouble(s.Topic), s.Topic, "check --alias, and that the stream's owner shares it with this account", "there is no stream of id %s: %v", s.Stream.ID, err)
	case dis.HasCode(err, wire.CodeStreamNotFound):
		return found(e.trouble(s.Topic), s.Topic, "create it again, or have clients no longer use it", "it has just been deleted")
	case isThrottled(err):
		return found(Warning, s.Topic, waitForDIS, "not looked at: %v", err)
	case err != nil:
		return found(e.trouble(s.Topic), s.Topic, whatToDo(err), "%v", err)
	}
	if remedy := unusable[described.Status]; remedy != "" {
		return found(e.trouble(s.Topic), s.Topic, remedy, "the stream is %s", described.Status)
	}
	parts, err := countPartitions(described.Partitions)
	if err != nil {
		return found(e.trouble(s.Topic), s.Topic, "ask the support of DIS: this is no partition as documented", "%v", err)
	}
	text := fmt.Sprintf("%s; %s; %s %s, kept %d h", described.Status, parts, described.StreamType, described.DataType, described.RetentionPeriod)
	if parts.active == 0 {
		return found(e.trouble(s.Topic), s.Topic, "scale the stream up", "%s: no partition can be written", text)
	}
	seen, err := e.sample(ctx, s.Stream, parts.readable)
	if isThrottled(err) {
		return found(Warning, s.Topic, waitForDIS, "%s; not read: %v", text, err)
	}
	if err != nil {
		return found(e.trouble(s.Topic), s.Topic, whatToDo(err), "%s; reading failed: %v", text, err)
	}
	if seen.damaged > 0 {
		return found(Warning, s.Topic, "look at who else writes into the stream: docs/record-format.md says what an envelope is",
			"%s; %s; %d begin like envelopes of the gateway and are none: clients get them as they are", text, seen, seen.damaged)
	}
	return found(OK, s.Topic, "", "%s; %s", text, seen)
}

// unusable are the states of a stream in which nothing can be read or written, with
// what to do.
var unusable = map[wire.StreamStatus]string{
	wire.StreamCreating:    "wait until DIS has made it",
	wire.StreamTerminating: "create it again when it is gone, or have clients no longer use it",
	wire.StreamTerminated:  "create it again, or have clients no longer use it",
	wire.StreamFrozen:      "check the account's balance and the console of DIS: only there it can be thawed",
}
