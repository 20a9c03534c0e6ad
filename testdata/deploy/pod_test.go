package deploy

import (
	"slices"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
)

// checkDeployment: one pod at a time, as long as groups live in memory.
func checkDeployment(t *testing.T, d *apps.Deployment) core.PodSpec {
	t.Helper()
	if d.Spec.Replicas == nil || *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != apps.RecreateDeploymentStrategyType {
		t.Errorf("%v replicas, strategy %s", d.Spec.Replicas, d.Spec.Strategy.Type)
	}
	checkSelects(t, "deployment", d.Spec.Selector, labels.Set(d.Spec.Template.Labels))
	pod := d.Spec.Template.Spec
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot ||
		s.SeccompProfile == nil || s.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security of the pod: %+v", s)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Error("the pod gets a token of the cluster that it does not need")
	}
	return pod
}

// checkGateway checks what every container of the gateway has.
func checkGateway(t *testing.T, pod core.PodSpec, c core.Container) {
	t.Helper()
	s := c.SecurityContext
	if s == nil || *s.RunAsUser != 65532 || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation ||
		!slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("security: %+v", s)
	}
	env := map[string]core.EnvVar{}
	for _, v := range c.Env {
		if _, twice := env[v.Name]; twice {
			t.Errorf("%s is set twice", v.Name)
		}
		env[v.Name] = v
	}
	for _, name := range []string{"HUAWEICLOUD_SDK_AK", "HUAWEICLOUD_SDK_SK"} {
		if source := env[name].ValueFrom; source == nil || source.SecretKeyRef == nil {
			t.Errorf("%s does not come from a secret", name)
		}
	}
	grace, err := time.ParseDuration(env["KDG_GRACE_PERIOD"].Value)
	if err != nil {
		t.Errorf("KDG_GRACE_PERIOD: %v", err)
	}
	if limit := pod.TerminationGracePeriodSeconds; limit == nil || time.Duration(*limit)*time.Second < grace+5*time.Second {
		t.Errorf("the pod may take %v s, a drain takes %s and something to end", limit, grace)
	}
	checkMemory(t, c, env)
	checkProbes(t, c)
}

// checkMemory: full buffers and what the gateway needs beside them fit into the limit.
func checkMemory(t *testing.T, c core.Container, env map[string]core.EnvVar) {
	t.Helper()
	needed := int64(150 << 20)
	for _, name := range []string{"KDG_FETCH_CACHE", "KDG_PRODUCE_BUFFER"} {
		size := "256Mi" // the default
		if v := env[name].Value; v != "" {
			size = v[:len(v)-1] // 64MiB here is 64Mi there
		}
		quantity, err := resource.ParseQuantity(size)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		needed += quantity.Value()
	}
	if limit := c.Resources.Limits.Memory().Value(); limit < needed {
		t.Errorf("the container may have %d bytes, the gateway needs %d", limit, needed)
	}
	if c.Resources.Requests.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
		t.Error("nothing is requested")
	}
}

// checkProbes: they run the binary; a DIS that is away neither keeps the container
// from starting nor ends it.
func checkProbes(t *testing.T, c core.Container) {
	t.Helper()
	for name, probe := range map[string]*core.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
		if probe == nil || probe.Exec == nil || probe.TimeoutSeconds < 2 {
			t.Errorf("%s: no probe that runs the binary and waits for it", name)
			continue
		}
		want := []string{"/kafka-dis-gateway", "health"}
		if name == "readiness" {
			want = append(want, "--ready")
		}
		if !slices.Equal(probe.Exec.Command, want) {
			t.Errorf("%s: %q, want %q", name, probe.Exec.Command, want)
		}
	}
}
