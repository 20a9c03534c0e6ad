package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// mostWatched is how many pairs of app and stream are watched: each is read twice.
const mostWatched = 200

// place is what has checkpoints: an app in the stream of a topic.
type place struct {
	app    string
	stream translate.Alias
}

// lookCheckpoints reads the checkpoints twice and tells which have changed between,
// and a gateway that runs here what others have changed. Who changes one, DIS does
// not tell: a group that no gateway here keeps is somebody else's.
func lookCheckpoints(ctx context.Context, e *examination) []Result {
	var results []Result
	if gateway := e.gateway.Load(); gateway != nil && gateway.foreign > 0 {
		results = append(results, found(Warning, "", oneKeeper, "the gateway at %s has found %.0f committed offsets of its groups changed by somebody else since it started", e.cfg.Admin, gateway.foreign))
	}
	if e.cfg.Watch == 0 {
		return append(results, leftOut("checkpoints are not watched (--watch 0s)")...)
	}
	places, results, err := e.watched(ctx, results)
	if err != nil {
		return append(results, failedCall(err)...)
	}
	left := max(0, len(places)-mostWatched)
	places = places[:len(places)-left]
	before, err := e.readCheckpoints(ctx, places)
	if err == nil && len(places) > 0 {
		err = pause(ctx, e.cfg.Watch)
	}
	after := before
	if err == nil && len(places) > 0 {
		after, err = e.readCheckpoints(ctx, places)
	}
	if err != nil {
		return append(results, failedCall(err)...)
	}
	changes := changed(before, after)
	for _, app := range slices.Sorted(maps.Keys(changes)) {
		results = append(results, e.changedApp(app, changes[app]))
	}
	text := fmt.Sprintf("%s changed within %s", plural(len(changes), "app"), e.cfg.Watch)
	if len(changes) == 0 {
		text = fmt.Sprintf("no checkpoint changed within %s, of %s", e.cfg.Watch, plural(len(places), "pair")+" of app and stream")
	}
	if left > 0 {
		text += fmt.Sprintf("; %d more pairs not watched, name groups with --group", left)
	}
	return append(results, found(OK, "", "", "%s", text))
}

// oneKeeper is what to do about offsets that several programs change.
const oneKeeper = "let all members of a group use one gateway, and no DIS Kafka adapter or other program commit for it meanwhile"

// changedApp says who may have changed the checkpoints of an app.
func (e *examination) changedApp(app string, moves []string) Result {
	group, _ := offsets.GroupName(app)
	text := strings.Join(moves, ", ")
	gateway := e.gateway.Load()
	if gateway != nil && gateway.groups[group] {
		return found(OK, app, "", "its members commit through the gateway at %s: %s", e.cfg.Admin, text)
	}
	where := "no gateway answers here"
	if gateway != nil {
		where = "the gateway at " + e.cfg.Admin + " does not keep group " + group
	}
	return found(Warning, app, "before clients of this gateway join the group: "+oneKeeper, "somebody commits for it, and %s: %s", where, text)
}

// watched are the places of the groups that were named, or of all apps.
func (e *examination) watched(ctx context.Context, results []Result) ([]place, []Result, error) {
	var apps []wire.App
	if len(e.cfg.Groups) == 0 {
		var err error
		if apps, err = e.client.ListApps(ctx, ""); err != nil {
			return nil, results, err
		}
	}
	for _, group := range e.cfg.Groups {
		app, result, err := e.namedGroup(ctx, group)
		if err != nil {
			return nil, results, err
		}
		results = append(results, result...)
		if app != nil {
			apps = append(apps, *app)
		}
	}
	var places []place
	for _, app := range apps {
		for _, stream := range app.CommitCheckpointStreamNames {
			if topic, shown := e.cfg.Names.Topic(stream, ""); shown {
				places = append(places, place{app.AppName, translate.Alias{Topic: topic, Stream: translate.StreamRef{Name: stream}}})
			}
		}
		for _, alias := range e.cfg.Names.ByID() { // whether an app names them is not known
			places = append(places, place{app.AppName, alias})
		}
	}
	return places, results, nil
}

// namedGroup finds the app of a group. One without an app has never committed.
func (e *examination) namedGroup(ctx context.Context, group string) (*wire.App, []Result, error) {
	name, err := e.cfg.AppName(group)
	if err != nil {
		return nil, []Result{found(Failed, group, "use a shorter group.id, or allow longer apps: --dis-app-name-max", "%v", err)}, nil
	}
	app, err := e.client.DescribeApp(ctx, name)
	switch {
	case dis.HasCode(err, wire.CodeAppNotFound, wire.CodeNoCheckpoint):
		return nil, []Result{found(OK, group, "", "the group has never committed")}, nil
	case err != nil:
		return nil, nil, err
	}
	return app, nil, nil
}

// readCheckpoints gives what is committed at each place, by partition. A place that
// is gone has nothing.
func (e *examination) readCheckpoints(ctx context.Context, places []place) (map[place]map[string]string, error) {
	var mu sync.Mutex
	all := make(map[place]map[string]string, len(places))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(parallel)
	for _, at := range places {
		workers.Go(func() error {
			states, err := e.client.ConsumerState(ctx, at.app, at.stream.Stream.Name, at.stream.Stream.ID)
			if dis.HasCode(err, wire.CodeAppNotFound, wire.CodeStreamNotFound) {
				err = nil
			}
			committed := make(map[string]string, len(states))
			for _, state := range states {
				committed[string(state.PartitionID)] = string(state.SequenceNumber)
			}
			mu.Lock()
			defer mu.Unlock()
			all[at] = committed
			return err
		})
	}
	return all, workers.Wait()
}

// shownMoves is how many changes of an app are told.
const shownMoves = 3

// changed tells what is different, by app.
func changed(before, after map[place]map[string]string) map[string][]string {
	changes := map[string][]string{}
	for at, committed := range after {
		for _, partition := range slices.Sorted(maps.Keys(committed)) {
			now, then := committed[partition], before[at][partition]
			if now != then {
				changes[at.app] = append(changes[at.app], fmt.Sprintf("%s %s from %s to %s", at.stream.Topic, partition, orNone(then), orNone(now)))
			}
		}
	}
	for app, moves := range changes {
		slices.Sort(moves)
		if len(moves) > shownMoves {
			moves = append(moves[:shownMoves], fmt.Sprintf("and %d more", len(moves)-shownMoves))
		}
		changes[app] = moves
	}
	return changes
}

func orNone(number string) string {
	if number == "" || number == "-1" {
		return "none"
	}
	return number
}

// pause returns early, with the context's error, when the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
