"""The endpoint that the tests speak to, by LISTSTORE_DYNAMODB:

liststore         the program that LISTSTORE_BINARY names, the default
local, moto       DynamoDB Local or moto's server, of tests/peers
http://HOST:PORT  one that is there
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import urllib.parse

import boto3
import botocore.config
import botocore.exceptions
import pytest

import wire

WHICH = os.environ.get("LISTSTORE_DYNAMODB", "liststore")
BINARY = os.environ.get("LISTSTORE_BINARY", "build/release/bin/liststore")
PEERS = pathlib.Path(__file__).resolve().parents[2] / "peers"
REGION = "us-east-1"
SECONDS_MAX = 60


@contextlib.contextmanager
def liststore(*arguments):
    """The URL of a server of its own, which ends with the block."""
    command = [BINARY, "serve", "--cql-port", "0", "--dynamodb-port", "0", "--until-eof", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()  # once it listens
        assert line, f"the server ended at once with status {process.wait()}"
        try:
            yield f"http://127.0.0.1:{json.loads(line)['dynamodb_port']}"
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=SECONDS_MAX) == 0


@contextlib.contextmanager
def peer(name):
    """The URL of DynamoDB Local or moto."""
    with subprocess.Popen(
        [PEERS / f"dynamodb_{name}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        ready = process.stdout.readline()
        if not ready:
            said = process.communicate()[1].strip()
            if process.returncode == 77:
                pytest.skip(said.splitlines()[-1])
            pytest.fail(said, pytrace=False)
        yield json.loads(ready)["dynamodb"]
        process.communicate()  # ends its standard input, and with that the peer


def opened(which=WHICH):
    if which == "liststore":
        return liststore(*os.environ.get("LISTSTORE_ARGUMENTS", "").split())
    return contextlib.nullcontext(which) if which.startswith("http") else peer(which)


def kind(which=WHICH):
    """What a case's `differs` is looked up by."""
    return os.environ.get("LISTSTORE_DYNAMODB_KIND", which)


def connect(url, **options):
    """boto3's client: nothing is checked before it is sent, and nothing is sent twice."""
    config = botocore.config.Config(
        parameter_validation=False,
        retries={"total_max_attempts": 1},
        max_pool_connections=20,
        read_timeout=SECONDS_MAX,
        **options,
    )
    return boto3.session.Session(aws_access_key_id="AKID", aws_secret_access_key="secret", region_name=REGION).client(
        "dynamodb", endpoint_url=url, config=config
    )


def port_of(url):
    return urllib.parse.urlparse(url).port


def call(client, table, operation, request):
    """The answer without its metadata; sets in order."""
    answer = client._make_api_call(operation, wire.named(request, table))  # pylint: disable=protected-access
    answer.pop("ResponseMetadata")
    return wire.normal(answer)


def outcome(client, table, operation, request):
    """The answer, or the error's answer whole."""
    try:
        return call(client, table, operation, request)
    except botocore.exceptions.ClientError as error:
        return error


def check(client, table, operation, request, expected):
    """What came is what is expected: an error, or parts of an answer."""
    found = outcome(client, table, operation, request)
    if isinstance(expected, wire.Fails):
        assert isinstance(found, botocore.exceptions.ClientError), f"answered {found!r}"
        expected.check(found.response["Error"]["Code"], found.response["Error"]["Message"])
        assert found.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    else:
        assert not isinstance(found, Exception), str(found)
        assert {name: found.get(name) for name in expected} == wire.normal(expected)
    return found
