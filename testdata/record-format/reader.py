"""A reader of docs/record-format.md in Python, with nothing but its standard library.

    reader.py FILE...    checks the examples in the JSON files of this folder

`decode` is what a DIS consumer needs: it turns a DIS record into a Kafka record.
"""

import json
import sys

MAGIC = b"\x00KDG"
VERSION = 1


def _crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


_TABLE = _crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Malformed(Exception):
    pass


class Fields:
    """Reads one field after another."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        if length < 0 or length > len(self.data) - self.at:
            raise Malformed
        self.at += length
        return self.data[self.at - length:self.at]

    def varint(self):
        number = 0
        for index in range(10):
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                if number >= 1 << 64:
                    raise Malformed
                return number >> 1 ^ -(number & 1)
        raise Malformed

    def nullable(self):
        length = self.varint()
        return None if length == -1 else self.take(length)


def decode(data, partition_key, timestamp):
    """Gives (key, value, headers, timestamp); key and value are bytes or None,
    headers are pairs of the name in bytes and a value of bytes or None."""
    try:
        return envelope(data)
    except Malformed:
        key = None if partition_key is None else partition_key.encode()
        return key, data, [], timestamp


def envelope(data):
    if len(data) < 17 or data[:4] != MAGIC or data[4] != VERSION:
        raise Malformed
    if int.from_bytes(data[5:9], "big") != crc32c(data[9:]):
        raise Malformed
    fields = Fields(data[17:])
    if fields.varint() != len(fields.data) - fields.at:
        raise Malformed
    fields.take(1)  # attributes
    fields.varint()  # timestamp delta
    fields.varint()  # offset delta
    key, value = fields.nullable(), fields.nullable()
    count = fields.varint()
    if count < 0:
        raise Malformed
    headers = [(fields.take(fields.varint()), fields.nullable()) for _ in range(count)]
    if fields.at != len(fields.data):
        raise Malformed
    return key, value, headers, int.from_bytes(data[9:17], "big", signed=True)


def unhex(text):
    return None if text is None else bytes.fromhex(text)


def check(case):
    stored, record = case["dis"], case["record"]
    want = (
        unhex(record["key"]),
        unhex(record["value"]),
        [(unhex(h["key"]), unhex(h["value"])) for h in record["headers"]],
        record["timestamp"],
    )
    got = decode(unhex(stored["data"]), stored["partition_key"], stored["timestamp"])
    if got != want:
        print(f"{case['name']}: {got}, want {want}")
    return got == want


if __name__ == "__main__":
    results = [check(case) for name in sys.argv[1:] for case in json.load(open(name))]
    print(f"{sum(results)} of {len(results)} examples are read as they should be")
    sys.exit(not results or not all(results))
