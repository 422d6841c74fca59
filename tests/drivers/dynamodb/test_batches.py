"""BatchWriteItem and BatchGetItem.

Source: Amazon DynamoDB API Reference of both.
"""

import json

import pytest

import endpoint
from wire import Fails, Invalid, Number, TABLE, cases, expressions, item, items, scan


def write(*requests):
    return "BatchWriteItem", {"RequestItems": {TABLE: list(requests)}}


def puts(*what):
    return [{"PutRequest": {"Item": item(one)}} for one in what]


def deletes(*what):
    return [{"DeleteRequest": {"Key": item(one)}} for one in what]


def read(*keys, **rest):
    return "BatchGetItem", {"RequestItems": {TABLE: {"Keys": items(keys), **expressions(**rest)}}}


def rows(count):
    return [{"pk": "a", "sk": number, "v": number} for number in range(count)]


def keys(count):
    return [{"pk": "a", "sk": number} for number in range(count)]


def in_order(found):
    return sorted(found, key=lambda one: json.dumps(one, sort_keys=True, default=str))


NONE_LEFT = {"UnprocessedItems": {}}
BATCHES = {
    # id: request of an empty table S, N; answer or error
    "write-one": (write(*puts({"pk": "a", "sk": 1})), NONE_LEFT),
    "write-25": (write(*puts(*rows(25))), NONE_LEFT),
    "write-26": (
        write(*puts(*rows(26))),
        Invalid("Too many items requested for the BatchWriteItem call|less than or equal to 25"),
    ),
    "write-none": (write(), Invalid("")),
    "write-no-tables": (("BatchWriteItem", {"RequestItems": {}}), Invalid("")),
    "write-duplicate": (
        write(*puts({"pk": "a", "sk": 1, "v": 1}, {"pk": "a", "sk": Number("1.0"), "v": 2})),
        Invalid("Provided list of item keys contains duplicates"),
    ),
    "write-put-and-delete": (
        write(*puts({"pk": "a", "sk": 1}), *deletes({"pk": "a", "sk": 1})),
        Invalid("Provided list of item keys contains duplicates"),
    ),
    "write-delete-missing": (write(*deletes({"pk": "a", "sk": 1})), NONE_LEFT),
    "write-nothing-in-request": (write({}), Invalid("")),
    "write-both-in-request": (
        write({**puts({"pk": "a", "sk": 1})[0], **deletes({"pk": "a", "sk": 2})[0]}),
        Invalid(""),
    ),
    "write-without-key": (
        write(*puts({"pk": "a"})),
        Invalid("key element does not match the schema|Missing the key|required keys"),
    ),
    "write-key-of-another-type": (
        write(*puts({"pk": "a", "sk": "1"})),
        Invalid("(key element does not match the schema|Type mismatch for key)"),
    ),
    "delete-with-more": (
        write(*deletes({"pk": "a", "sk": 1, "v": 1})),
        Invalid("(key element does not match the schema|number of conditions on the keys)"),
    ),
    "write-no-such-table": (
        ("BatchWriteItem", {"RequestItems": {"no-such-table": puts({"pk": "a", "sk": 1})}}),
        Fails("ResourceNotFoundException"),
    ),
    "write-item-too-large": (
        write(*puts({"pk": "a", "sk": 1, "v": "x" * 409600})),
        Invalid("Item size has exceeded the maximum allowed size"),
    ),
    "get-missing": (read({"pk": "a", "sk": 1}), {"Responses": {TABLE: []}, "UnprocessedKeys": {}}),
    "get-100": (read(*keys(100)), {"UnprocessedKeys": {}}),
    "get-101": (
        read(*keys(101)),
        Invalid("Too many items requested for the BatchGetItem call|less than or equal to 100"),
    ),
    "get-none": (read(), Invalid("")),
    "get-no-tables": (("BatchGetItem", {"RequestItems": {}}), Invalid("")),
    "get-duplicate": (
        read({"pk": "a", "sk": 1}, {"pk": "a", "sk": Number("1.0")}),
        Invalid("Provided list of item keys contains duplicates"),
    ),
    "get-part": (
        read({"pk": "a"}),
        Invalid("(key element does not match the schema|number of conditions on the keys)"),
    ),
    "get-key-of-another-type": (
        read({"pk": "a", "sk": "1"}),
        Invalid("The provided key element does not match the schema|Type mismatch for key"),
    ),
    "get-no-such-table": (
        ("BatchGetItem", {"RequestItems": {"no-such-table": {"Keys": [item({"pk": "a"})]}}}),
        Fails("ResourceNotFoundException"),
    ),
    "get-bad-projection": (
        read({"pk": "a", "sk": 1}, ProjectionExpression="values"),
        Invalid("reserved keyword: values"),
    ),
    "get-unused-name": (
        read({"pk": "a", "sk": 1}, ProjectionExpression="v", names={"#a": "b"}),
        Invalid("unused in expressions: keys: {#a}"),
    ),
}
BATCHES_DIFFER = {
    "get-duplicate": {
        "local": "takes 1 and 1.0 for two keys",
        "why": "they are one key; BatchWriteItem refuses them there too",
    }
}


