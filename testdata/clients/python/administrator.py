"""What the admin programs in Python share: the command line, and the lines that are
printed. README.md in the folder above is its description."""

import json
import shlex
import sys


class Refusal(Exception):
    """An error of the protocol, with the text of the server where the client tells it."""

    def __init__(self, code, reason):
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class Admin:
    """What a program makes of an admin client; what it leaves out, the client has not."""

    def cluster(self):
        """The pairs of id and address of the brokers, and the id of the controller."""
        raise NotImplementedError

    def topics(self):
        raise NotImplementedError

    def topic(self, topic):
        """Id, leader, replicas and in-sync replicas of each partition."""
        raise NotImplementedError

    def create(self, topic, partitions, configs):
        raise NotImplementedError

    def configs(self, topic):
        raise NotImplementedError

    def partitions(self, topic, count):
        raise NotImplementedError

    def alter(self, topic, configs):
        raise NotImplementedError

    def replace(self, topic, configs):
        """Sets the configs and takes all others back to their defaults."""
        raise NotImplementedError

    def offsets(self, topic, partitions):
        """The first and the next offset of each partition."""
        raise NotImplementedError

    def delete_records(self, topic, partition, offset):
        raise NotImplementedError

    def groups(self):
        raise NotImplementedError

    def group(self, group):
        """The state, and the pairs of client id and partitions, like t/0, of the members."""
        raise NotImplementedError

    def delete(self, topic):
        raise NotImplementedError


def _numbers(ids):
    return "[" + " ".join(str(i) for i in ids) + "]"


def _configs(pairs):
    return dict(pair.split("=", 1) for pair in pairs)


def _step(admin, name, args):
    if name == "cluster":
        brokers, controller = admin.cluster()
        for broker, address in sorted(brokers):
            yield f"broker {broker} {address}"
        yield f"controller {controller}"
    elif name in ("topics", "groups"):
        for found in sorted(getattr(admin, name)()):
            yield f"{name[:-1]} {found}"
    elif name == "topic":
        for partition, leader, replicas, isr in sorted(admin.topic(args[0])):
            yield f"partition {partition} leader {leader} replicas {_numbers(replicas)} isr {_numbers(isr)}"
    elif name == "create":
        admin.create(args[0], int(args[1]), _configs(args[2:]))
    elif name == "configs":
        for key, value in sorted(admin.configs(args[0]).items()):
            yield f"config {key}={value}"
    elif name == "partitions":
        admin.partitions(args[0], int(args[1]))
    elif name == "alter":
        admin.alter(args[0], _configs(args[1:]))
    elif name == "replace":
        admin.replace(args[0], _configs(args[1:]))
    elif name == "offsets":
        for partition, (first, following) in enumerate(admin.offsets(args[0], int(args[1]))):
            yield f"offsets {partition} {first} {following}"
    elif name == "delete-records":
        admin.delete_records(args[0], int(args[1]), int(args[2]))
    elif name == "group":
        state, members = admin.group(args[0])
        yield f"state {state}"
        for client, assigned in sorted(members):
            yield f"member {client} {','.join(sorted(assigned))}"
    elif name == "delete":
        admin.delete(args[0])
    else:
        sys.exit(f"no step {name}")


def main(connect):
    """Runs the steps of the standard input; connect(bootstrap) gives an Admin."""
    for command in sys.stdin:
        _, bootstrap, name, *args = shlex.split(command)
        try:
            for line in _step(connect(bootstrap), name, args):
                print(line)
        except NotImplementedError:
            print("none")
        except Refusal as refusal:
            print(f"refused {refusal.code} {json.dumps(refusal.reason)}")
        print("ok", flush=True)
