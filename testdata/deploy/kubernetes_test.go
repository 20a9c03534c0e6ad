package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	strict "sigs.k8s.io/yaml"
)

// kinds are those that the manifests may have, with their types.
var kinds = map[meta.TypeMeta]func() any{
	{APIVersion: "apps/v1", Kind: "Deployment"}:                 func() any { return &apps.Deployment{} },
	{APIVersion: "v1", Kind: "Service"}:                         func() any { return &core.Service{} },
	{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}:      func() any { return &policy.PodDisruptionBudget{} },
	{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}: func() any { return &networking.NetworkPolicy{} },
}

// read decodes every object of a manifest; a field that the type does not have, or
// has twice, fails the test.
func read(t *testing.T, name string) (objects []any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy/kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	documents := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	for {
		document := make([]byte, 1<<20)
		n, err := documents.Read(document)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		objects = append(objects, decode(t, name, document[:n]))
	}
}

func decode(t *testing.T, name string, document []byte) any {
	t.Helper()
	var kind meta.TypeMeta
	if err := strict.Unmarshal(document, &kind); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	makeObject, known := kinds[kind]
	if !known {
		t.Fatalf("%s: %s of %s is nothing that the test knows", name, kind.Kind, kind.APIVersion)
	}
	text, err := strict.YAMLToJSONStrict(document)
	if err != nil {
		t.Fatalf("%s, %s: %v", name, kind.Kind, err)
	}
	object := makeObject()
	mistakes, err := json.UnmarshalStrict(text, object) // upper and lower case differ, as for Kubernetes
	if err := errors.Join(append(mistakes, err)...); err != nil {
		t.Fatalf("%s, %s: %v", name, kind.Kind, err)
	}
	return object
}

// only is the one object of a type.
func only[T any](t *testing.T, objects []any) *T {
	t.Helper()
	var found []*T
	for _, object := range objects {
		if o, ok := object.(*T); ok {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, want one", len(found), new(T))
	}
	return found[0]
}

// TestEveryManifestIsKnown: no manifest is left out by the tests.
func TestEveryManifestIsKnown(t *testing.T) {
	found, err := filepath.Glob("../../deploy/kubernetes/*")
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	if want := []string{"gateway.yaml", "sidecar.yaml"}; !slices.Equal(found, want) {
		t.Errorf("manifests %v, want %v", found, want)
	}
}

func TestSidecar(t *testing.T) {
	deployment := only[apps.Deployment](t, read(t, "sidecar.yaml"))
	pod := checkDeployment(t, deployment)
	if len(pod.InitContainers) != 1 {
		t.Fatalf("%d init containers", len(pod.InitContainers))
	}
	gateway := pod.InitContainers[0]
	if gateway.RestartPolicy == nil || *gateway.RestartPolicy != core.ContainerRestartPolicyAlways {
		t.Error("the gateway is no native sidecar: its restartPolicy is not Always")
	}
	checkGateway(t, pod, gateway)
	if len(gateway.Ports) != 0 {
		t.Error("it names ports, and listens on loopback alone")
	}
	for _, c := range pod.Containers {
		if !slices.Contains(c.Env, core.EnvVar{Name: "KAFKA_BOOTSTRAP_SERVERS", Value: "localhost:9092"}) {
			t.Errorf("%s is not told of the gateway", c.Name)
		}
	}
}

func TestGateway(t *testing.T) {
	objects := read(t, "gateway.yaml")
	deployment := only[apps.Deployment](t, objects)
	pod := checkDeployment(t, deployment)
	gateway := pod.Containers[0]
	checkGateway(t, pod, gateway)
	ports := map[string]int32{}
	for _, p := range gateway.Ports {
		ports[p.Name] = p.ContainerPort
	}
	if len(ports) != 2 || ports["kafka"] != 9092 || ports["admin"] != 9644 {
		t.Errorf("ports %v", ports)
	}
	podLabels := labels.Set(deployment.Spec.Template.Labels)

	service := only[core.Service](t, objects)
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(podLabels) || len(service.Spec.Selector) == 0 {
		t.Errorf("the service selects %v", service.Spec.Selector)
	}
	for _, p := range service.Spec.Ports {
		if ports[p.TargetPort.StrVal] != p.Port {
			t.Errorf("port %d of the service leads to %s", p.Port, p.TargetPort.String())
		}
	}
	budget := only[policy.PodDisruptionBudget](t, objects)
	checkSelects(t, "budget", budget.Spec.Selector, podLabels)
	network := only[networking.NetworkPolicy](t, objects)
	checkSelects(t, "network policy", &network.Spec.PodSelector, podLabels)
	for _, rule := range network.Spec.Ingress {
		if len(rule.From) == 0 || len(rule.Ports) == 0 {
			t.Error("a rule of the network policy lets everyone in")
		}
		for _, p := range rule.Ports {
			if ports[p.Port.StrVal] == 0 {
				t.Errorf("the network policy names port %s", p.Port)
			}
		}
	}
}

func checkSelects(t *testing.T, what string, selector *meta.LabelSelector, pod labels.Set) {
	t.Helper()
	s, err := meta.LabelSelectorAsSelector(selector)
	if err != nil || s.Empty() || !s.Matches(pod) {
		t.Errorf("the %s selects %v, %v", what, selector, err)
	}
}