@pytest.mark.parametrize("call, expected", cases(BATCHES, BATCHES_DIFFER))
def test_batch(make_table, run, call, expected):
    table = make_table("SN")
    if isinstance(expected, dict) and "Responses" in expected:
        expected = {**expected, "Responses": {table: []}}
    run(table, call, expected)
    if isinstance(expected, Fails):
        run(table, scan(), {"Count": 0})  # all or nothing, as far as requests are valid


def test_batch_writes_and_deletes(make_table, run, client):
    table = make_table("SN", *rows(3))
    run(
        table,
        write(*puts({"pk": "b", "sk": 1, "v": "new"}, {"pk": "a", "sk": 0}), *deletes({"pk": "a", "sk": 1})),
        NONE_LEFT,
    )
    found = endpoint.call(client, table, *scan())["Items"]
    assert in_order(found) == in_order(items([{"pk": "b", "sk": 1, "v": "new"}, {"pk": "a", "sk": 0}, rows(3)[2]]))


def test_batch_over_tables(make_table, client):
    tables = [make_table("SN"), make_table("S")]
    assert (
        endpoint.call(
            client,
            "",
            "BatchWriteItem",
            {
                "RequestItems": {
                    tables[0]: puts({"pk": "a", "sk": 1, "v": 1}),
                    tables[1]: puts({"pk": "a", "v": 2}, {"pk": "b"}),
                }
            },
        )
        == NONE_LEFT
    )
    found = endpoint.call(
        client,
        "",
        "BatchGetItem",
        {
            "RequestItems": {
                tables[0]: {"Keys": items([{"pk": "a", "sk": 1}, {"pk": "a", "sk": 2}])},
                tables[1]: {"Keys": items([{"pk": "b"}]), "ConsistentRead": True},
            }
        },
    )
    assert found == {
        "Responses": {tables[0]: items([{"pk": "a", "sk": 1, "v": 1}]), tables[1]: items([{"pk": "b"}])},
        "UnprocessedKeys": {},
    }


def test_batch_get_as_feast_does(make_table, run, client):
    """Only attributes that were asked for, by paths into a map; who is missing is left out."""
    table = make_table(
        "S", *({"pk": f"e{number}", "event_ts": "t", "values": {"rate": b"1", "trips": b"2"}} for number in range(30))
    )
    found = endpoint.call(
        client,
        table,
        *read(
            *({"pk": f"e{number}"} for number in range(20, 40)),
            ConsistentRead=False,
            ProjectionExpression="#e, #t, #v.#f",
            names={"#e": "pk", "#t": "event_ts", "#v": "values", "#f": "rate"},
        ),
    )
    assert in_order(found["Responses"][table]) == items(
        {"pk": f"e{number}", "event_ts": "t", "values": {"rate": b"1"}} for number in range(20, 30)
    )


def test_batch_get_of_legacy_attributes(make_table, client):
    table = make_table("SN", {"pk": "a", "sk": 1, "v": 1, "w": 2})
    found = endpoint.call(client, table, *read({"pk": "a", "sk": 1}, AttributesToGet=["w"]))
    assert found["Responses"] == {table: items([{"w": 2}])}


def test_batch_get_of_16_mb(make_table, client):
    """API Reference, BatchGetItem: at most 16 MB come, and the keys of the rest."""
    table = make_table("SN", *({**row, "v": "x" * 390_000} for row in rows(45)))
    asked, seen = items(keys(45)), []
    for _ in range(5):
        found = endpoint.call(client, table, "BatchGetItem", {"RequestItems": {table: {"Keys": asked}}})
        seen += [one["sk"]["N"] for one in found["Responses"][table]]
        asked = found["UnprocessedKeys"].get(table, {}).get("Keys")
        if not asked:
            break
        assert len(seen) >= 40
    assert not asked and sorted(map(int, seen)) == list(range(45))


@pytest.mark.parametrize("call", [write(*puts({"pk": "a", "sk": 1})), read({"pk": "a", "sk": 1})], ids=["write", "get"])
def test_consumed_capacity_of_batches(make_table, client, call):
    table = make_table("SN")
    capacity = endpoint.call(client, table, call[0], {**call[1], "ReturnConsumedCapacity": "TOTAL"})["ConsumedCapacity"]
    assert [one["TableName"] for one in capacity] == [table] and capacity[0]["CapacityUnits"] >= 0
