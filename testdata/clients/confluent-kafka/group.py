"""A member of a group, of the consumer protocol unless a setting says otherwise, until its
input ends; then it leaves. Arguments: bootstrap, group, "topic" or "pattern", its name, and
settings as key=value. Prints "assigned" and all it has after each change, and "record" with
topic, partition, offset and value. Commits after every record."""

import sys
import threading

from confluent_kafka import Consumer, KafkaException


def main(bootstrap, group, kind, name, *settings):
    config = {
        "bootstrap.servers": bootstrap, "group.id": group, "group.protocol": "consumer",
        "auto.offset.reset": "earliest", "enable.auto.commit": False,
    }
    config.update(setting.split("=", 1) for setting in settings)
    consumer = Consumer(config)
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    held = set()

    def changed(partitions, keep):
        for p in partitions:
            (held.add if keep else held.discard)(f"{p.topic}/{p.partition}")
        print(" ".join(["assigned", *sorted(held)]), flush=True)

    consumer.subscribe(
        ["^" + name if kind == "pattern" else name],
        on_assign=lambda _, partitions: changed(partitions, True),
        on_revoke=lambda _, partitions: changed(partitions, False),
        on_lost=lambda _, partitions: changed(partitions, False),
    )
    while not ended.is_set():
        message = consumer.poll(0.2)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        print("record", message.topic(), message.partition(), message.offset(), message.value().decode(), flush=True)
        consumer.commit(message, asynchronous=False)
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
