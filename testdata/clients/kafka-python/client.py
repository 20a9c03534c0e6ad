"""The client program of kafka-python, any release of it."""

import pathlib
import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import program


def produce(bootstrap, codec, records):
    producer = KafkaProducer(
        bootstrap_servers=bootstrap, compression_type=None if codec == "none" else codec, acks="all", linger_ms=20,
        max_request_size=program.MAX_BYTES,
    )
    sent = [
        (r, producer.send(
            r.topic, partition=r.partition, timestamp_ms=r.timestamp, key=r.key, value=r.value, headers=r.headers
        ))
        for r in records
        if _is_accepted(r)
    ]
    producer.flush()
    for r, future in sent:
        try:
            stored = future.get()
        except KafkaError as reason:
            yield program.Refused(reason)
        else:
            yield r._replace(partition=stored.partition, offset=stored.offset)
    producer.close()


def _is_accepted(r):
    """The client refuses null for both key and value, and as the value of a header."""
    return (r.key is not None or r.value is not None) and all(value is not None for _, value in r.headers)


def consume(bootstrap, topics, count):
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    assigned = [TopicPartition(topic, p) for topic in topics for p in consumer.partitions_for_topic(topic)]
    consumer.assign(assigned)
    consumer.seek_to_beginning(*assigned)
    for _ in range(count):
        m = next(consumer)
        yield program.Record(m.topic, m.partition, m.offset, m.timestamp, m.key, m.value, m.headers)
    consumer.close()


if __name__ == "__main__":
    program.main(produce, consume)
