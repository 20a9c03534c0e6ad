package records

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Client is what a program makes of a Kafka client. It prints every record that
// was acknowledged, refused or read.
type Client interface {
	Produce(ctx context.Context, command Produce, out *Output) error
	Consume(ctx context.Context, command Consume, out *Output) error
}

// MaxBytes is the size of records up to which clients are to leave it to the
// gateway to refuse them.
const MaxBytes = 2 << 20

// Output prints lines. Its first error is that of Flush.
type Output struct{ *bufio.Writer }

// Record prints a record that was acknowledged or read.
func (o *Output) Record(r Record) { fmt.Fprintln(o, r.Line()) }

// Refused prints what the client says of a record that was not acknowledged.
func (o *Output) Refused(err error) { fmt.Fprintf(o, "refused %q\n", err.Error()) }

// Produce writes records with a codec: none, gzip, snappy, lz4, zstd.
type Produce struct {
	Bootstrap, Topic, Codec string
	Records                 []Record
	// Idempotent asks for an idempotent producer; without it a client does as its
	// defaults say.
	Idempotent bool
	// Rate is how many records a second are given to the client, 0 for all at once.
	Rate int
}

// Wait returns when record i is due in a run that began at begin.
func (p Produce) Wait(begin time.Time, i int) {
	if p.Rate > 0 {
		time.Sleep(time.Until(begin.Add(time.Duration(i) * time.Second / time.Duration(p.Rate))))
	}
}

// Plain is an error unless the command leaves it to the client how it produces.
func (p Produce) Plain() error {
	if p.Idempotent || p.Rate != 0 {
		return errors.New("--idempotence and --rate: this program has neither")
	}
	return nil
}

// Consume reads count records of all partitions of the topics, each from its
// start.
type Consume struct {
	Bootstrap string
	Topics    []string
	Count     int
}

// Main runs the command of the command line, or those of the standard input, one
// per line, each answered by its lines and a last one, "ok".
func Main(client Client) {
	if err := run(client, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(client Client, args []string, input io.Reader, output io.Writer) error {
	if len(args) > 0 {
		return command(client, args, output)
	}
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		if err := command(client, strings.Fields(lines.Text()), output); err != nil {
			return fmt.Errorf("%s: %w", lines.Text(), err)
		}
		if _, err := fmt.Fprintln(output, "ok"); err != nil {
			return err
		}
	}
	return lines.Err()
}

func command(client Client, words []string, output io.Writer) error {
	if words[0] == "admin" {
		out := &Output{bufio.NewWriter(output)}
		err := administrate(client, words[1:], out)
		return errors.Join(err, out.Flush())
	}
	flags := flag.NewFlagSet(words[0], flag.ContinueOnError)
	bootstrap := flags.String("bootstrap", "localhost:9092", "address of the gateway")
	topic := flags.String("topic", "", "topic to write, or topics to read, separated by commas")
	codec := flags.String("codec", "none", "none, gzip, snappy, lz4, zstd")
	seed := flags.Int64("seed", 0, "what the records are derived from")
	count := flags.Int("count", 0, "number of records")
	size := flags.Int("size", 0, "size of the value of the only record, instead of --count; of each of a load")
	seconds := flags.Int("seconds", 0, "how long a load is")
	partitions := flags.Int("partitions", 3, "number of partitions that are written")
	idempotence := flags.String("idempotence", "", "on: with an idempotent producer")
	rate := flags.Int("rate", 0, "records a second, 0 for all at once")
	if err := flags.Parse(words[1:]); err != nil {
		return err
	}
	out := &Output{bufio.NewWriter(output)}
	if words[0] == "load" {
		err := writeLoad(client, Load{*bootstrap, *topic, *size, *rate, *seconds}, out)
		return errors.Join(err, out.Flush())
	}
	written := Generate(*seed, *count, *partitions)
	if *size > 0 {
		written = OfSize(*seed, *size)
	}
	var err error
	switch words[0] {
	case "produce":
		err = client.Produce(context.Background(), Produce{*bootstrap, *topic, *codec, written, *idempotence == "on", *rate}, out)
	case "consume":
		err = client.Consume(context.Background(), Consume{*bootstrap, strings.Split(*topic, ","), *count}, out)
	default:
		err = errors.New("produce, consume, load or admin")
	}
	return errors.Join(err, out.Flush())
}
