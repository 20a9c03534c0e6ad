"""The client program of kcat, that is of Debian's librdkafka.

kcat writes with one set of headers per run, takes no timestamps, tells no
offsets, and can write null or empty bytes in one run, not both. So records are
written class by class, not in the order of the seed.
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import program

import load

KEY_ENDS, RECORD_ENDS = b"<key ends>", b"<record ends>"


def kcat(bootstrap, *arguments, records=b""):
    return subprocess.run(["kcat", "-b", bootstrap, *arguments], input=records, capture_output=True)


def produce(bootstrap, codec, records):
    classes = {}
    for r in records:
        arguments = _arguments(r)
        if arguments:
            classes.setdefault(arguments, []).append(r)
    for arguments, members in classes.items():
        written = b"".join(
            (b"" if r.key is None else r.key + KEY_ENDS) + (r.value or b"") + RECORD_ENDS for r in members
        )
        ended = kcat(
            bootstrap, "-P", "-t", members[0].topic, "-z", codec, "-D", RECORD_ENDS,
            "-X", f"message.max.bytes={program.MAX_BYTES}", *arguments, records=written,
        )
        for r in members:
            yield program.Refused(ended.stderr.decode()) if ended.stderr else r._replace(timestamp="-")


def _arguments(r):
    """The arguments that write a record, or nothing if there are none."""
    arguments = ["-p", str(r.partition)]
    if r.key is not None:
        arguments += ["-K", KEY_ENDS]
    if not r.key and not r.value and (r.key is None or r.value is None):
        return None
    if r.value is None:
        arguments += ["-Z"]
    for name, value in r.headers:
        if name == "":
            return None
        arguments += ["-H", name.encode() if value is None else name.encode() + b"=" + value]
    return tuple(arguments)


def consume(bootstrap, topics, count):
    for topic in topics:
        # kcat notices the end when a fetch that waits comes back empty.
        ended = kcat(
            bootstrap, "-C", "-t", topic, "-o", "beginning", "-e", "-X", "fetch.wait.max.ms=10",
            "-f", "%p %o %T %K %S %h\n%k%s",
        )
        ended.check_returncode()
        output = ended.stdout
        while output:
            fields, _, output = output.partition(b"\n")
            partition, offset, timestamp, key_length, value_length, headers = fields.split(b" ", 5)
            key, output = _take(output, int(key_length))
            value, output = _take(output, int(value_length))
            yield program.Record(topic, int(partition), int(offset), int(timestamp), key, value, list(_headers(headers)))


def _take(output, length):
    return (None, output) if length < 0 else (output[:length], output[length:])


def _headers(shown):
    """Reads headers as kcat shows them, which is clear for those of program.py."""
    for pair in shown.split(b",") if shown else ():
        name, _, value = pair.partition(b"=")
        yield name.decode(), None if value == b"NULL" else value


if __name__ == "__main__":
    program.main(produce, consume, load=load.load)
