"""Calls of the official Python SDK of DIS, one after the other.

    client.py ENDPOINT PROJECT [--signing derived|scoped] [--body json|protobuf] [--secret-key SK]

Reads one JSON object per line, {"call": METHOD OF disclient, "with": {ITS ARGUMENTS}},
and prints one per call: {"status": HTTP STATUS, "body": WHAT THE SDK MADE OF THE
ANSWER} or {"error": ITS EXCEPTION}. Settings are the SDK's defaults: derived
signatures and JSON.
"""

import argparse
import json
import os
import sys

# The SDK prints at times; only answers may stand on the standard output.
answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
sys.stdout = sys.stderr

from dis_sdk_python import disclient  # noqa: E402


def settings():
    parser = argparse.ArgumentParser()
    parser.add_argument("endpoint")
    parser.add_argument("project")
    parser.add_argument("--signing", choices=["derived", "scoped"], default="derived")
    parser.add_argument("--body", choices=["json", "protobuf"], default="json")
    parser.add_argument("--secret-key", default="dev-secret")
    return parser.parse_args()


def connect(to):
    return disclient(
        endpoint=to.endpoint,
        ak="dev",
        sk=to.secret_key,
        projectid=to.project,
        region="cn-north-4",
        bodySerializeType="protobuf" if to.body == "protobuf" else "",
        derivationKeySwitch=to.signing == "derived",
    )


def answer(client, request):
    try:
        response = getattr(client, request["call"])(**request["with"])
    except Exception as failure:  # whatever the SDK raises is the outcome of the call
        return {"error": str(failure)}
    return {"status": response.statusCode, "body": response.body}


def main():
    client = connect(settings())
    for line in sys.stdin:
        # Data is text or bytes, depending on the form of the body.
        print(json.dumps(answer(client, json.loads(line)), default=bytes.decode), file=answers, flush=True)


if __name__ == "__main__":
    main()
