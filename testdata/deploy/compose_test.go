package deploy

import (
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
)

// TestCompose: the file is what Compose takes, and open to this machine alone.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../../deploy/compose.yaml"}, cli.WithName("test"), cli.WithProfiles([]string{"example"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := project.GetService("gateway")
	if err != nil {
		t.Fatal(err)
	}
	if !gateway.ReadOnly || gateway.HealthCheck == nil || len(gateway.Ports) == 0 {
		t.Errorf("gateway: %+v", gateway)
	}
	for _, port := range gateway.Ports {
		if port.HostIP != "127.0.0.1" {
			t.Errorf("port %s is open to %q", port.Published, port.HostIP)
		}
	}
	grace, err := time.ParseDuration(*gateway.Environment["KDG_GRACE_PERIOD"])
	if err != nil || gateway.StopGracePeriod == nil || time.Duration(*gateway.StopGracePeriod) < grace+2*time.Second {
		t.Errorf("a drain takes %s, %v; the container gets %v", grace, err, gateway.StopGracePeriod)
	}
	client, err := project.GetService("kcat")
	if err != nil {
		t.Fatal(err)
	}
	if client.DependsOn["gateway"].Condition != "service_healthy" {
		t.Errorf("kcat: %+v", client.DependsOn)
	}
}
