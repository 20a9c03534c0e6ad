package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
)

type embeddedDISCommand struct {
	Listen  string `default:"127.0.0.1:9880" placeholder:"ADDR" help:"Address of the REST API. Default: 127.0.0.1:9880."`
	DataDir string `default:".kafka-dis-dev" placeholder:"DIR" help:"Folder of the data; created when missing. Default: .kafka-dis-dev."`
	DumpDir string `placeholder:"DIR" help:"Folder that transfer tasks for OBS write to, with one in it for each bucket; created when missing. Without it such tasks are refused."`
	disBehaviour
	commonSettings
}

// Help is shown below the flags.
func (embeddedDISCommand) Help() string {
	return "The keys it accepts are HUAWEICLOUD_SDK_AK and HUAWEICLOUD_SDK_SK of the environment; " +
		"without them " + embedded.DevAccessKey + " and " + embedded.DevSecretKey + ". It accepts every project and region."
}

func (c *embeddedDISCommand) check(found *problems) {
	c.places = found
	if err := validAddress(c.Listen); err != nil {
		found.setting("listen", err)
	}
	if c.DataDir == "" {
		found.setting("data-dir", fmt.Errorf("a folder is needed"))
	}
	c.disBehaviour.check(found, "")
}

func (c *embeddedDISCommand) run(signals *signals, stdout, stderr io.Writer) (err error) {
	keys := embeddedKeys()
	logger, flush := c.logger(stderr)
	defer flush()
	config := embedded.Config{
		DataDir: c.DataDir, DumpDir: c.DumpDir, AccessKeys: map[string]string{keys.AccessKey: keys.SecretKey}, Logger: logger,
	}
	if err := c.applyTo(&config); err != nil {
		return err
	}
	server, err := listenDIS(c.Listen)
	if err != nil {
		return c.blame("listen", err)
	}
	defer func() { err = errors.Join(err, server.close()) }()
	if err := server.open(config); err != nil {
		return c.blameFolder(err)
	}
	fmt.Fprintf(stdout, "DIS     %s  (access key %s)\nData    %s\n", server.url(), keys.AccessKey, c.DataDir)
	select {
	case <-signals.drain.Done():
		return nil
	case err := <-server.failed:
		return err
	}
}
