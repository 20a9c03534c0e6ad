// Package repository_test checks what concerns the repository as a whole.
package repository_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kafka-dis-gateway/kafka-dis-gateway"

// mayImport is the import rule: for each package of this module the others of
// this module that it may import. Imports run one way: the command builds the
// gateway, the gateway connects the group coordinator and the translators, the
// translators share package translate and know nothing of each other, and the
// embedded DIS shares with the client only the bodies of the API, so that each
// tests the other.
var mayImport = map[string][]string{
	"cmd/kafka-dis-gateway": {
		"cmd/kafka-dis-gateway/adminpage", "cmd/kafka-dis-gateway/doctor", "gateway", "gateway/loglimit", "gateway/harmless", "gateway/health", "gateway/status", "groupcoord", "translate", "translate/topics", "translate/produce", "translate/fetch", "translate/offsets",
		"translate/record", "translate/dis", "translate/dis/wire", "translate/dis/embedded",
	},
	"cmd/kafka-dis-gateway/adminpage": {},
	"cmd/kafka-dis-gateway/doctor": {
		"cmd/kafka-dis-gateway/adminpage", "gateway/harmless",
		"translate", "translate/offsets", "translate/record", "translate/dis", "translate/dis/wire",
	},
	"gateway": {
		"groupcoord", "translate", "translate/topics", "translate/produce", "translate/fetch", "translate/offsets",
		"translate/record", "translate/dis", "translate/dis/wire",
	},
	"gateway/status":         {"gateway", "gateway/harmless", "groupcoord", "translate", "translate/topics", "translate/dis", "translate/dis/wire"},
	"gateway/health":         {"translate", "translate/dis"},
	"gateway/loglimit":       {},
	"gateway/harmless":       {},
	"groupcoord":             {},
	"translate":              {"translate/record", "translate/dis", "translate/dis/wire"},
	"translate/topics":       translator,
	"translate/produce":      translator,
	"translate/fetch":        translator,
	"translate/offsets":      translator,
	"translate/record":       {},
	"translate/dis":          {"translate/dis/wire"},
	"translate/dis/wire":     {},
	"translate/dis/embedded": {"translate/dis/wire"},
	"bench":                  {"translate/dis", "translate/dis/wire", "translate/record"},
	"checker":                {"translate/dis", "translate/dis/wire"},
	"e2e":                    {},
	"e2e/oracle":             {},
}

var translator = []string{"translate", "translate/record", "translate/dis", "translate/dis/wire"}

// testsToo are the packages whose tests keep the rule as well.
var testsToo = []string{"translate/dis/embedded"}

// noKafka are the packages that only know DIS: no Kafka library either.
var noKafka = []string{"translate/dis", "translate/dis/wire", "translate/dis/embedded"}

var kafkaLibraries = []string{"github.com/twmb/franz-go", "github.com/IBM/sarama", "github.com/segmentio/kafka-go"}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, pkg := range ownPackages(t) {
		name := strings.TrimPrefix(pkg.ImportPath, module+"/")
		seen[name] = true
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %s has no line in the import rule", name)
			continue
		}
		imports := pkg.Imports
		if slices.Contains(testsToo, name) {
			imports = slices.Concat(imports, pkg.TestImports, pkg.XTestImports)
		}
		for _, imported := range imports {
			own, isOwn := strings.CutPrefix(imported, module+"/")
			if isOwn && own != name && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, it may import %v", name, own, allowed)
			}
			if slices.Contains(noKafka, name) && isKafka(imported) {
				t.Errorf("%s imports %s, it knows DIS alone", name, imported)
			}
		}
	}
	for _, name := range []string{"gateway", "groupcoord", "translate", "translate/dis", "translate/dis/embedded"} {
		if !seen[name] {
			t.Errorf("package %s was not listed", name)
		}
	}
}

func isKafka(imported string) bool {
	return slices.ContainsFunc(kafkaLibraries, func(library string) bool { return strings.HasPrefix(imported, library) })
}

// ownPackages lists the packages of this module that have more than tests.
func ownPackages(t *testing.T) []listed {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	var problems strings.Builder
	list.Stderr = &problems
	output, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	var own []listed
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var pkg listed
		if err := decoder.Decode(&pkg); errors.Is(err, io.EOF) {
			return own
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		if strings.HasPrefix(pkg.ImportPath, module+"/") {
			own = append(own, pkg)
		}
	}
}
