"""Local and global secondary indexes: what is in them, in which order, by which projection, in pages.

Sources: Amazon DynamoDB Developer Guide, "Local secondary indexes" and "Using global secondary indexes"; API Reference, Query.
"""

import pytest

import endpoint
from test_queries import ALL, pages, with_values
from wire import Fails, Invalid, item, items, put, query, scan, update

LISTED = [
    {"pk": "a", "sk": 1, "v": "x"},
    {"pk": "a", "sk": 2, "v": "y"},
    {"pk": "a", "sk": 3, "v": "x"},
    {"pk": "a", "sk": 4},
    {"pk": "b", "sk": 1, "v": "x"},
]


def test_local_index(kept_table, run):
    """What has no v is not in the index."""
    table = kept_table("lists", "listed", LISTED)
    for condition, values, expected in (
        ("pk = :p AND v = :v", with_values(v="y"), [LISTED[1]]),
        ("pk = :p AND v > :v", with_values(v="x"), [LISTED[1]]),
        ("pk = :p AND begins_with(v, :v)", with_values(v="y"), [LISTED[1]]),
        ("pk = :p AND v = :v", with_values(v="z"), []),
    ):
        run(
            table, query(condition, values=values, IndexName="by_v"), {"Items": items(expected), "Count": len(expected)}
        )


def test_local_index_of_equal_values(kept_table, client):
    """The order among equals is not promised."""
    table = kept_table("lists", "listed", LISTED)
    found = endpoint.call(client, table, *query("pk = :p AND v = :v", values=with_values(v="x"), IndexName="by_v"))
    assert sorted(one["sk"]["N"] for one in found["Items"]) == ["1", "3"]
    whole = endpoint.call(client, table, *query("pk = :p", values=ALL, IndexName="by_v"))
    assert [one["v"]["S"] for one in whole["Items"]] == ["x", "x", "y"]
    backwards = endpoint.call(client, table, *query("pk = :p", values=ALL, IndexName="by_v", ScanIndexForward=False))
    assert [one["v"]["S"] for one in backwards["Items"]] == ["y", "x", "x"]


@pytest.mark.parametrize("forward", [True, False], ids=["up", "down"])
def test_local_index_in_pages(kept_table, client, forward):
    """The last key has the index's key and the table's."""
    table = kept_table("lists", "listed", LISTED)
    found = pages(client, table, query("pk = :p", values=ALL, IndexName="by_v", Limit=1, ScanIndexForward=forward))
    assert sorted(one["sk"]["N"] for page in found for one in page["Items"]) == ["1", "2", "3"]
    for page in found[:3]:
        assert page["LastEvaluatedKey"] == {name: page["Items"][0][name] for name in ("pk", "sk", "v")}


def test_local_index_follows_writes(make_table, run):
    table = make_table("lists", {"pk": "a", "sk": 1, "v": "x"})
    look = lambda text: query("pk = :p AND v = :v", values=with_values(v=text), IndexName="by_v")  # noqa: E731
    run(table, update({"pk": "a", "sk": 1}, "SET v = :v", values={":v": "y"}))
    run(table, look("x"), {"Count": 0})
    run(table, look("y"), {"Count": 1})
    run(table, update({"pk": "a", "sk": 1}, "REMOVE v"))
    run(table, look("y"), {"Count": 0})
    run(table, put({"pk": "a", "sk": 1, "v": "z"}))
    run(table, look("z"), {"Count": 1})
    run(table, ("DeleteItem", {"TableName": table, "Key": item({"pk": "a", "sk": 1})}))
    run(table, look("z"), {"Count": 0})


@pytest.mark.parametrize("schema", ["lists", "global"])
def test_index_attribute_of_another_type(make_table, run, schema):
    """Developer Guide, "Local secondary indexes": an attribute of the index has to be of its type."""
    table, name = make_table(schema), {"lists": "v", "global": "g"}[schema]
    run(table, put({"pk": "a", "sk": 1, name: 5}), Invalid("Type mismatch for Index Key"))
    run(table, scan(), {"Count": 0})


@pytest.mark.differs(
    local="takes it, and the item is in no index",
    why="API Reference, TransactWriteItems names it an error; PutItem refuses it",
)
@pytest.mark.parametrize("schema", ["lists", "global"])
def test_update_of_index_attribute_to_another_type(make_table, run, schema):
    table, name = make_table(schema, {"pk": "a", "sk": 1}), {"lists": "v", "global": "g"}[schema]
    run(table, update({"pk": "a", "sk": 1}, f"SET {name} = :v", values={":v": 5}), Invalid("[Tt]ype"))
    run(table, scan(), {"Items": items([{"pk": "a", "sk": 1}])})


@pytest.mark.parametrize("schema", ["lists", "global"])
def test_empty_index_attribute(make_table, run, schema):
    table, name = make_table(schema), {"lists": "v", "global": "g"}[schema]
    run(table, put({"pk": "a", "sk": 1, name: ""}), Invalid("empty string"))


WIDE = [{"pk": "a", "sk": 1, "v": "x", "w": 9, "a": 1, "b": 2}, {"pk": "a", "sk": 2, "v": "y", "w": 8, "a": 3, "b": 4}]


