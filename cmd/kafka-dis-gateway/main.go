// Command kafka-dis-gateway lets Kafka clients use Huawei Cloud DIS.
//
// This package is the composition root: it reads the settings, builds the
// parts, runs them and drains them. What the parts do lives in gateway,
// groupcoord and translate.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway/harmless"
)

// Exit codes of the command line contract.
const (
	exitFailed = 1 // what was asked for could not be done
	exitUsage  = 2 // what was asked for is not valid
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit code. Errors go to stderr,
// one line per mistake.
func run(args []string, stdout, stderr io.Writer) int {
	command, err := parse(args, stdout, stderr)
	if err != nil {
		report(stderr, err)
		return exitUsage
	}
	signals := watchSignals()
	defer signals.stop()
	err = command.run(signals, stdout, stderr)
	if err == nil {
		return 0
	}
	if signals.forced() {
		err = errors.New("stopped by a second signal, before everything in flight was finished")
	}
	report(stderr, err)
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitFailed
}

// usageError is a mistake in the settings that only the parts could find.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// report prints an error; one that joins several has a line for each.
func report(w io.Writer, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(w, "kafka-dis-gateway: %s\n", harmless.Text(line))
	}
}
