"""The client program of confluent-kafka, that is of the newest librdkafka."""

import pathlib
import sys
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import program


def produce(bootstrap, codec, records, manner):
    producer = Producer({
        "bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 20, "message.max.bytes": program.MAX_BYTES,
        "enable.idempotence": manner.idempotent,
    })
    outcomes = []

    def delivered(error, message, record):
        if error is not None:
            outcomes.append(program.Refused(error))
        else:
            offset = message.offset()  # None where the server could not tell it
            outcomes.append(record._replace(partition=message.partition(), offset=-1 if offset is None else offset))

    begin = time.monotonic()
    for i, r in enumerate(records):
        while (wait := manner.wait(begin, i)) > 0:
            producer.poll(wait)
        producer.produce(
            r.topic, partition=r.partition, timestamp=r.timestamp, key=r.key, value=r.value, headers=r.headers,
            on_delivery=lambda error, message, record=r: delivered(error, message, record),
        )
    producer.flush()
    return outcomes


def consume(bootstrap, topics, count):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    partitions = consumer.list_topics().topics
    consumer.assign([
        TopicPartition(topic, partition, OFFSET_BEGINNING) for topic in topics for partition in partitions[topic].partitions
    ])
    for _ in range(count):
        message = consumer.poll()
        if message.error():
            raise KafkaException(message.error())
        yield program.Record(
            message.topic(), message.partition(), message.offset(), message.timestamp()[1],
            message.key(), message.value(), message.headers() or [],
        )
    consumer.close()


if __name__ == "__main__":
    program.main(produce, consume, has_manner=True)
