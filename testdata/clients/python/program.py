"""What the client programs in Python share: the records that a seed stands for,
the line that a record is printed as, and the command line. README.md in the
folder above is its description."""

import argparse
import hashlib
import json
import shlex
import sys
import time
from typing import NamedTuple


class Record(NamedTuple):
    """A record as a client sees it; a field that the client does not tell is "-"."""

    topic: str
    partition: int
    offset: object
    timestamp: object
    key: bytes
    value: bytes
    headers: object  # pairs of a str and bytes


class Refused(NamedTuple):
    """What the client says of a record that was not acknowledged."""

    reason: object


class Manner(NamedTuple):
    """How records are produced, for the programs that can."""

    idempotent: bool  # otherwise as the client's defaults say
    rate: int  # records a second that are given to the client, 0 for all at once

    def wait(self, begin, i):
        """The seconds until record i is due in a run that began at begin, a time.monotonic()."""
        if self.rate == 0:
            return 0
        return max(0, begin + i / self.rate - time.monotonic())


FIRST_TIMESTAMP = 1_600_000_000_000

# The size of records up to which clients leave it to the gateway to refuse them.
MAX_BYTES = 2 << 20


def generate(topic, seed, count, partitions):
    for i in range(count):
        digest = hashlib.sha256(b"%d/%d" % (seed, i)).digest()
        timestamp = FIRST_TIMESTAMP + int.from_bytes(digest[:4], "big")
        yield Record(topic, i % partitions, "-", timestamp, _key(i, digest), _value(i, seed, digest), _headers(i))


def of_size(topic, seed, size):
    blocks = (hashlib.sha256(b"%d/%d" % (seed, i)).digest() for i in range(size // 32 + 1))
    yield Record(topic, 0, "-", FIRST_TIMESTAMP, None, b"".join(blocks)[:size], [])


def _key(i, digest):
    return (None, b"", b"\x00\xff" + digest[:6], f"ключ-{i}-🔑".encode(), b"key-%d" % i)[i % 5]


def _value(i, seed, digest):
    large = digest * (3125 if i % 50 == 24 else 300)
    return (b"value %d of seed %d" % (i, seed), None, b"", digest, large)[i // 5 % 5]


def _headers(i):
    return (
        [],
        [("trace-id", b"trace %d" % i)],
        [("a", b"1"), ("b", b"2"), ("a", b"3")],
        [("empty", b"")],
        [("null", None), ("after", b"x")],
        [("binary", b"\xff\xfe\x80\x01\x7f")],
        [("", b"no name"), ("имя", "значение".encode())],
    )[i % 7]


def text(data):
    """Bytes as they are printed."""
    if data is None:
        return "null"
    if len(data) > 64:
        return "sha256:" + hashlib.sha256(data).hexdigest()
    return "0x" + data.hex()


def line(r):
    if isinstance(r, Refused):
        return "refused " + json.dumps(str(r.reason))
    headers = r.headers
    if headers != "-":
        headers = "[" + ",".join(text(k.encode()) + "=" + text(v) for k, v in headers) + "]"
    return f"record {r.topic} {r.partition} {r.offset} {r.timestamp} {text(r.key)} {text(r.value)} {headers}"


def _parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=("produce", "consume", "load"))
    parser.add_argument("--bootstrap", default="localhost:9092")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--codec", default="none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--idempotence", choices=("on",))
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=0)
    return parser


def main(produce, consume, *, has_manner=False, load=None):
    """Runs the command of the command line, or those of the standard input.

    produce(bootstrap, codec, records) and consume(bootstrap, topics, count)
    return or yield the records that were acknowledged, refused or read. With
    has_manner, produce takes a Manner as well. load(bootstrap, topic, size, rate,
    seconds) counts those of a load.
    """

    def run(words):
        options = _parser().parse_args(words)
        if options.command == "load":
            acknowledged, refused = load(options.bootstrap, options.topic, options.size, options.rate, options.seconds)
            print(f"acknowledged {acknowledged}")
            for reason, times in refused.items():
                print(f"refused {times} {json.dumps(reason)}")
            return
        if options.command == "produce":
            if options.size:
                records = list(of_size(options.topic, options.seed, options.size))
            else:
                records = list(generate(options.topic, options.seed, options.count, options.partitions))
            manner = Manner(options.idempotence == "on", options.rate)
            if has_manner:
                result = produce(options.bootstrap, options.codec, records, manner)
            elif manner != Manner(False, 0):
                sys.exit("--idempotence and --rate: this program has neither")
            else:
                result = produce(options.bootstrap, options.codec, records)
        else:
            result = consume(options.bootstrap, options.topic.split(","), options.count)
        for record in result:
            print(line(record))

    if len(sys.argv) > 1:
        run(sys.argv[1:])
        return
    for command in sys.stdin:
        run(shlex.split(command))
        print("ok", flush=True)
