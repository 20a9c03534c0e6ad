package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/cmd/kafka-dis-gateway/doctor"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/offsets"
)

// doctorCommand has the settings of serve, which it examines, and its own.
type doctorCommand struct {
	Topic []string `arg:"" optional:"" help:"Topics to look at, which have to be there. Default: all."`
	serveCommand
	Group        []string      `placeholder:"GROUP" help:"Group whose committed offsets are watched, repeatable (in the environment: separated by commas). Default: all apps of the project."`
	Watch        time.Duration `default:"5s" min:"0s" max:"10m" placeholder:"TIME" help:"How long to watch whether somebody changes committed offsets; 0s: not at all. Default: 5s."`
	WriteTest    string        `placeholder:"STREAM" help:"Also try the calls that change something: one record is written into this stream, which its consumers will see, and an app kdg-doctor- and random letters is made, committed to and deleted. Without it nothing is changed."`
	CheckTimeout time.Duration `default:"10s" min:"100ms" max:"10m" placeholder:"TIME" help:"How long one check may take; that of all topics six times as long. Default: 10s."`
	Output       string        `default:"text" choices:"text,json" help:"Form of the report: text, a line for each check, or json, an object on a line. Default: text."`

	mistakes []error
}

// Help is shown below the flags.
func (doctorCommand) Help() string {
	return `Give it the settings of serve: flags, environment, --config. It prints a line for each check: ok, warning, failed with what to do, or
skipped with the reason. Exit code 0: the gateway would work, perhaps with warnings; 1: it would not; 2: the settings are wrong. It
reads only, unless --write-test allows more, and may run beside the gateway. Keys are not shown.`
}

func (d *doctorCommand) check(found *problems) {
	d.serveCommand.check(found)
	for _, group := range d.Group {
		if strings.TrimSpace(group) == "" {
			found.setting("group", errors.New("a name is needed"))
		}
	}
}

func (d *doctorCommand) run(signals *signals, stdout, _ io.Writer) error {
	report := doctor.Text(stdout)
	if d.Output == "json" {
		report = doctor.JSON(stdout)
	}
	failed := doctor.Run(signals.drain, d.examination(), report)
	switch {
	case signals.drain.Err() != nil:
		return errors.New("stopped before the end")
	case len(d.mistakes) > 0:
		return usageError{errors.New("the settings are wrong")}
	case len(failed) > 0:
		return fmt.Errorf("the gateway would not work: %s", strings.Join(failed, ", "))
	}
	return nil
}

// examination is what to examine.
func (d *doctorCommand) examination() doctor.Config {
	cfg := doctor.Config{
		Mistakes: d.mistakes,
		DIS:      d.backend(), EndpointSetting: "--dis-endpoint",
		Identity:       func(access *dis.Config) error { return d.applyTo(access, zerolog.Nop()) },
		IdentitySource: d.identitySource(),
		Admin:          d.AdminListen,
		MemoryNeeded:   d.memoryNeeded(), MemoryAvailable: func() (int64, error) { return containerMemory(os.DirFS("/")) },
		GroupsOff:  d.Groups == "off",
		AppName:    func(group string) (string, error) { return offsets.AppName(group, d.DISAppNameMax) },
		TopicAdmin: d.TopicAdmin, Names: d.names,
		Topics: d.Topic, Groups: d.Group, Watch: d.Watch, WriteTest: d.WriteTest,
		Limit: d.CheckTimeout,
	}
	if d.DISEndpoint == "" {
		cfg.EndpointSetting = "HUAWEICLOUD_SDK_REGION (or --region, --dis-endpoint)"
	}
	for _, listener := range d.listening {
		cfg.Kafka = append(cfg.Kafka, listener.Address())
	}
	return cfg
}

// identitySource names where keys or tokens come from.
func (s disAccessSettings) identitySource() string {
	if s.DISTokenFile != "" {
		return "file " + s.DISTokenFile + " (--dis-token-file)"
	}
	switch s.credentials(zerolog.Nop()).Chosen() {
	case dis.CredentialsFromFile:
		return "file " + s.DISCredentialsFile + " (--dis-credentials-file)"
	case dis.CredentialsFromMetadata:
		return "metadata service " + s.DISMetadataEndpoint + " (--dis-metadata-endpoint)"
	default:
		return "environment"
	}
}
