"""UpdateTimeToLive and DescribeTimeToLive, and what is not expired; by a clock that the test moves: test_expiry.py.

Sources: Amazon DynamoDB API Reference of both; Developer Guide, "Using time to live (TTL)".
"""

import time

import botocore.exceptions
import pytest

import endpoint
from wire import Invalid, TABLE, get, item, put, scan, update


def ttl(name, enabled=True):
    return "UpdateTimeToLive", {
        "TableName": TABLE,
        "TimeToLiveSpecification": {"AttributeName": name, "Enabled": enabled},
    }


def ttl_of(client, table):
    return endpoint.call(client, table, "DescribeTimeToLive", {"TableName": TABLE})["TimeToLiveDescription"]


def test_time_to_live(client, run, make_table):
    table = make_table("S")
    assert ttl_of(client, table) == {"TimeToLiveStatus": "DISABLED"}
    run(table, ttl("t"), {"TimeToLiveSpecification": {"AttributeName": "t", "Enabled": True}})
    found = ttl_of(client, table)
    assert found["AttributeName"] == "t" and found["TimeToLiveStatus"] in ("ENABLING", "ENABLED")


def test_time_to_live_twice(run, make_table):
    table = make_table("S")
    run(table, ttl("t"))
    run(table, ttl("t"), Invalid("TimeToLive is already enabled|Time to live has been modified multiple times"))
    run(
        table,
        ttl("u"),
        Invalid("TimeToLive is (already )?(active|enabled)|Time to live has been modified multiple times"),
    )


def test_time_to_live_not_enabled(run, make_table):
    run(make_table("S"), ttl("t", False), Invalid("TimeToLive is already disabled"))


@pytest.mark.parametrize(
    "specification",
    [
        {},
        {"AttributeName": "t"},
        {"Enabled": True},
        {"AttributeName": "", "Enabled": True},
        {"AttributeName": "x" * 256, "Enabled": True},
        None,
    ],
    ids=["empty", "no-enabled", "no-name", "empty-name", "long-name", "none"],
)
def test_bad_time_to_live(run, make_table, specification):
    run(
        make_table("S"),
        (
            "UpdateTimeToLive",
            {"TableName": TABLE, **({} if specification is None else {"TimeToLiveSpecification": specification})},
        ),
        Invalid(),
    )


def test_what_is_not_expired_stays(run, make_table):
    """Developer Guide, TTL: only numbers of seconds count; times of more than five years ago do not."""
    table = make_table("SN")
    run(table, ttl("t"))
    kept = [
        {"t": str(int(time.time()) - 60)},
        {"t": b"1"},
        {"t": None},
        {},
        {"t": int(time.time()) + 10**6},
        {"t": 1},
        {"t": 0},
        {"t": -5},
        {"other": 5},
    ]
    for number, more in enumerate(kept):
        run(table, put({"pk": "a", "sk": number, **more}))
    run(table, scan(), {"Count": len(kept)})


def test_expired_may_be_gone(client, run, make_table):
    """A reader has to expect both."""
    table = make_table("S")
    run(table, ttl("t"))
    then = int(time.time()) - 60
    run(table, put({"pk": "a", "t": then}))
    there = item({"pk": "a", "t": then})
    found = endpoint.call(client, table, *get({"pk": "a"}))
    assert found in ({}, {"Item": there})
    found = endpoint.call(client, table, *update({"pk": "a"}, "SET v = :v", values={":v": 1}, ReturnValues="ALL_NEW"))[
        "Attributes"
    ]
    assert found in (item({"pk": "a", "v": 1}), {**there, **item({"v": 1})})


def test_condition_on_an_expired_item(client, make_table):
    table = make_table("S", {"pk": "a", "t": int(time.time()) - 60})
    endpoint.call(client, table, *ttl("t"))
    found = endpoint.outcome(client, table, *put({"pk": "a"}, ConditionExpression="attribute_not_exists(pk)"))
    assert (
        not isinstance(found, botocore.exceptions.ClientError)
        or found.response["Error"]["Code"] == "ConditionalCheckFailedException"
    )
