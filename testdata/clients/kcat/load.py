"""Writes a load with kcat, which tells only what it could not deliver."""

import collections
import re
import subprocess
import time

STEP = 0.01


def load(bootstrap, topic, size, rate, seconds):
    """Returns how many records were acknowledged, and of the others how many for which reason."""
    kcat = subprocess.Popen(
        ["kcat", "-b", bootstrap, "-P", "-t", topic, "-K", ":"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    begin, sent = time.monotonic(), 0
    while (passed := time.monotonic() - begin) < seconds:
        due = int(passed * rate)
        kcat.stdin.write(b"".join(b"key-%d:%s\n" % (i, (b"%d" % i).ljust(size, b"x")) for i in range(sent, due)))
        kcat.stdin.flush()
        sent = due
        time.sleep(STEP)
    _, complaints = kcat.communicate()
    refused = collections.Counter()
    for line in complaints.decode(errors="replace").splitlines():
        if "Delivery failed" in line:
            refused[re.sub(r"\d+", "N", line)] += 1
    failed = sum(refused.values())
    if kcat.returncode and not failed:
        refused[complaints.decode(errors="replace")] = sent
        failed = sent
    return sent - failed, refused
