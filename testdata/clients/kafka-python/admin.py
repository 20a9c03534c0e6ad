"""The admin program of kafka-python, 3.0."""

import functools
import pathlib
import re
import sys

from kafka import TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError, for_code

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import administrator


def tells(call):
    """Its errors of the protocol become refusals."""

    @functools.wraps(call)
    def told(*args):
        try:
            return call(*args)
        except KafkaError as error:
            raise administrator.Refusal(error.errno, str(error))

    return told


def check(results):
    """Where the client gives errors as text and does not raise them."""
    for result in results.values():
        if result != "OK":
            raise administrator.Refusal(int(re.match(r"\[Error (-?\d+)\]", result)[1]), result)


class Admin(administrator.Admin):
    def __init__(self, bootstrap):
        self.client = KafkaAdminClient(bootstrap_servers=bootstrap)

    @tells
    def cluster(self):
        found = self.client.describe_cluster()
        return [(b["broker_id"], f"{b['host']}:{b['port']}") for b in found["brokers"]], found["controller_id"]

    @tells
    def topics(self):
        return self.client.list_topics()

    @tells
    def topic(self, topic):
        (found,) = self.client.describe_topics([topic])
        if found["error_code"]:
            error = for_code(found["error_code"])
            raise administrator.Refusal(error.errno, error.description)
        return [(p["partition_index"], p["leader_id"], p["replica_nodes"], p["isr_nodes"]) for p in found["partitions"]]

    @tells
    def create(self, topic, partitions, configs):
        self.client.create_topics({topic: {"num_partitions": partitions, "configs": configs}})

    @tells
    def configs(self, topic):
        described = self.client.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all")
        return {name: config["value"] for name, config in described["topic"][topic].items()}

    @tells
    def partitions(self, topic, count):
        self.client.create_partitions({topic: count})

    @tells
    def alter(self, topic, configs):
        self._alter(topic, configs, incremental=True)

    @tells
    def replace(self, topic, configs):
        self._alter(topic, configs, incremental=False)

    def _alter(self, topic, configs, incremental):
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=configs)
        # Names that the client does not know from the topic are left to the server.
        check(self.client.alter_configs([resource], raise_on_unknown=False, incremental=incremental)["topic"])

    @tells
    def offsets(self, topic, partitions):
        wanted = [TopicPartition(topic, p) for p in range(partitions)]
        first = self.client.list_partition_offsets(dict.fromkeys(wanted, OffsetSpec.EARLIEST))
        following = self.client.list_partition_offsets(dict.fromkeys(wanted, OffsetSpec.LATEST))
        return [(first[p].offset, following[p].offset) for p in wanted]

    @tells
    def delete_records(self, topic, partition, offset):
        self.client.delete_records({TopicPartition(topic, partition): offset})

    @tells
    def groups(self):
        return [group["group_id"] for group in self.client.list_groups()]

    @tells
    def group(self, group):
        found = self.client.describe_groups([group])[group]
        members = [
            (m["client_id"], [f"{t['topic']}/{p}" for t in m["member_assignment"]["assigned_partitions"] for p in t["partitions"]])
            for m in found["members"]
        ]
        return found["group_state"], members

    @tells
    def delete(self, topic):
        self.client.delete_topics([topic])


if __name__ == "__main__":
    administrator.main(functools.cache(Admin))
