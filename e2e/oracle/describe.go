package oracle

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// leftOut are the fields that transcripts do not show, see the package comment.
var leftOut = []string{"Version", "UnknownTags", "ThrottleMillis", "ThrottleTimeMs", "ErrorMessage", "FinalizedFeaturesEpoch"}

// describe writes a response as lines: a struct is a line of its plain fields, and
// what it holds stands below it, one column further in. Records below the offset
// from are not shown.
func (r *Run) describe(conn string, resp kmsg.Response, from int64) []string {
	d := describer{r: r, from: from}
	d.structure(0, fmt.Sprintf("%s: %s v%d", conn, kmsg.NameForKey(resp.Key()), resp.GetVersion()), reflect.ValueOf(resp).Elem())
	return d.lines
}

type describer struct {
	r     *Run
	from  int64
	lines []string
}

func (d *describer) line(depth int, text string) {
	d.lines = append(d.lines, strings.Repeat(" ", depth)+d.r.names.clean(text))
}

func (d *describer) structure(depth int, title string, v reflect.Value) {
	line := title
	var below []func()
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if slices.Contains(leftOut, name) || untold(v, i) {
			continue
		}
		if field.Kind() == reflect.Pointer && field.Type().Elem().Kind() == reflect.Struct {
			field = field.Elem() // untold has seen that it is not nil
		}
		switch {
		case field.Kind() == reflect.Struct:
			below = append(below, func() { d.structure(depth+1, name, field) })
		case isArray(field):
			below = append(below, func() { d.array(depth+1, name, field) })
		case name == "RecordBatches" || name == "Records":
			below = append(below, func() { d.records(depth+1, field.Bytes()) })
		default:
			line += " " + name + "=" + d.plain(name, field)
		}
	}
	d.line(depth, line)
	for _, show := range below {
		show()
	}
}

// untold reports whether a field has the value that says nothing: its default,
// where that is not zero, and null, empty or false.
func untold(v reflect.Value, i int) bool {
	field := v.Field(i)
	switch field.Kind() {
	case reflect.Slice, reflect.String, reflect.Map:
		return field.Len() == 0
	case reflect.Pointer:
		return field.IsNil()
	case reflect.Bool:
		return !field.Bool()
	case reflect.Array: // the id of a topic
		return field.IsZero()
	}
	fresh := reflect.New(v.Type())
	if withDefaults, ok := fresh.Interface().(interface{ Default() }); ok {
		withDefaults.Default()
	}
	byDefault := fresh.Elem().Field(i)
	if field.Kind() == reflect.Struct {
		return reflect.DeepEqual(field.Interface(), byDefault.Interface())
	}
	return !byDefault.IsZero() && field.Equal(byDefault)
}

func isArray(field reflect.Value) bool {
	return field.Kind() == reflect.Slice && field.Type().Elem().Kind() != reflect.Uint8
}

// array shows plain elements in one line, others one below the other, both sorted.
func (d *describer) array(depth int, name string, v reflect.Value) {
	if v.Type().Elem().Kind() != reflect.Struct {
		var shown []string
		for i := range v.Len() {
			shown = append(shown, d.plain(strings.TrimSuffix(name, "s"), v.Index(i)))
		}
		d.line(depth, name+"=["+strings.Join(shown, " ")+"]")
		return
	}
	order := make([]int, v.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareElements(v.Index(a), v.Index(b), d.r.names) })
	for _, i := range order {
		d.structure(depth, name, v.Index(i))
	}
}

// compareElements orders structs by their first plain field: a name or number,
// or of members the name that they have here.
func compareElements(a, b reflect.Value, n *names) int {
	for i := range a.NumField() {
		name, x, y := a.Type().Field(i).Name, a.Field(i), b.Field(i)
		order := 0
		switch {
		case x.Kind() == reflect.String && name == "MemberID":
			order = strings.Compare(n.aliases[kindMember+x.String()], n.aliases[kindMember+y.String()])
		case x.Kind() == reflect.String:
			order = strings.Compare(x.String(), y.String())
		case x.Kind() == reflect.Pointer && x.Type().Elem().Kind() == reflect.String && !x.IsNil() && !y.IsNil():
			order = strings.Compare(x.Elem().String(), y.Elem().String())
		case x.Type() == reflect.TypeFor[[16]byte]():
			order = strings.Compare(n.topic(x), n.topic(y))
		case x.CanInt():
			order = int(min(1, max(-1, x.Int()-y.Int())))
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

func (d *describer) plain(name string, v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case v.Type() == reflect.TypeFor[[16]byte]():
		return d.topicID(v.Interface().([16]byte))
	case v.Kind() == reflect.Slice:
		return d.bytes(name, v.Bytes())
	case v.Kind() == reflect.String:
		return d.text(name, v.String())
	case v.CanInt():
		return d.number(name, v.Int())
	}
	return fmt.Sprint(v.Interface())
}

func (d *describer) topicID(id [16]byte) string {
	return d.r.names.alias(kindTopic, string(id[:]))
}

// topic is the name of a topic id, "" when it has none yet.
func (n *names) topic(id reflect.Value) string {
	bytes := id.Interface().([16]byte)
	return n.aliases[kindTopic+string(bytes[:])]
}

func (d *describer) text(name, value string) string {
	switch name {
	case "MemberID", "LeaderID", "Leader":
		if value == "" {
			return `""`
		}
		return d.r.names.alias(kindMember, value)
	case "ClusterID":
		return d.r.names.alias(kindCluster, value)
	}
	return d.r.names.clean(quoted(value))
}

// quoted leaves plain words as they are.
func quoted(value string) string {
	if value == "" || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' || c == '"' }) {
		return strconv.Quote(value)
	}
	return value
}

func (d *describer) number(name string, value int64) string {
	switch {
	case name == "ErrorCode" && value != 0:
		return codeName(int16(value))
	case name == "Port" && value > 0:
		return d.r.names.alias(kindPort, strconv.FormatInt(value, 10))
	case name == "SessionID" && value != 0:
		return d.r.names.alias(kindSession, strconv.FormatInt(value, 10))
	case name == "ProducerID" && value >= 0:
		return d.r.names.alias(kindProducer, strconv.FormatInt(value, 10))
	case strings.HasSuffix(name, "Timestamp") || strings.HasSuffix(name, "Time"):
		return moment(value)
	}
	return strconv.FormatInt(value, 10)
}

func codeName(code int16) string {
	var known *kerr.Error
	if known = kerr.TypedErrorForCode(code); known == nil {
		return "none"
	}
	return fmt.Sprintf("%d:%s", code, known.Message)
}

// moment is a time in ms, "now" when it is about that, and of today how many
// hours from now.
func moment(ms int64) string {
	const now, today = 10 * time.Minute, 24 * time.Hour
	switch ahead := time.Until(time.UnixMilli(ms)); {
	case -now < ahead && ahead < now:
		return "now"
	case -today < ahead && ahead < today:
		return fmt.Sprintf("now%+.0fh", ahead.Hours())
	}
	return strconv.FormatInt(ms, 10)
}
