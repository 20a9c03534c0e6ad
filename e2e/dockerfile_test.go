package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// dockerfile is what the tests read of the Dockerfile: how the binary is built and
// what the image is made of, so that what they run cannot drift from it.
type dockerfile struct {
	build []string     // the words of the go build command
	copy  []copiedFile // of the last stage
	env   []string     // KEY=value, of the last stage
	last  map[string]string
}

// copiedFile is a COPY --from=builder of the last stage.
type copiedFile struct{ from, to, owner string }

// list gives an instruction of the last stage that has the form of a JSON array.
func (d dockerfile) list(t *testing.T, instruction string) []string {
	t.Helper()
	var words []string
	if err := json.Unmarshal([]byte(d.last[instruction]), &words); err != nil {
		t.Fatalf("Dockerfile, %s %s: %v", instruction, d.last[instruction], err)
	}
	return words
}

// health is the command of the health check.
func (d dockerfile) health(t *testing.T) []string {
	t.Helper()
	_, command, _ := strings.Cut(d.last["HEALTHCHECK"], " CMD ")
	var words []string
	if err := json.Unmarshal([]byte(command), &words); err != nil {
		t.Fatalf("Dockerfile, HEALTHCHECK %s: %v", d.last["HEALTHCHECK"], err)
	}
	return words
}

func readDockerfile(t *testing.T) dockerfile {
	t.Helper()
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	d := dockerfile{}
	for line := range strings.Lines(joinedLines(string(text))) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch instruction {
		case "FROM":
			d.copy, d.env, d.last = nil, nil, map[string]string{"FROM": rest}
		case "COPY":
			if file, ok := copiedFromBuilder(t, rest); ok {
				d.copy = append(d.copy, file)
			}
		case "ENV":
			d.env = append(d.env, strings.Fields(rest)...)
		case "RUN":
			if words := strings.Fields(rest); strings.Contains(rest, " go build ") {
				d.build = words
			}
		default:
			d.last[instruction] = rest
		}
	}
	return d
}

// joinedLines drops comments and joins lines that end in a backslash.
func joinedLines(text string) string {
	var joined strings.Builder
	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || trimmed[0] == '#':
		case strings.HasSuffix(trimmed, `\`):
			joined.WriteString(strings.TrimSuffix(trimmed, `\`) + " ")
		default:
			joined.WriteString(trimmed + "\n")
		}
	}
	return joined.String()
}

func copiedFromBuilder(t *testing.T, arguments string) (copiedFile, bool) {
	t.Helper()
	var file copiedFile
	var paths []string
	fromBuilder := false
	for word := range strings.FieldsSeq(arguments) {
		option, isOption := strings.CutPrefix(word, "--")
		name, value, _ := strings.Cut(option, "=")
		switch {
		case !isOption:
			paths = append(paths, word)
		case name == "from" && value == "builder":
			fromBuilder = true
		case name == "chown":
			file.owner = value
		default:
			t.Fatalf("Dockerfile: COPY %s: an option that the tests do not know", arguments)
		}
	}
	if !fromBuilder {
		return file, false
	}
	if len(paths) != 2 {
		t.Fatalf("Dockerfile: COPY %s: not one source and one target", arguments)
	}
	file.from, file.to = paths[0], paths[1]
	return file, true
}
