package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// command is what the user chose on the command line.
type command interface {
	// check reports every setting that is not valid.
	check(*problems)
	// run does the command's work until it is done or stopped by a signal.
	run(signals *signals, stdout, stderr io.Writer) error
}

// commandLine is the one table of commands and settings: the command line, the
// environment (KDG_ and the flag's name), the keys of the settings file and
// --help all come from these structs.
//
// Tags besides kong's own: choices lists the allowed words, min and max the
// smallest and the largest allowed value. A command with shares-file leaves keys of
// other commands in the settings file alone.
type commandLine struct {
	Dev         devCommand         `kong:"cmd,help='Run the gateway with an embedded DIS, for development: no cloud account, data in a local folder.',set='log_format=console',set='admin_listen=',set='admin_listen_text=none',set='auto_create=true',set='pacing=',set='pacing_text=documented with --dis-limits documented, else off',set='topic_admin=full',set='rebalance_delay=0s'"`
	Serve       serveCommand       `kong:"cmd,help='Run the gateway against DIS.',set='log_format=json',set='admin_listen=127.0.0.1:9644',set='admin_listen_text=127.0.0.1:9644',set='auto_create=false',set='pacing=documented',set='pacing_text=documented',set='topic_admin=create',set='rebalance_delay=3s',set='metadata_endpoint=http://169.254.169.254'"`
	Doctor      doctorCommand      `kong:"cmd,help='Examine whether serve would work: settings, network, clock, keys, permissions, topics, groups; what to do where it would not.',set='log_format=json',set='admin_listen=127.0.0.1:9644',set='admin_listen_text=127.0.0.1:9644',set='auto_create=false',set='pacing=documented',set='pacing_text=documented',set='topic_admin=create',set='rebalance_delay=3s',set='metadata_endpoint=http://169.254.169.254'"`
	EmbeddedDIS embeddedDISCommand `kong:"cmd,name='embedded-dis',help='Run the embedded DIS alone: the DIS REST API over HTTP, data in a local folder.',set='log_format=json'"`
	Health      healthCommand      `kong:"cmd,help='Ask a running gateway whether it is well: the probe of a container.',shares-file"`
	Version     versionCommand     `kong:"cmd,help='Print the version, the commit and the Go version.'"`
}

const description = `Kafka clients, unmodified, on Huawei Cloud DIS.

Every flag of a command can also be set in the environment (KDG_ and the flag's name in upper case, - as _: KDG_LISTEN)
or in the YAML file named by --config (key: the flag's name, without --). The command line wins over the environment,
the environment over the file.`

// parse turns arguments, environment and settings file into a command whose
// settings are valid. The error joins all mistakes: the reader of arguments gives up
// at a flag that it does not know, so it is asked again without that one.
func parse(args []string, stdout, stderr io.Writer) (command, error) {
	var unknown []error
	for {
		chosen, err := parseOnce(args, stdout, stderr)
		var stranger *unknownFlag
		switch examined, isDoctor := chosen.(*doctorCommand); {
		case errors.As(err, &stranger):
		case unknown == nil:
			return chosen, err
		case err == nil && isDoctor:
			return nil, errors.Join(append(unknown, examined.mistakes...)...)
		default:
			return nil, errors.Join(append(unknown, split(err)...)...)
		}
		args, unknown = stranger.others, append(unknown, err)
	}
}

// parseOnce gives up at the first unknown flag, with an *unknownFlag.
func parseOnce(args []string, stdout, stderr io.Writer) (command, error) {
	var cli commandLine
	found := newProblems()
	file := &settingsFile{problems: found}
	parser, err := newParser(&cli, found, file, kong.Writers(stdout, stderr))
	if err != nil {
		return nil, fmt.Errorf("building the command line: %w", err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, withoutUnknown(fmt.Errorf("%w (see --help)", err), args)
	}
	found.locate(parsed, file)
	if file.unreadable != nil {
		found.setting("config", file.unreadable)
	}
	chosen := parsed.Selected().Target.Addr().Interface().(command)
	chosen.check(found)
	for _, mistake := range misspelt(parser.Model) {
		found.add(mistake)
	}
	if examined, ok := chosen.(*doctorCommand); ok {
		examined.mistakes = split(found.err()) // they are its findings
		return chosen, nil
	}
	return chosen, found.err()
}

func newParser(cli *commandLine, found *problems, file *settingsFile, more ...kong.Option) (*kong.Kong, error) {
	options := append(found.mappers(),
		kong.Name("kafka-dis-gateway"),
		kong.Description(description),
		kong.DefaultEnvars(strings.TrimSuffix(variablePrefix, "_")),
		kong.Resolvers(file),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
	)
	return kong.New(cli, append(options, more...)...)
}

// mappers are the readers of values that note a bad value as a problem and go
// on, so that all mistakes are reported at once.
func (p *problems) mappers() []kong.Option {
	values := tolerantMapper{p}
	return []kong.Option{
		kong.TypeMapper(reflect.TypeFor[time.Duration](), values),
		kong.TypeMapper(reflect.TypeFor[byteSize](), values),
		kong.KindMapper(reflect.String, values),
		kong.KindMapper(reflect.Int, values),
		kong.KindMapper(reflect.Bool, tolerantBoolMapper{values}),
	}
}
