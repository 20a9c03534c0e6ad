"""One step of an application with confluent-kafka-python, per run.

    client.py BROKER produce TOPIC              "key<TAB>value" lines from stdin
    client.py BROKER subscribe TOPIC GROUP N    read N as a member, commit exactly those, leave
    client.py BROKER assign TOPIC N             read N of all partitions from the start
    client.py BROKER follow TOPIC GROUP [MS]    read as a member until it is ended from outside,
                                                metadata at most MS old

TOPIC of subscribe may be a pattern: ^ and a regular expression. Prints one JSON
object per message acknowledged or read. Settings are librdkafka's defaults,
but for where a new group starts.
"""

import json
import sys
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition

TIMEOUT_SECONDS = 60


def show(message):
    print(json.dumps({
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "key": (message.key() or b"").decode(),
        "value": (message.value() or b"").decode(),
    }))


def produce(broker, topic):
    def delivered(error, message):
        if error is not None:
            raise KafkaException(error)
        show(message)

    producer = Producer({"bootstrap.servers": broker})
    for line in sys.stdin:
        key, value = line.rstrip("\n").split("\t")
        producer.produce(topic, key=key, value=value, on_delivery=delivered)
        producer.poll(0)
    left = producer.flush(TIMEOUT_SECONDS)
    if left:
        sys.exit(f"{left} messages were not acknowledged")


def read(consumer, count):
    deadline = time.monotonic() + TIMEOUT_SECONDS
    got = 0
    while got < count:
        if time.monotonic() > deadline:
            sys.exit(f"only {got} of {count} messages arrived")
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        show(message)
        got += 1


def new_consumer(broker, group, **settings):
    return Consumer({"bootstrap.servers": broker, "group.id": group, "auto.offset.reset": "earliest", **settings})


def subscribe(broker, topic, group, count):
    consumer = new_consumer(broker, group)
    consumer.subscribe([topic])
    read(consumer, int(count))
    for partition in consumer.commit(asynchronous=False):
        if partition.error:
            raise KafkaException(partition.error)
    consumer.close()


def follow(broker, topic, group, metadata_age=None):
    settings = {}
    if metadata_age:
        settings["topic.metadata.refresh.interval.ms"] = int(metadata_age)
    consumer = new_consumer(broker, group, **settings)
    consumer.subscribe([topic])
    while True:
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            print(message.error(), file=sys.stderr)  # the consumer goes on
        else:
            show(message)
            sys.stdout.flush()


def assign(broker, topic, count):
    consumer = new_consumer(broker, "assign-only")
    partitions = consumer.list_topics(topic, timeout=TIMEOUT_SECONDS).topics[topic].partitions
    consumer.assign([TopicPartition(topic, p, OFFSET_BEGINNING) for p in partitions])
    read(consumer, int(count))
    consumer.close()


if __name__ == "__main__":
    steps = {"produce": produce, "subscribe": subscribe, "assign": assign, "follow": follow}
    steps[sys.argv[2]](sys.argv[1], *sys.argv[3:])
