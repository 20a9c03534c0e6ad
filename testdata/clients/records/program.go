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
)

// Client is what a program makes of a Kafka client. Its methods call print for
// every record that was acknowledged or read.
type Client interface {
	Produce(ctx context.Context, command Produce, print func(Record)) error
	Consume(ctx context.Context, command Consume, print func(Record)) error
}

// Produce writes records with a codec: none, gzip, snappy, lz4, zstd.
type Produce struct {
	Bootstrap, Topic, Codec string
	Records                 []Record
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
	flags := flag.NewFlagSet(words[0], flag.ContinueOnError)
	bootstrap := flags.String("bootstrap", "localhost:9092", "address of the gateway")
	topic := flags.String("topic", "", "topic to write, or topics to read, separated by commas")
	codec := flags.String("codec", "none", "none, gzip, snappy, lz4, zstd")
	seed := flags.Int64("seed", 0, "what the records are derived from")
	count := flags.Int("count", 0, "number of records")
	partitions := flags.Int("partitions", 3, "number of partitions that are written")
	if err := flags.Parse(words[1:]); err != nil {
		return err
	}
	buffered := bufio.NewWriter(output)
	print := func(r Record) { fmt.Fprintln(buffered, r.Line()) } // the error is that of Flush
	var err error
	switch words[0] {
	case "produce":
		err = client.Produce(context.Background(), Produce{*bootstrap, *topic, *codec, Generate(*seed, *count, *partitions)}, print)
	case "consume":
		err = client.Consume(context.Background(), Consume{*bootstrap, strings.Split(*topic, ","), *count}, print)
	default:
		err = errors.New("produce or consume")
	}
	return errors.Join(err, buffered.Flush())
}
