"""What the members of groups in Python share. A member runs until its input ends; then it leaves.
README.md in the folder above says what its arguments are and what it prints."""

import sys
import threading


def input_ended():
    """The event that the standard input has ended."""
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    return ended


def say(*words):
    print(*words, flush=True)


def say_assigned(partitions):
    say("assigned", *sorted(f"{topic}/{partition}" for topic, partition in partitions))


def settings(words):
    """The settings that are given as key=value; what looks like a number is one."""
    pairs = (word.split("=", 1) for word in words)
    return {key: int(value) if value.isdecimal() else value for key, value in pairs}
