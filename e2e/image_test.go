package e2e

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// image is the file system of the container image, made by the lines of the
// Dockerfile: this is what can be shown of it without a container engine.
type image struct {
	dockerfile
	root string
}

// buildImage assembles the last stage in a temporary folder. The image trusts the
// certificates of trusted beside those of this machine.
func buildImage(t *testing.T, trusted []byte) image {
	t.Helper()
	i := image{readDockerfile(t), t.TempDir()}
	if i.last["FROM"] != "scratch" {
		t.Fatalf("the image is made from %s, not from nothing: the tests know nothing of what is in it", i.last["FROM"])
	}
	for _, file := range i.copy {
		target := filepath.Join(i.root, file.to)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		switch file.from {
		case "/kafka-dis-gateway":
			i.buildBinary(t, target)
		case "/etc/ssl/certs/ca-certificates.crt":
			err = writeCertificates(file.from, target, trusted)
		case "/data":
			err = os.Mkdir(target, 0o755)
		default:
			t.Fatalf("Dockerfile: COPY of %s, which the tests do not know", file.from)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return i
}

// writeCertificates copies the certificates of this machine, if it has any, and
// adds some.
func writeCertificates(from, to string, more []byte) error {
	bundle, err := os.ReadFile(from)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(to, append(bundle, more...), 0o644)
}

// buildBinary runs the go build of the Dockerfile, with another output.
func (i image) buildBinary(t *testing.T, output string) {
	t.Helper()
	command := strings.Join(i.build, " ")
	if want := " -o /kafka-dis-gateway "; strings.Count(command, want) != 1 {
		t.Fatalf("Dockerfile: %q does not build /kafka-dis-gateway", command)
	}
	build := exec.Command("sh", "-c", strings.Replace(command, " -o /kafka-dis-gateway ", ` -o "$OUTPUT" `, 1))
	build.Dir = ".."
	build.Env = append(os.Environ(), "OUTPUT="+output, "VERSION=v0.0.0-image", "COMMIT=0123456789",
		"GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-race", "")) // which needs a C library
	if printed, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, printed)
	}
}

// inContainer is the script that runs a command on a read-only root that holds
// nothing but the image, as the user that the Dockerfile names: root, volume for
// /data or -, user, group, then the command. No variable of the
// machine reaches it.
const inContainer = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99
	[ "$1" = - ] || mount --bind "$1" "$0/data" || exit 99
	user=$2 group=$3; shift 3
	exec env -i unshare --user --map-user="$user" --map-group="$group" --root="$0" --wd=/ -- "$@"`

// container is how an image is run.
type container struct {
	variables []string // beside those of the image
	volume    string   // writable folder at /data, if any
	pod       *pod     // whose network it has, if any
}

// start runs a command in the image; without one, that of the image.
func (i image) start(t *testing.T, c container, arguments ...string) *process {
	t.Helper()
	unshare := requireProgram(t, "unshare", "--user", "--map-root-user", "--mount", "true")
	user, group, found := strings.Cut(i.last["USER"], ":")
	if !found || user == "0" || group == "0" {
		t.Fatalf("Dockerfile: USER %s is not UID:GID of a user without rights", i.last["USER"])
	}
	if len(arguments) == 0 {
		arguments = i.list(t, "CMD")
	}
	script := strings.Replace(inContainer, "env -i", "env -i "+quoted(slices.Concat(i.env, c.variables)), 1)
	args := []string{"--user", "--map-root-user", "--mount", "sh", "-c", script, i.root, cmp.Or(c.volume, "-"), user, group}
	command := slices.Concat([]string{unshare}, args, i.list(t, "ENTRYPOINT"), arguments)
	if c.pod != nil {
		command = c.pod.inside(command...)
	}
	return start(t, nil, command[0], command[1:]...)
}

// quoted makes words of texts for a shell.
func quoted(texts []string) string {
	var words []string
	for _, text := range texts {
		words = append(words, "'"+strings.ReplaceAll(text, "'", `'\''`)+"'")
	}
	return strings.Join(words, " ")
}

// size is that of all files, in bytes.
func (i image) size(t *testing.T) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(i.root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		bytes += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
