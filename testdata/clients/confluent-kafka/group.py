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
    pending = {}  # the ends that are to be committed

    def changed(partitions, keep):
        for p in partitions:
            (held.add if keep else held.discard)((p.topic, p.partition))
            if not keep:
                pending.pop((p.topic, p.partition), None)
        member.say_assigned(held)

    consumer.subscribe(
        ["^" + name if kind == "pattern" else name],
        on_assign=lambda _, partitions: changed(partitions, True),
        on_revoke=lambda _, partitions: changed(partitions, False),
        on_lost=lambda _, partitions: changed(partitions, False),
    )
    while not ended.is_set():
        message = consumer.poll(0.2)
        if message is not None:
            if message.error():
                raise KafkaException(message.error())
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            member.say("record", topic, partition, offset, message.value().decode())
            pending[topic, partition] = offset + 1
        for end in list(pending.items()):
            if commit(consumer, *end):
                del pending[end[0]]
    consumer.close()


def commit(consumer, partition, end):
    """Says whether the offset was stored, or a rebalance has overtaken it."""
    try:
        reason = consumer.commit(offsets=[TopicPartition(*partition, end)], asynchronous=False)[0].error
    except KafkaException as failed:
        reason = failed.args[0]
    if reason is None:
        member.say("committed", *partition, end)
    elif reason.code() in OVERTAKEN:
        member.say("uncommitted", *partition, end, reason.name())
    else:
        raise KafkaException(reason)
    return reason is None


if __name__ == "__main__":
    main(*sys.argv[1:])
