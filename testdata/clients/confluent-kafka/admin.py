"""The admin program of confluent-kafka, that is of the newest librdkafka."""

import functools
import pathlib
import sys

from confluent_kafka import ConsumerGroupState, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
)

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import administrator


def result(futures):
    """The result of a call, or of its only one."""
    try:
        return (next(iter(futures.values())) if isinstance(futures, dict) else futures).result()
    except KafkaException as failure:
        raise administrator.Refusal(failure.args[0].code(), failure.args[0].str())


class Admin(administrator.Admin):
    def __init__(self, bootstrap):
        self.client = AdminClient({"bootstrap.servers": bootstrap})

    def cluster(self):
        found = result(self.client.describe_cluster())
        return [(node.id, f"{node.host}:{node.port}") for node in found.nodes], found.controller.id

    def topics(self):
        return list(self.client.list_topics().topics)

    def topic(self, topic):
        found = result(self.client.describe_topics(TopicCollection([topic])))
        return [(p.id, p.leader.id, [n.id for n in p.replicas], [n.id for n in p.isr]) for p in found.partitions]

    def create(self, topic, partitions, configs):
        result(self.client.create_topics([NewTopic(topic, partitions, config=configs)]))

    def configs(self, topic):
        described = result(self.client.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]))
        return {name: entry.value for name, entry in described.items()}

    def partitions(self, topic, count):
        result(self.client.create_partitions([NewPartitions(topic, count)]))

    def alter(self, topic, configs):
        entries = [ConfigEntry(n, v, incremental_operation=AlterConfigOpType.SET) for n, v in configs.items()]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        result(self.client.incremental_alter_configs([resource]))

    def replace(self, topic, configs):
        result(self.client.alter_configs([ConfigResource(ConfigResource.Type.TOPIC, topic, set_config=configs)]))

    def offsets(self, topic, partitions):
        # The client looks no further than the metadata that it has, which may be from
        # before partitions were added.
        self.client.list_topics(topic)

        def ask(partition, spec):
            return result(self.client.list_offsets({TopicPartition(topic, partition): spec})).offset

        return [(ask(p, OffsetSpec.earliest()), ask(p, OffsetSpec.latest())) for p in range(partitions)]

    def delete_records(self, topic, partition, offset):
        result(self.client.delete_records([TopicPartition(topic, partition, offset)]))

    def groups(self):
        return [group.group_id for group in result(self.client.list_consumer_groups()).valid]

    def group(self, group):
        found = result(self.client.describe_consumer_groups([group]))
        members = [
            (member.client_id, [f"{p.topic}/{p.partition}" for p in member.assignment.topic_partitions])
            for member in found.members
        ]
        return {ConsumerGroupState.STABLE: "Stable", ConsumerGroupState.EMPTY: "Empty"}.get(found.state, found.state), members

    def delete(self, topic):
        result(self.client.delete_topics([topic]))


if __name__ == "__main__":
    administrator.main(functools.cache(Admin))
