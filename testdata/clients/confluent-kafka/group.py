"""A member of a group, of the consumer protocol unless a setting says otherwise. Commits after every record."""

import pathlib
import sys

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
import member

# What a commit is answered that a rebalance has overtaken.
OVERTAKEN = {
    KafkaError.ILLEGAL_GENERATION, KafkaError.REBALANCE_IN_PROGRESS, KafkaError.STALE_MEMBER_EPOCH,
    KafkaError.UNKNOWN_MEMBER_ID,
}


def main(bootstrap, group, kind, name, *settings):
    config = {
        "bootstrap.servers": bootstrap, "group.id": group, "group.protocol": "consumer",
        "auto.offset.reset": "earliest", "enable.auto.commit": False,
    }
    config.update(setting.split("=", 1) for setting in settings)
    consumer = Consumer(config)
    ended = member.input_ended()
    held = set()

    def changed(partitions, keep):
        for p in partitions:
            (held.add if keep else held.discard)((p.topic, p.partition))
        member.say_assigned(held)

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
        member.say("record", message.topic(), message.partition(), message.offset(), message.value().decode())
        commit(consumer, TopicPartition(message.topic(), message.partition(), message.offset() + 1))
    consumer.close()


def commit(consumer, end):
    try:
        reason = consumer.commit(offsets=[end], asynchronous=False)[0].error
    except KafkaException as failed:
        reason = failed.args[0]
    if reason is None:
        member.say("committed", end.topic, end.partition, end.offset)
    elif reason.code() in OVERTAKEN:
        member.say("uncommitted", end.topic, end.partition, end.offset, reason.name())
    else:
        raise KafkaException(reason)


if __name__ == "__main__":
    main(*sys.argv[1:])
