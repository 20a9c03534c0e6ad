package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kafka-dis-gateway/kafka-dis-gateway/gateway"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/embedded"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/dis/wire"
	"github.com/kafka-dis-gateway/kafka-dis-gateway/translate/topics"
)

// interactiveGrace is how long Ctrl-C on dev takes at most: enough for what
// has begun, nothing for clients that stay.
const interactiveGrace = 2 * time.Second

type devCommand struct {
	DISListen string   `name:"dis-listen" default:"127.0.0.1:9880" placeholder:"ADDR" help:"Address of the embedded DIS's REST API. Default: 127.0.0.1:9880."`
	DataDir   string   `default:".kafka-dis-dev" placeholder:"DIR" help:"Folder of the data; created when missing. Default: .kafka-dis-dev."`
	DumpDir   string   `placeholder:"DIR" help:"Folder that transfer tasks for OBS write to, with one in it for each bucket; created when missing. Without it such tasks are refused."`
	Topic     []string `placeholder:"NAME:PARTITIONS" help:"Topic to create unless it exists; repeatable (in the environment: separated by commas)."`
	gatewaySettings
	Behaviour disBehaviour `embed:"" prefix:"dis-"`
	commonSettings

	listening []gateway.Listener
	topics    []topics.CreateRequest
}

// parseTopic reads a --topic.
func parseTopic(text string) (topics.CreateRequest, error) {
	name, count, found := strings.Cut(text, ":")
	partitions, err := strconv.Atoi(count)
	if !found || name == "" || err != nil || partitions < 1 {
		return topics.CreateRequest{}, fmt.Errorf("%q is not NAME:PARTITIONS, such as orders:3", text)
	}
	return topics.CreateRequest{Name: name, Partitions: partitions}, nil
}

func (d *devCommand) check(found *problems) {
	d.places = found
	d.listening = d.listeners(found, opened{"dis-listen", d.DISListen})
	d.topicSettings.check(found)
	d.recordSettings.check(found, d.checkPattern)
	for _, text := range d.Topic {
		topic, err := parseTopic(text)
		if err == nil {
			_, err = d.names.Stream(topic.Name)
		}
		if err != nil {
			found.setting("topic", err)
			continue
		}
		d.topics = append(d.topics, topic)
	}
	if d.DataDir == "" {
		found.setting("data-dir", errors.New("a folder is needed"))
	}
	d.Behaviour.check(found, "dis-")
	if d.Pacing == "" {
		d.Pacing = d.Behaviour.Limits // "documented" or "off", as here
	}
	d.checkPacing(found)
	d.checkBuffers(found)
}

func (d *devCommand) run(signals *signals, stdout, stderr io.Writer) (err error) {
	logger, flush := d.logger(stderr)
	defer flush()
	store, err := listenDIS(d.DISListen)
	if err != nil {
		return d.blame("dis-listen", err)
	}
	defer func() { err = errors.Join(err, store.close()) }()
	p, err := compose(d.gatewaySettings, d.listening, dis.Config{
		Endpoint: store.url(), Region: embedded.DevRegion, ProjectID: embedded.DevProjectID,
		Credentials: dis.StaticCredentials(dis.Keys{AccessKey: embedded.DevAccessKey, SecretKey: embedded.DevSecretKey}),
	}, logger)
	if err != nil {
		return err
	}
	config := embedded.Config{
		DataDir: d.DataDir, DumpDir: d.DumpDir, Logger: logger,
		AccessKeys: map[string]string{embedded.DevAccessKey: embedded.DevSecretKey},
	}
	if err = d.Behaviour.applyTo(&config); err == nil {
		err = d.blameFolder(store.open(config))
	}
	if err != nil {
		return errors.Join(err, p.abandon(signals.force))
	}
	d.limitMemory(os.DirFS("/"), logger)
	return p.run(signals, running{
		adminAddress: d.AdminListen, blame: d.blame,
		failed: store.failed,
		grace:  func() time.Duration { return d.grace(signals) },
		ready: func(ctx context.Context, kafka []net.Addr, admin net.Addr) error {
			if err := p.createMissing(ctx, d.topics); err != nil {
				return err
			}
			d.welcome(stdout, kafka, admin, store)
			return nil
		},
	})
}

func (d *devCommand) grace(signals *signals) time.Duration {
	if signals.interrupted.Load() {
		return min(d.GracePeriod, interactiveGrace)
	}
	return d.GracePeriod
}

// createMissing creates the topics that do not exist, and leaves the others as
// they are.
func (p *parts) createMissing(ctx context.Context, wanted []topics.CreateRequest) error {
	for _, topic := range wanted {
		_, err := p.catalog.Create(ctx, topic)
		if err != nil && !dis.HasCode(err, wire.CodeStreamExists) {
			return err
		}
	}
	return nil
}

func (d *devCommand) welcome(w io.Writer, kafka []net.Addr, admin net.Addr, store *disServer) {
	announce(w, kafka, admin)
	fmt.Fprintf(w, "DIS     %s  (project %s, region %s, access key %s, secret key %s)\nData    %s\n",
		store.url(), embedded.DevProjectID, embedded.DevRegion, embedded.DevAccessKey, embedded.DevSecretKey, d.DataDir)
	broker, topic := connectTo(d.listening[0], kafka[0]), "demo"
	if len(d.topics) > 0 {
		topic = d.topics[0].Name
	}
	fmt.Fprintf(w, `
Try, in another terminal:
  kcat -b %[1]s -L
  echo 'hello:world' | kcat -b %[1]s -P -t %[2]s -K :
  kcat -b %[1]s -C -t %[2]s -e -f '%%k %%s\n'
`, broker, topic)
}

// announce prints the open addresses, one word and address a line.
func announce(w io.Writer, kafka []net.Addr, admin net.Addr) {
	for _, address := range kafka {
		fmt.Fprintf(w, "Kafka   %s\n", address)
	}
	if admin != nil {
		fmt.Fprintf(w, "Admin   %s\n", admin)
	}
}

// connectTo is the address of a listener as a user would type it.
func connectTo(listener gateway.Listener, bound net.Addr) string {
	if tcp, ok := bound.(*net.TCPAddr); ok && listener.Host != "" {
		return net.JoinHostPort(listener.Host, strconv.Itoa(tcp.Port))
	}
	return bound.String()
}
