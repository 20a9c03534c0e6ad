package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
)

type serveCommand struct {
	Region             string `env:"KDG_REGION,HUAWEICLOUD_SDK_REGION" placeholder:"REGION" help:"Region of DIS, such as cn-north-4."`
	ProjectID          string `name:"project-id" env:"KDG_PROJECT_ID,HUAWEICLOUD_SDK_PROJECT_ID" placeholder:"ID" help:"Project whose streams are served."`
	DISEndpoint        string `name:"dis-endpoint" placeholder:"URL" help:"Address of DIS. Default: https://dis.REGION.myhuaweicloud.com."`
	DISManagerEndpoint string `name:"dis-manager-endpoint" placeholder:"URL" help:"Address of DIS for streams and apps, where it is another. Default: the value of --dis-endpoint."`
	DISCAFile          string `name:"dis-ca-file" placeholder:"FILE" help:"PEM certificates to trust besides the system's."`
	disAccessSettings
	DISConnections int `name:"dis-connections" default:"128" min:"1" placeholder:"N" help:"Most requests to DIS at the same time. Default: 128."`
	gatewaySettings
	commonSettings

	listening []gateway.Listener
}

// Help is shown below the flags.
func (serveCommand) Help() string {
	return "The keys for DIS come from the environment unless --dis-credentials says otherwise: HUAWEICLOUD_SDK_AK, " +
		"HUAWEICLOUD_SDK_SK and, for temporary keys, HUAWEICLOUD_SDK_SECURITY_TOKEN. HTTPS_PROXY and NO_PROXY are honoured."
}

func (s *serveCommand) check(found *problems) {
	s.places = found
	s.listening = s.listeners(found)
	s.topicSettings.check(found)
	s.recordSettings.check(found, s.checkPattern)
	s.checkPacing(found)
	s.checkBuffers(found)
	missing := s.missingKeys()
	for _, needed := range []struct{ variable, value string }{
		{"HUAWEICLOUD_SDK_PROJECT_ID (or --project-id)", s.ProjectID},
		{"HUAWEICLOUD_SDK_REGION (or --region)", s.Region},
	} {
		if strings.TrimSpace(needed.value) == "" {
			missing = append(missing, needed.variable)
		}
	}
	if len(missing) > 0 {
		found.add(fmt.Errorf("the environment lacks what DIS wants to know: set %s", strings.Join(missing, ", ")))
	} else {
		s.checkBackend(found)
	}
	s.checkEndpoints(found)
	s.disAccessSettings.check(found)
}

// backendSettings are the settings behind the fields of dis.Config.
var backendSettings = map[string]string{
	"Endpoint": "dis-endpoint", "ManagerEndpoint": "dis-manager-endpoint", "CAFile": "dis-ca-file",
	"Region": "region", "ProjectID": "project-id",
}

// checkBackend lets the client for DIS say what it could not work with, apart
// from keys, whose source is opened later.
func (s *serveCommand) checkBackend(found *problems) {
	config := s.backend()
	config.Credentials = dis.StaticCredentials(dis.Keys{})
	client, err := dis.New(config)
	if err == nil {
		client.Close()
	}
	for _, mistake := range split(err) {
		var wrong *dis.SettingError
		if errors.As(mistake, &wrong) && backendSettings[wrong.Field] != "" {
			if wrong.Field == "Endpoint" && s.DISEndpoint == "" {
				continue // made of the region, which is named
			}
			found.setting(backendSettings[wrong.Field], wrong.Err)
			continue
		}
		found.add(mistake)
	}
}

// checkEndpoints finds addresses that are none of DIS, though they could be.
func (s *serveCommand) checkEndpoints(found *problems) {
	for _, one := range []struct{ setting, text string }{
		{"dis-endpoint", s.DISEndpoint}, {"dis-manager-endpoint", s.DISManagerEndpoint},
	} {
		address, err := url.Parse(one.text)
		if one.text == "" || err != nil {
			continue // the client has looked
		}
		version, _, _ := strings.Cut(strings.TrimPrefix(address.Path, "/"), "/")
		switch {
		case version == "v2" || version == "v3":
			found.setting(one.setting, fmt.Errorf("%q has the path of calls, which the gateway adds: give %s://%s", one.text, address.Scheme, address.Host))
		case address.Scheme == "http" && strings.HasSuffix(address.Hostname(), publicDomain):
			found.setting(one.setting, fmt.Errorf("%q has no encryption, the DIS of a region wants it: give https://%s", one.text, address.Hostname()))
		}
	}
}

// publicDomain ends the names of the cloud's own endpoints.
const publicDomain = ".myhuaweicloud.com"

// backend is the DIS to call, without keys.
func (s *serveCommand) backend() dis.Config {
	return dis.Config{
		Endpoint:        cmp.Or(s.DISEndpoint, "https://dis."+cmp.Or(s.Region, "REGION")+publicDomain), // without a region nothing is called
		ManagerEndpoint: s.DISManagerEndpoint, CAFile: s.DISCAFile,
		Region: s.Region, ProjectID: s.ProjectID, MaxConnections: s.DISConnections,
		UserAgent: "kafka-dis-gateway/" + currentBuild().version,
	}
}

func (s *serveCommand) run(signals *signals, stdout, stderr io.Writer) error {
	backend := s.backend()
	logger, flush := s.logger(stderr)
	defer flush()
	if err := s.applyTo(&backend, logger); err != nil {
		return usageError{err}
	}
	p, err := compose(s.gatewaySettings, s.listening, backend, logger)
	if err != nil {
		return err
	}
	s.limitMemory(os.DirFS("/"), logger)
	err = p.run(signals, running{
		adminAddress: s.AdminListen, blame: s.blame,
		grace: func() time.Duration { return s.GracePeriod },
		ready: func(_ context.Context, kafka []net.Addr, admin net.Addr) error {
			announce(stdout, kafka, admin)
			fmt.Fprintf(stdout, "DIS     %s\n", backend.Endpoint)
			logger.Info().Str("version", currentBuild().version).Str("dis", backend.Endpoint).
				Str("region", s.Region).Str("project", s.ProjectID).Msg("gateway started")
			return nil
		},
	})
	if err == nil {
		logger.Info().Msg("gateway stopped")
	}
	return err
}
