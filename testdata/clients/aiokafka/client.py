"""The client program of aiokafka."""

import asyncio
import pathlib
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import program


async def produce(bootstrap, codec, records):
    outcomes = []
    async with AIOKafkaProducer(
        bootstrap_servers=bootstrap, compression_type=None if codec == "none" else codec, acks="all", linger_ms=20,
        max_request_size=program.MAX_BYTES,
    ) as producer:
        sent = [
            (r, await producer.send(
                r.topic, partition=r.partition, timestamp_ms=r.timestamp, key=r.key, value=r.value, headers=r.headers
            ))
            for r in records
            if r.key is not None or r.value is not None  # the client refuses null for both
        ]
        for r, future in sent:
            try:
                stored = await future
            except KafkaError as reason:
                outcomes.append(program.Refused(reason))
            else:
                outcomes.append(r._replace(partition=stored.partition, offset=stored.offset))
    return outcomes


async def consume(bootstrap, topics, count):
    read = []
    # Without a group, all partitions of the topics.
    async with AIOKafkaConsumer(*topics, bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        while len(read) < count:
            m = await consumer.getone()
            read.append(program.Record(m.topic, m.partition, m.offset, m.timestamp, m.key, m.value, m.headers))
    return read


if __name__ == "__main__":
    program.main(
        lambda *arguments: asyncio.run(produce(*arguments)),
        lambda *arguments: asyncio.run(consume(*arguments)),
    )
