"""A member of a group in kafka-python, with the assignor range. Commits after every batch."""

import pathlib
import sys

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import CommitFailedError, RebalanceInProgressError
from kafka.structs import OffsetAndMetadata

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import member


class Listener(ConsumerRebalanceListener):
    def on_partitions_revoked(self, revoked):
        member.say_assigned([])

    def on_partitions_assigned(self, assigned):
        member.say_assigned(assigned)


def main(bootstrap, group, kind, name, *settings):
    if kind != "topic":
        sys.exit(f"no {kind}: this program subscribes to a topic")
    ended = member.input_ended()
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
        partition_assignment_strategy=[RangePartitionAssignor], **member.settings(settings),
    )
    consumer.subscribe([name], listener=Listener())
    while not ended.is_set():
        for partition, records in consumer.poll(timeout_ms=200).items():
            for r in records:
                member.say("record", r.topic, r.partition, r.offset, r.value.decode())
            end = records[-1].offset + 1
            try:
                consumer.commit({partition: OffsetAndMetadata(end, "", -1)})
            except (CommitFailedError, RebalanceInProgressError) as reason:
                member.say("uncommitted", partition.topic, partition.partition, end, type(reason).__name__)
            else:
                member.say("committed", partition.topic, partition.partition, end)
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
