package e2e

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A block of a page that shows commands and what they print, and in front of it how the
// gateway is started:
//
//	<!-- runs: dev --topic orders:3 -->
//	```console
//	$ kcat -b localhost:9092 -L
//	...
//	```
//
// The lines of an output may come in any order, since those of several partitions do. The
// character … stands for anything in a line, and alone for any further lines.
var runnableBlock = regexp.MustCompile("(?ms)^<!-- runs: dev(.*?) -->\n```console\n(.*?)^```$")

// TestDocumentsShowWhatHappens runs the commands that the documents show, and compares
// what they print.
func TestDocumentsShowWhatHappens(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := 0
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range runnableBlock.FindAllStringSubmatch(string(text), -1) {
			blocks++
			t.Run(fmt.Sprintf("%s %d", filepath.Base(page), i+1), func(t *testing.T) {
				t.Parallel()
				runBlock(t, strings.Fields(block[1]), shownCommands(block[2]))
			})
		}
	}
	if blocks < 4 {
		t.Errorf("only %d blocks, the pattern must be wrong", blocks)
	}
}

// shownCommand is a command of a block with the lines that it is shown to print.
type shownCommand struct {
	line   string
	prints []string
}

func shownCommands(block string) (commands []shownCommand) {
	for _, line := range splitLines(block) {
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case isCommand:
			commands = append(commands, shownCommand{line: command})
		case strings.TrimSpace(line) != "" && len(commands) > 0:
			last := &commands[len(commands)-1]
			last.prints = append(last.prints, line)
		}
	}
	return commands
}

// shownAddresses are those of the documents.
const (
	shownKafka = "localhost:9092"
	shownAdmin = "localhost:9644"
)

// runBlock runs commands one after another against one gateway.
func runBlock(t *testing.T, args []string, commands []shownCommand) {
	requireProgram(t, "kcat", "-V")
	d := startDev(t, append(args, "--admin-listen", "127.0.0.1:0")...)
	admin := waitForPrefix(t, d.stdout, "Admin ", startTimeout)
	path := toolPath(t, commands)
	real := strings.NewReplacer(shownKafka, d.kafka, shownAdmin, admin)
	shown := strings.NewReplacer(d.kafka, shownKafka, admin, shownAdmin)
	dir := t.TempDir()
	for _, c := range commands {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", real.Replace(c.line))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+path)
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		err := cmd.Run()
		cancel()
		if ctx.Err() == context.DeadlineExceeded {
			t.Fatalf("%s: %v\n%s", c.line, err, &output)
		}
		checkShown(t, c, splitLines(shown.Replace(strings.TrimSpace(output.String()))))
	}
}

func checkShown(t *testing.T, c shownCommand, printed []string) {
	t.Helper()
	var left []string
	for _, line := range printed {
		if strings.TrimSpace(line) != "" {
			left = append(left, line)
		}
	}
	more := false
	for _, want := range c.prints {
		if strings.TrimSpace(want) == "…" {
			more = true
			continue
		}
		at := slices.IndexFunc(left, shownLine(want).MatchString)
		if at < 0 {
			t.Errorf("$ %s\nis shown to print\n%s\nbut printed\n%s", c.line, want, strings.Join(printed, "\n"))
			return
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 && !more {
		t.Errorf("$ %s\nprinted what is not shown:\n%s", c.line, strings.Join(left, "\n"))
	}
}

// shownLine matches a line that is as shown, but for the width of spaces.
func shownLine(shown string) *regexp.Regexp {
	words := strings.Fields(shown)
	for i, word := range words {
		words[i] = strings.ReplaceAll(regexp.QuoteMeta(word), "…", `.*`)
	}
	return regexp.MustCompile(`^\s*` + strings.Join(words, `\s+`) + `\s*$`)
}

// kafkaScripts are the scripts of Kafka that the documents use, with their classes.
var kafkaScripts = map[string]string{
	"kafka-consumer-groups.sh":     "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
	"kafka-topics.sh":              "org.apache.kafka.tools.TopicCommand",
	"kafka-get-offsets.sh":         "org.apache.kafka.tools.GetOffsetShell",
	"kafka-console-consumer.sh":    "org.apache.kafka.tools.consumer.ConsoleConsumer",
	"kafka-producer-perf-test.sh":  "org.apache.kafka.tools.ProducerPerformance",
	"kafka-configs.sh":             "org.apache.kafka.tools.ConfigCommand",
	"kafka-broker-api-versions.sh": "org.apache.kafka.tools.BrokerApiVersionsCommand",
}

// toolPath is a PATH on which the scripts of Kafka are that commands use.
func toolPath(t *testing.T, commands []shownCommand) string {
	t.Helper()
	path := os.Getenv("PATH")
	used := slices.ContainsFunc(commands, func(c shownCommand) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(kafkaScripts)), func(name string) bool { return strings.Contains(c.line, name) })
	})
	if !used {
		return path
	}
	tools := newConsumerGroups(t, "")
	dir := t.TempDir()
	args := strings.Join(tools.args[:slices.Index(tools.args, "-cp")], " ")
	classes := tools.args[slices.Index(tools.args, "-cp")+1]
	for name, class := range kafkaScripts {
		script := fmt.Sprintf("#!/bin/sh\nexec %s %s -cp '%s' %s \"$@\"\n", tools.java, args, classes, class)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir + ":" + path
}