@pytest.mark.parametrize(
    "name, options, expected",
    [
        ("by_v", {}, WIDE),
        ("keys_only", {}, [{"pk": "a", "sk": 2, "w": 8}, {"pk": "a", "sk": 1, "w": 9}]),
        ("include", {}, [{"pk": "a", "sk": 2, "w": 8, "a": 3}, {"pk": "a", "sk": 1, "w": 9, "a": 1}]),
        ("keys_only", {"Select": "ALL_ATTRIBUTES"}, WIDE[::-1]),
        (
            "keys_only",
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            [{"pk": "a", "sk": 2, "w": 8}, {"pk": "a", "sk": 1, "w": 9}],
        ),
        ("keys_only", {"ProjectionExpression": "b"}, [{"b": 4}, {"b": 2}]),
        ("include", {"ProjectionExpression": "a"}, [{"a": 3}, {"a": 1}]),
    ],
    ids=[
        "all",
        "keys-only",
        "include",
        "keys-only-fetches",
        "keys-only-projected",
        "keys-only-fetches-one",
        "include-one",
    ],
)
def test_projection_of_local_index(kept_table, run, name, options, expected):
    run(
        kept_table("local", "wide", WIDE),
        query("pk = :p", values=ALL, IndexName=name, **options),
        {"Items": items(expected)},
    )


WORLD = [
    {"pk": "a", "sk": 1, "g": "x", "w": 3, "a": 1, "b": 1},
    {"pk": "b", "sk": 2, "g": "x", "w": 1, "a": 2, "b": 2},
    {"pk": "c", "sk": 3, "g": "x", "w": 2, "a": 3, "b": 3},
    {"pk": "d", "sk": 4, "g": "y", "w": 1},
    {"pk": "e", "sk": 5, "g": "x"},
    {"pk": "f", "sk": 6, "w": 1},
]


@pytest.mark.parametrize(
    "index, condition, options, expected",
    [
        ("by_g", "g = :g", {}, [WORLD[1], WORLD[2], WORLD[0]]),
        ("by_g", "g = :g", {"ScanIndexForward": False}, [WORLD[0], WORLD[2], WORLD[1]]),
        ("by_g", "g = :g AND w >= :w", {"w": 2}, [WORLD[2], WORLD[0]]),
        ("by_g", "g = :g", {"ProjectionExpression": "pk"}, [{"pk": "b"}, {"pk": "c"}, {"pk": "a"}]),
        (
            "keys_only",
            "g = :g",
            {},
            [{"pk": row["pk"], "sk": row["sk"], "g": "x"} for row in (WORLD[0], WORLD[1], WORLD[2], WORLD[4])],
        ),
        (
            "include",
            "g = :g",
            {},
            [{name: row[name] for name in ("pk", "sk", "g", "w", "a")} for row in (WORLD[1], WORLD[2], WORLD[0])],
        ),
        ("keys_only", "g = :g", {"Select": "ALL_ATTRIBUTES"}, Invalid("ALL_ATTRIBUTES")),
        (
            "by_g",
            "g = :g",
            {"ConsistentRead": True},
            Invalid(
                "Consistent reads are not supported on global secondary indexes|Consistent read cannot be true when querying a GSI"
            ),
        ),
        ("by_g", "pk = :g", {}, Invalid("Query condition missed key schema element")),
        ("by_g", "g = :g AND sk = :w", {"w": 1}, Invalid("Query condition missed key schema element|key condition")),
    ],
    ids=[
        "up",
        "down",
        "range",
        "projection",
        "keys-only",
        "include",
        "keys-only-all",
        "consistent",
        "table-key",
        "other-key",
    ],
)
def test_global_index(kept_table, run, index, condition, options, expected):
    options = dict(options)
    values = {":g": "x", **({":w": options.pop("w")} if "w" in options else {})}
    run(
        kept_table("global", "world", WORLD),
        query(condition, values=values, IndexName=index, **options),
        expected if isinstance(expected, Fails) else {"Items": items(expected), "Count": len(expected)},
    )


@pytest.mark.parametrize("forward", [True, False], ids=["up", "down"])
def test_global_index_in_pages(kept_table, client, forward):
    table = kept_table("global", "world", WORLD)
    found = pages(
        client, table, query("g = :g", values={":g": "x"}, IndexName="by_g", Limit=1, ScanIndexForward=forward)
    )
    assert [one["w"]["N"] for page in found for one in page["Items"]] == (
        ["1", "2", "3"] if forward else ["3", "2", "1"]
    )
    for page in found[:3]:
        assert page["LastEvaluatedKey"] == {name: page["Items"][0][name] for name in ("pk", "sk", "g", "w")}
    alone = pages(
        client, table, query("g = :g", values={":g": "x"}, IndexName="only_g", Limit=1, ScanIndexForward=forward)
    )
    assert sorted(one["pk"]["S"] for page in alone for one in page["Items"]) == ["a", "b", "c", "e"]
    assert set(alone[0]["LastEvaluatedKey"]) == {"pk", "sk", "g"}


def test_scan_of_global_index(kept_table, client):
    table = kept_table("global", "world", WORLD)
    found = pages(client, table, scan(IndexName="by_g", Limit=2))
    assert sorted(int(one["sk"]["N"]) for page in found for one in page["Items"]) == [1, 2, 3, 4]
    found = pages(client, table, scan(IndexName="only_g"))
    assert sorted(int(one["sk"]["N"]) for page in found for one in page["Items"]) == [1, 2, 3, 4, 5]
