package translate

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
)

var update = flag.Bool("update", false, "write the table of errors into the page on semantics")

const (
	semanticsPath = "../docs/semantics.md"
	errorsBegin   = "<!-- errors:begin -->\n"
	errorsEnd     = "<!-- errors:end -->"
)

// documentedCalls are the columns of the table in the page.
var documentedCalls = []struct {
	call    Call
	title   string
	success string // what code 0 is to the client
}{
	{CallProduce, "Produce", ""},
	{CallFetch, "Fetch", "an empty answer"},
	{CallMetadata, "Metadata", ""},
	{CallCreateTopic, "CreateTopics", ""},
	{CallCommit, "OffsetCommit", ""},
	{CallOffsetFetch, "OffsetFetch", "nothing committed"},
}

// everywhere are the calls of a failure that does not belong to some alone.
var everywhere = []Call{CallProduce, CallFetch, CallMetadata, CallCreateTopic, CallCommit, CallOffsetFetch}

// documentedErrors are the rows: what DIS does, and the calls in which it comes up.
var documentedErrors = []struct {
	what  string
	err   error
	calls []Call
}{
	{"throttled: DIS.4303, DIS.4305, HTTP 429", answered(wire.CodeThrottled, 400), everywhere},
	{"no connection: nothing was sent", &dis.Error{Operation: "Op", NotProcessed: true, Err: errors.New("refused")}, everywhere},
	{"no answer, or a 5xx", answered(wire.CodeInternal, 500), everywhere},
	{"keys refused that DIS accepted before: DIS.4100 to DIS.4114, HTTP 401, 441", known(answered(wire.CodeSignatureMismatch, 401)), everywhere},
	{"keys that DIS never accepted", answered(wire.CodeSignatureMismatch, 401), everywhere},
	{"no permission: DIS.4116, HTTP 403", answered(wire.CodeForbidden, 403), everywhere},
	{"the stream does not exist: DIS.4301", answered(wire.CodeStreamNotFound, 400), []Call{CallProduce, CallFetch, CallMetadata, CallCommit, CallOffsetFetch}},
	{"the stream exists: DIS.4307", answered(wire.CodeStreamExists, 400), []Call{CallCreateTopic}},
	{"the stream is not running: DIS.4205", answered(wire.CodeStreamNotRunning, 400), []Call{CallProduce, CallFetch, CallMetadata}},
	{"quota of partitions or apps: DIS.4308, DIS.4329", answered(wire.CodeQuotaExceeded, 400), []Call{CallCreateTopic, CallCommit}},
	{"the record has expired: DIS.4226", answered(wire.CodeRecordExpired, 400), []Call{CallFetch}},
	{"the request is too large: HTTP 413", answered("", 413), []Call{CallProduce}},
	{"anything else that DIS refuses", answered(wire.CodeInvalidRequest, 400), everywhere},
}

// TestSemanticsHasTheErrors keeps the page to the table by which errors are answered. Run
// with -update to write it.
func TestSemanticsHasTheErrors(t *testing.T) {
	raw, err := os.ReadFile(semanticsPath)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(raw), errorsBegin)
	got, after, ends := strings.Cut(rest, errorsEnd)
	want := errorsMarkdown()
	switch {
	case !begins || !ends:
		t.Fatalf("docs/semantics.md has no lines %q and %q; between them belongs\n%s", strings.TrimSpace(errorsBegin), errorsEnd, want)
	case got == want:
	case *update:
		if err := os.WriteFile(semanticsPath, []byte(before+errorsBegin+want+errorsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the errors in docs/semantics.md are not those of the code; run `go test ./translate -run Semantics -update`. Wanted:\n%s", want)
	}
}

func errorsMarkdown() string {
	var b strings.Builder
	b.WriteString("| DIS |")
	for _, column := range documentedCalls {
		fmt.Fprintf(&b, " %s |", column.title)
	}
	b.WriteString("\n" + strings.Repeat("|---", len(documentedCalls)+1) + "|\n")
	for _, row := range documentedErrors {
		fmt.Fprintf(&b, "| %s |", row.what)
		for _, column := range documentedCalls {
			answer := "–"
			if slices.Contains(row.calls, column.call) {
				answer = errorName(KafkaError(column.call, row.err).Code, column.success)
			}
			fmt.Fprintf(&b, " %s |", answer)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func errorName(code int16, success string) string {
	var known *kerr.Error
	if errors.As(kerr.ErrorForCode(code), &known) {
		return "`" + known.Message + "`"
	}
	return success
}
