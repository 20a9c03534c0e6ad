"""A member of a group in aiokafka, with the assignor range. Commits after every batch."""

import asyncio
import pathlib
import sys

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import CommitFailedError, IllegalStateError

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import member


class Listener(ConsumerRebalanceListener):
    """aiokafka rebalances in the background: the lock keeps a batch and its commit together.
    Nobody may hold it who waits for records: there are none until the rebalance is over."""

    def __init__(self):
        self.lock = asyncio.Lock()

    async def on_partitions_revoked(self, revoked):
        async with self.lock:
            member.say_assigned([])

    async def on_partitions_assigned(self, assigned):
        member.say_assigned(assigned)


async def main(bootstrap, group, kind, name, *settings):
    if kind != "topic":
        sys.exit(f"no {kind}: this program subscribes to a topic")
    ended = member.input_ended()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False,
        partition_assignment_strategy=[RangePartitionAssignor], **member.settings(settings),
    )
    listener = Listener()
    consumer.subscribe([name], listener=listener)
    await consumer.start()
    try:
        while not ended.is_set():
            batches = await consumer.getmany(timeout_ms=200)
            async with listener.lock:
                await read(consumer, batches)
    finally:
        await consumer.stop()


async def read(consumer, batches):
    for partition, records in batches.items():
        for r in records:
            member.say("record", r.topic, r.partition, r.offset, r.value.decode())
        end = records[-1].offset + 1
        try:
            await consumer.commit({partition: end})
        except (CommitFailedError, IllegalStateError) as reason:
            member.say("uncommitted", partition.topic, partition.partition, end, type(reason).__name__)
        else:
            member.say("committed", partition.topic, partition.partition, end)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
