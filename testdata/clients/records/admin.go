package records

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Administrator is a client that has an admin client.
type Administrator interface {
	Admin(bootstrap string) (Admin, error)
}

// Admin is what a program makes of an admin client. What the client has nothing for
// gives ErrNotThere, what the server refuses a Refusal; any other error ends the
// program.
type Admin interface {
	Cluster(ctx context.Context) (Cluster, error)
	Topics(ctx context.Context) ([]string, error)
	Topic(ctx context.Context, topic string) ([]Partition, error)
	Create(ctx context.Context, topic string, partitions int, configs map[string]string) error
	Configs(ctx context.Context, topic string) (map[string]string, error)
	// Partitions raises the number of partitions to count.
	Partitions(ctx context.Context, topic string, count int) error
	// Alter changes some configs; Replace sets them and takes all others back to
	// their defaults.
	Alter(ctx context.Context, topic string, configs map[string]string) error
	Replace(ctx context.Context, topic string, configs map[string]string) error
	// Offsets are the first and the next offset of each partition.
	Offsets(ctx context.Context, topic string, partitions int) ([][2]int64, error)
	// DeleteRecords deletes those of a partition before an offset.
	DeleteRecords(ctx context.Context, topic string, partition int, offset int64) error
	Groups(ctx context.Context) ([]string, error)
	Group(ctx context.Context, group string) (Group, error)
	Delete(ctx context.Context, topic string) error
	Close()
}

// Cluster is what a client tells of the brokers.
type Cluster struct {
	Brokers    []string // ID HOST:PORT
	Controller int
}

// Partition of a topic.
type Partition struct {
	ID, Leader    int
	Replicas, ISR []int
}

// Group with the client id of each member and the partitions that it has, like t/0.
type Group struct {
	State   string
	Members map[string][]string
}

// ErrNotThere is what a client gives that has no such call.
var ErrNotThere = errors.New("this client has no such call")

// Refusal is an error of the protocol, with the text of the server where the client
// tells it.
type Refusal struct {
	Code   int
	Reason string
}

func (r Refusal) Error() string { return fmt.Sprintf("%d %s", r.Code, r.Reason) }

// administrate runs one step: BOOTSTRAP STEP ARGUMENT...
func administrate(client Client, words []string, out *Output) error {
	administrator, ok := client.(Administrator)
	if !ok || len(words) < 2 {
		return errors.New("admin: this program has none, or there is no step")
	}
	admin, err := administrator.Admin(words[0])
	if err != nil {
		return err
	}
	defer admin.Close()
	printed, err := step(context.Background(), admin, words[1], append(words[2:], make([]string, 3)...))
	var refusal Refusal
	switch {
	case errors.Is(err, ErrNotThere):
		printed = []string{"none"}
	case errors.As(err, &refusal):
		printed = []string{fmt.Sprintf("refused %d %q", refusal.Code, refusal.Reason)}
	case err != nil:
		return err
	}
	for _, line := range printed {
		fmt.Fprintln(out, line)
	}
	return nil
}

// step gives the lines of a step. There are more arguments than a step takes.
func step(ctx context.Context, admin Admin, name string, args []string) ([]string, error) {
	number, numberErr := strconv.Atoi(args[1])
	numbered := func(call func() error) error { return errors.Join(numberErr, call()) }
	switch name {
	case "cluster":
		cluster, err := admin.Cluster(ctx)
		return append(prefixed("broker", cluster.Brokers), fmt.Sprintf("controller %d", cluster.Controller)), err
	case "topics":
		names, err := admin.Topics(ctx)
		return prefixed("topic", names), err
	case "topic":
		partitions, err := admin.Topic(ctx, args[0])
		return partitionLines(partitions), err
	case "create":
		return nil, numbered(func() error { return admin.Create(ctx, args[0], number, configs(args[2:])) })
	case "configs":
		values, err := admin.Configs(ctx, args[0])
		return configLines(values), err
	case "partitions":
		return nil, numbered(func() error { return admin.Partitions(ctx, args[0], number) })
	case "alter":
		return nil, admin.Alter(ctx, args[0], configs(args[1:]))
	case "replace":
		return nil, admin.Replace(ctx, args[0], configs(args[1:]))
	case "offsets":
		return offsetLines(ctx, admin, args[0], number)
	case "delete-records":
		offset, err := strconv.ParseInt(args[2], 10, 64)
		return nil, errors.Join(err, numbered(func() error { return admin.DeleteRecords(ctx, args[0], number, offset) }))
	case "groups":
		names, err := admin.Groups(ctx)
		return prefixed("group", names), err
	case "group":
		group, err := admin.Group(ctx, args[0])
		return groupLines(group), err
	case "delete":
		return nil, admin.Delete(ctx, args[0])
	}
	return nil, fmt.Errorf("no step %q", name)
}

func configs(pairs []string) map[string]string {
	configs := map[string]string{}
	for _, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok {
			configs[name] = value
		}
	}
	return configs
}

func prefixed(word string, names []string) (lines []string) {
	for _, name := range slices.Sorted(slices.Values(names)) {
		lines = append(lines, word+" "+name)
	}
	return lines
}

func partitionLines(partitions []Partition) (lines []string) {
	slices.SortFunc(partitions, func(a, b Partition) int { return a.ID - b.ID })
	for _, p := range partitions {
		lines = append(lines, fmt.Sprintf("partition %d leader %d replicas %d isr %d", p.ID, p.Leader, p.Replicas, p.ISR))
	}
	return lines
}

func configLines(values map[string]string) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, "config "+name+"="+values[name])
	}
	return lines
}

func offsetLines(ctx context.Context, admin Admin, topic string, partitions int) (lines []string, err error) {
	offsets, err := admin.Offsets(ctx, topic, partitions)
	for partition, o := range offsets {
		lines = append(lines, fmt.Sprintf("offsets %d %d %d", partition, o[0], o[1]))
	}
	return lines, err
}

func groupLines(group Group) []string {
	lines := []string{"state " + group.State}
	for _, id := range slices.Sorted(maps.Keys(group.Members)) {
		assigned := slices.Sorted(slices.Values(group.Members[id]))
		lines = append(lines, "member "+id+" "+strings.Join(assigned, ","))
	}
	return lines
}
