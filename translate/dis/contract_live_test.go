//go:build live

package dis_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

// The variables that name a real DIS and the forms of requests that it takes:
// those of the gateway, besides the keys of dis.EnvironmentCredentials.
const (
	envRegion      = "HUAWEICLOUD_SDK_REGION"
	envProject     = "HUAWEICLOUD_SDK_PROJECT_ID"
	envEndpoint    = "KDG_DIS_ENDPOINT"
	envManager     = "KDG_DIS_MANAGER_ENDPOINT"
	envCAFile      = "KDG_DIS_CA_FILE"
	envSigning     = "KDG_DIS_SIGNING"
	envRecordBody  = "KDG_DIS_RECORD_BODY"
	envCompression = "KDG_DIS_COMPRESSION"
)

// newTarget is the service that the environment names.
func newTarget(t *testing.T) target {
	t.Helper()
	config, err := liveConfig(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	return target{config: config, ctx: ctx, patience: 5 * time.Minute, live: true}
}

// liveConfig reads the settings, or says which are missing.
func liveConfig(variable func(string) string) (dis.Config, error) {
	var missing []string
	for _, name := range []string{dis.EnvAccessKey, dis.EnvSecretKey, envProject, envRegion} {
		if strings.TrimSpace(variable(name)) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return dis.Config{}, fmt.Errorf("the tests with the tag live call a real DIS, and the environment does not say which or "+
			"with what keys: set %s. Temporary keys also need %s; %s is for an address other than https://dis.REGION.myhuaweicloud.com",
			strings.Join(missing, ", "), dis.EnvSecurityToken, envEndpoint)
	}
	endpoint := variable(envEndpoint)
	if endpoint == "" {
		endpoint = "https://dis." + variable(envRegion) + ".myhuaweicloud.com"
	}
	return dis.Config{
		Endpoint: endpoint, ManagerEndpoint: variable(envManager), CAFile: variable(envCAFile),
		Region: variable(envRegion), ProjectID: variable(envProject),
		Signing: dis.Signing(variable(envSigning)), RecordBody: dis.RecordBody(variable(envRecordBody)),
		Compression: dis.Compression(variable(envCompression)),
		Credentials: dis.StaticCredentials(dis.Keys{
			AccessKey: variable(dis.EnvAccessKey), SecretKey: variable(dis.EnvSecretKey), SecurityToken: variable(dis.EnvSecurityToken),
		}),
	}, nil
}
