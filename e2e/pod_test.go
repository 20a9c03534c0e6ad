package e2e

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"
)

// pod is a network of its own, with nothing but a loopback interface, that several
// processes share as the containers of a pod do.
type pod struct {
	t      *testing.T
	holder *process
}

func startPod(t *testing.T) *pod {
	t.Helper()
	requireProgram(t, "nsenter", "--version")
	unshare := requireProgram(t, "unshare", "--user", "--map-root-user", "--net", "ip", "link", "set", "lo", "up")
	holder := start(t, nil, unshare, "--user", "--map-root-user", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 600")
	waitForPrefix(t, holder.stdout, "up", startTimeout)
	return &pod{t, holder}
}

// inside gives the command that runs another one in the pod.
func (p *pod) inside(command ...string) []string {
	return append([]string{"nsenter", "--preserve-credentials", "--user", "--net", "--target", strconv.Itoa(p.holder.cmd.Process.Pid), "--"}, command...)
}

// startDIS runs an embedded DIS with the topic "t" at 127.0.0.1:9880 of the pod.
func (p *pod) startDIS() {
	p.t.Helper()
	data := p.t.TempDir()
	maker := startDevOn(p.t, "127.0.0.1:0", data, "--topic", "t:1")
	maker.signal(syscall.SIGTERM)
	maker.exitCode(startTimeout)
	command := p.inside(gatewayBinary, "embedded-dis", "--data-dir", data)
	dis := start(p.t, nil, command[0], command[1:]...)
	waitForPrefix(p.t, dis.stdout, "DIS ", startTimeout)
}

// kcat runs the program in the pod.
func (p *pod) kcat(input string, args ...string) string {
	p.t.Helper()
	command := p.inside(append([]string{requireProgram(p.t, "kcat", "-V"), "-q"}, args...)...)
	return runClient(p.t, input, command[0], command[1:]...)
}

// manifestContainer is what the tests run of a container in a manifest.
type manifestContainer struct {
	Name, Image string
	Args        []string
	Env         []struct {
		Name, Value string
		ValueFrom   struct {
			SecretKeyRef struct{ Key string } `yaml:"secretKeyRef"`
			FieldRef     struct {
				FieldPath string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	}
	StartupProbe   probe `yaml:"startupProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
	LivenessProbe  probe `yaml:"livenessProbe"`
}

type probe struct {
	Exec struct{ Command []string }
}

// gatewayOf finds the container of the gateway in the deployment that a manifest
// begins with.
func gatewayOf(t *testing.T, path string) manifestContainer {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var deployment struct {
		Spec struct {
			Template struct {
				Spec struct {
					InitContainers []manifestContainer `yaml:"initContainers"`
					Containers     []manifestContainer
				}
			}
		}
	}
	if err := yaml.NewDecoder(file).Decode(&deployment); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	pod := deployment.Spec.Template.Spec
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		if strings.Contains(c.Image, "/kafka-dis-gateway:") {
			return c
		}
	}
	t.Fatalf("%s has no container of the gateway", path)
	return manifestContainer{}
}

var variableOf = regexp.MustCompile(`\$\((\w+)\)`)

// variables are those of the container, with the embedded DIS in the place of the
// real one.
func (c manifestContainer) variables(t *testing.T) []string {
	t.Helper()
	secret := map[string]string{"ak": "dev", "sk": "dev-secret", "project-id": "local"}
	fields := map[string]string{"metadata.namespace": "default"}
	known := map[string]string{}
	var all []string
	for _, v := range c.Env {
		value := v.Value + secret[v.ValueFrom.SecretKeyRef.Key] + fields[v.ValueFrom.FieldRef.FieldPath]
		if value == "" {
			t.Fatalf("%s of %s comes from somewhere that the test does not know", v.Name, c.Name)
		}
		value = variableOf.ReplaceAllStringFunc(value, func(reference string) string { // as Kubernetes does, from those above
			return known[variableOf.FindStringSubmatch(reference)[1]]
		})
		known[v.Name] = value
		all = append(all, v.Name+"="+value)
	}
	return append(all, "KDG_DIS_ENDPOINT=http://127.0.0.1:9880")
}

// manifestRun is a container of a manifest that runs in a pod.
type manifestRun struct {
	t         *testing.T
	image     image
	declared  manifestContainer
	container container
	gateway   *process
}

func runManifest(t *testing.T, path string) manifestRun {
	t.Helper()
	r := manifestRun{t: t, image: buildImage(t, nil), declared: gatewayOf(t, path)}
	r.container = container{variables: r.declared.variables(t), pod: startPod(t)}
	r.container.pod.startDIS()
	r.gateway = r.image.start(t, r.container, r.declared.Args...)
	return r
}

// probe runs a probe as the kubelet does, and is "" when it succeeds.
func (r manifestRun) probe(p probe) string {
	r.t.Helper()
	command := p.Exec.Command
	if entry := r.image.list(r.t, "ENTRYPOINT"); len(command) == 0 || command[0] != entry[0] {
		r.t.Fatalf("the probe %q does not run %q, which is all that the image has", command, entry)
	}
	asked := r.image.start(r.t, r.container, command[1:]...)
	if code := asked.exitCode(startTimeout); code != 0 {
		return asked.stderr.String()
	}
	return ""
}

// passProbes waits for the probes in the order in which they matter.
func (r manifestRun) passProbes() {
	r.t.Helper()
	for _, p := range []probe{r.declared.StartupProbe, r.declared.ReadinessProbe, r.declared.LivenessProbe} {
		eventually(r.t, startTimeout, "the probe "+strings.Join(p.Exec.Command, " "), func() string { return r.probe(p) })
	}
}

// stop ends the gateway as Kubernetes does, with no client left.
func (r manifestRun) stop() {
	r.t.Helper()
	r.gateway.signal(syscall.SIGTERM)
	if code := r.gateway.exitCode(startTimeout); code != 0 {
		r.t.Errorf("exit code %d:\n%s", code, r.gateway.stderr)
	}
	for line := range strings.Lines(r.gateway.stderr.String()) {
		if strings.Contains(line, `"level":"warn"`) || strings.Contains(line, `"level":"error"`) {
			r.t.Errorf("the gateway is not content with its manifest: %s", line)
		}
	}
	if problem := r.probe(r.declared.LivenessProbe); problem == "" {
		r.t.Error("the liveness probe finds a gateway that has ended")
	}
}

// TestSidecarManifest runs the sidecar as the manifest says, on the ports of the
// defaults, and uses it as the application in the same pod does.
func TestSidecarManifest(t *testing.T) {
	t.Parallel()
	r := runManifest(t, "../deploy/kubernetes/sidecar.yaml")
	r.passProbes()
	pod := r.container.pod
	pod.kcat("a:1\nb:2\n", "-b", "localhost:9092", "-P", "-t", "t", "-K", ":")
	if got := pod.kcat("", "-b", "localhost:9092", "-C", "-e", "-t", "t", "-f", "%k=%s "); got != "a=1 b=2 " {
		t.Errorf("read %q", got)
	}
	r.stop()
}

// TestGatewayManifest: clients are sent back to the Service.
func TestGatewayManifest(t *testing.T) {
	t.Parallel()
	r := runManifest(t, "../deploy/kubernetes/gateway.yaml")
	r.passProbes()
	listed := r.container.pod.kcat("", "-b", "localhost:9092", "-L")
	if want := "broker 1 at kafka-dis-gateway.default.svc:9092"; !strings.Contains(listed, want) {
		t.Errorf("no %q in\n%s", want, listed)
	}
	r.stop()
}

// TestComposeFile runs the gateway of the file for laptops: its clients there and in
// other containers are each told an address that they can reach.
func TestComposeFile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../deploy/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
			Healthcheck struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	declared := file.Services["gateway"]
	c := container{pod: startPod(t), volume: t.TempDir()}
	for name, value := range declared.Environment {
		c.variables = append(c.variables, name+"="+value)
	}
	r := manifestRun{t: t, image: buildImage(t, nil), container: c}
	r.gateway = r.image.start(t, c, declared.Command...)
	check := declared.Healthcheck.Test
	if len(check) < 3 || check[0] != "CMD" {
		t.Fatalf("health check %q", check)
	}
	r.declared.LivenessProbe.Exec.Command = check[1:]
	eventually(t, startTimeout, "the health check", func() string { return r.probe(r.declared.LivenessProbe) })

	c.pod.kcat("a:1\n", "-b", "localhost:9092", "-P", "-t", "demo", "-K", ":")
	if got := c.pod.kcat("", "-b", "localhost:9092", "-C", "-e", "-t", "demo", "-f", "%k=%s "); got != "a=1 " {
		t.Errorf("read %q", got)
	}
	for _, other := range file.Services["kcat"].Command {
		_, port, isAddress := strings.Cut(other, ":")
		if !isAddress {
			continue
		}
		if listed := c.pod.kcat("", "-b", "localhost:"+port, "-L"); !strings.Contains(listed, "broker 1 at "+other) {
			t.Errorf("clients of %s are sent elsewhere:\n%s", other, listed)
		}
	}
	r.stop()
}
