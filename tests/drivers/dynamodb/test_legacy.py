"""Parameters from before expressions: Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter, AttributesToGet.

Source of all: Amazon DynamoDB Developer Guide, "Legacy DynamoDB conditional parameters".
"""

import pytest

from wire import CONDITION_FAILED, Fails, Invalid, cases, delete, get, item, items, put, query, scan, update, value

ITEM = {
    "pk": "a",
    "sk": 1,
    "s": "hello",
    "n": 5,
    "b": b"\x01",
    "t": True,
    "z": None,
    "l": [1, "x"],
    "ss": {"a", "b"},
    "ns": {1, 2},
}
YES, NO = True, False


def compare(operator, *values):
    return {
        "ComparisonOperator": operator,
        **({"AttributeValueList": [value(one) for one in values]} if values else {}),
    }


COMPARISONS = {
    # id: attribute, condition, holds or error
    "EQ": ("n", compare("EQ", 5), YES),
    "EQ-not": ("n", compare("EQ", 6), NO),
    "EQ-other-type": ("n", compare("EQ", "5"), NO),
    "EQ-set": ("ss", compare("EQ", {"b", "a"}), YES),
    "EQ-list": ("l", compare("EQ", [1, "x"]), YES),
    "EQ-missing": ("nope", compare("EQ", 5), NO),
    "NE": ("n", compare("NE", 6), YES),
    "NE-same": ("n", compare("NE", 5), NO),
    "NE-other-type": ("n", compare("NE", "5"), YES),
    "LT": ("n", compare("LT", 6), YES),
    "LT-not": ("n", compare("LT", 5), NO),
    "LE": ("n", compare("LE", 5), YES),
    "GT": ("n", compare("GT", 4), YES),
    "GE": ("n", compare("GE", 5), YES),
    "GE-other-type": ("n", compare("GE", "5"), NO),
    "LT-text": ("s", compare("LT", "i"), YES),
    "BETWEEN": ("n", compare("BETWEEN", 5, 6), YES),
    "BETWEEN-not": ("n", compare("BETWEEN", 6, 7), NO),
    "IN": ("n", compare("IN", 1, 5), YES),
    "IN-not": ("n", compare("IN", 1, 2), NO),
    "NULL": ("nope", compare("NULL"), YES),
    "NULL-not": ("n", compare("NULL"), NO),
    "NULL-of-null": ("z", compare("NULL"), NO),
    "NOT_NULL": ("n", compare("NOT_NULL"), YES),
    "NOT_NULL-not": ("nope", compare("NOT_NULL"), NO),
    "CONTAINS": ("s", compare("CONTAINS", "ell"), YES),
    "CONTAINS-set": ("ss", compare("CONTAINS", "a"), YES),
    "CONTAINS-list": ("l", compare("CONTAINS", "x"), YES),
    "CONTAINS-not": ("ss", compare("CONTAINS", "c"), NO),
    "NOT_CONTAINS": ("ss", compare("NOT_CONTAINS", "c"), YES),
    "NOT_CONTAINS-not": ("s", compare("NOT_CONTAINS", "ell"), NO),
    "BEGINS_WITH": ("s", compare("BEGINS_WITH", "he"), YES),
    "BEGINS_WITH-not": ("s", compare("BEGINS_WITH", "lo"), NO),
    "BEGINS_WITH-binary": ("b", compare("BEGINS_WITH", b"\x01"), YES),
    "unknown": ("n", compare("LIKE", 5), Invalid("")),
    "EQ-of-two": ("n", compare("EQ", 5, 6), Invalid("Invalid number of argument")),
    "EQ-of-none": ("n", compare("EQ"), Invalid("")),
    "BETWEEN-one": ("n", compare("BETWEEN", 5), Invalid("Invalid number of argument")),
    "NULL-of-one": ("n", compare("NULL", 5), Invalid("Invalid number of argument")),
    "LT-of-list": ("n", compare("LT", [1]), Invalid("not valid for|LT")),
    "no-operator": ("n", {"AttributeValueList": [value(5)]}, Invalid("")),
}
PARAMETERS = cases(COMPARISONS)


@pytest.mark.parametrize("name, condition, holds", PARAMETERS)
def test_expected(kept_table, run, name, condition, holds):
    run(
        kept_table("SN", "item", [ITEM]),
        put(ITEM, Expected={name: condition}),
        {True: {}, False: CONDITION_FAILED}.get(holds, holds) if isinstance(holds, bool) else holds,
    )


@pytest.mark.parametrize("name, condition, holds", PARAMETERS)
def test_filters(kept_table, run, name, condition, holds):
    table = kept_table("SN", "item", [ITEM])
    expected = {"Count": int(holds), "ScannedCount": 1} if isinstance(holds, bool) else holds
    run(table, scan(ScanFilter={name: condition}), expected)
    run(table, query(KeyConditions={"pk": compare("EQ", "a")}, QueryFilter={name: condition}), expected)


EXPECTED = {
    "value": ({"n": {"Value": value(5)}}, YES),
    "value-not": ({"n": {"Value": value(6)}}, NO),
    "value-missing": ({"nope": {"Value": value(6)}}, NO),
    "exists-and-value": ({"n": {"Exists": True, "Value": value(5)}}, YES),
    "not-exists": ({"nope": {"Exists": False}}, YES),
    "not-exists-but-does": ({"n": {"Exists": False}}, NO),
    "exists-alone": ({"n": {"Exists": True}}, Invalid("")),
    "not-exists-with-value": ({"n": {"Exists": False, "Value": value(5)}}, Invalid("")),
    "two": ({"n": {"Value": value(5)}, "s": {"Value": value("hello")}}, YES),
    "two-one-not": ({"n": {"Value": value(5)}, "s": {"Value": value("x")}}, NO),
    "value-and-list": ({"n": {"Value": value(5), **compare("EQ", 5)}}, Invalid("")),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_expected_values(kept_table, run, name):
    condition, holds = EXPECTED[name]
    run(
        kept_table("SN", "item", [ITEM]),
        put(ITEM, Expected=condition),
        ({} if holds else CONDITION_FAILED) if isinstance(holds, bool) else holds,
    )


FAULT = {"local": "InternalFailure", "why": "it is the caller's fault"}


@pytest.mark.parametrize(
    "operator, holds",
    [("AND", NO), ("OR", YES), pytest.param("XOR", Invalid("conditionalOperator"), marks=pytest.mark.differs(**FAULT))],
)
def test_conditional_operator(kept_table, run, operator, holds):
    two = {"n": compare("EQ", 5), "s": compare("EQ", "x")}
    table = kept_table("SN", "item", [ITEM])
    run(
        table,
        put(ITEM, Expected=two, ConditionalOperator=operator),
        {YES: {}, NO: CONDITION_FAILED}[holds] if isinstance(holds, bool) else holds,
    )
    run(
        table,
        scan(ScanFilter=two, ConditionalOperator=operator),
        {"Count": int(holds)} if isinstance(holds, bool) else holds,
    )


def test_operator_without_conditions(kept_table, run):
    run(
        kept_table("SN", "item", [ITEM]),
        put(ITEM, ConditionalOperator="AND"),
        Invalid("ConditionalOperator cannot be used without"),
    )


@pytest.mark.parametrize(
    "make",
    [lambda **rest: delete({"pk": "a", "sk": 9}, **rest), lambda **rest: update({"pk": "a", "sk": 9}, **rest)],
    ids=["delete", "update"],
)
def test_expected_of_other_writes(kept_table, run, make):
    run(kept_table("SN", "item", [ITEM]), make(Expected={"n": {"Value": value(5)}}), CONDITION_FAILED)


def change(action, what=None):
    return {"Action": action, **({} if what is None else {"Value": value(what)})}


UPDATES = {
    # id: what is there (None: no item), changes, what is there then or error
    "put": ({"a": 1}, {"a": change("PUT", 2), "b": change("PUT", "x")}, {"a": 2, "b": "x"}),
    "put-by-default": ({"a": 1}, {"a": {"Value": value(2)}}, {"a": 2}),
    "put-makes-the-item": (None, {"a": change("PUT", 2)}, {"a": 2}),
    "add": ({"a": 1}, {"a": change("ADD", 2)}, {"a": 3}),
    "add-to-missing": ({}, {"a": change("ADD", 2)}, {"a": 2}),
    "add-makes-the-item": (None, {"a": change("ADD", 2)}, {"a": 2}),
    "add-to-set": ({"a": {"x"}}, {"a": change("ADD", {"y"})}, {"a": {"x", "y"}}),
    "add-to-list": ({"a": [1]}, {"a": change("ADD", [2])}, {"a": [1, 2]}),
    "add-string": ({"a": "x"}, {"a": change("ADD", "y")}, Invalid("")),
    "add-to-other": ({"a": "x"}, {"a": change("ADD", 1)}, Invalid("")),
    "delete": ({"a": 1, "b": 2}, {"a": change("DELETE")}, {"b": 2}),
    "delete-missing": ({"b": 2}, {"a": change("DELETE")}, {"b": 2}),
    "delete-from-set": ({"a": {"x", "y"}}, {"a": change("DELETE", {"x"})}, {"a": {"y"}}),
    "delete-the-last": ({"a": {"x"}}, {"a": change("DELETE", {"x"})}, {}),
    "delete-number": ({"a": 1}, {"a": change("DELETE", 1)}, Invalid("")),
    "put-without-value": ({}, {"a": change("PUT")}, Invalid("")),
    "unknown": ({}, {"a": change("MERGE", 1)}, Invalid("")),
    "key": ({}, {"pk": change("PUT", "b")}, Invalid("part of the key")),
    "name-is-no-path": ({}, {"a.b": change("PUT", 1)}, {"a.b": 1}),
}


@pytest.mark.parametrize("there, changes, expected", cases(UPDATES))
def test_attribute_updates(make_table, run, there, changes, expected):
    table = make_table("S", *([] if there is None else [{"pk": "k", **there}]))
    failed = isinstance(expected, Fails)
    run(table, update({"pk": "k"}, AttributeUpdates=changes), expected if failed else {})
    run(table, get({"pk": "k"}), {"Item": item({"pk": "k", **(there if failed else expected)})})


ROWS = [{"pk": "a", "sk": number, "v": f"v{number % 3}"} for number in range(8)]
HASH = {"pk": compare("EQ", "a")}
KEY_CONDITIONS = {
    "hash": (HASH, range(8)),
    "EQ": ({**HASH, "sk": compare("EQ", 3)}, [3]),
    "LT": ({**HASH, "sk": compare("LT", 2)}, [0, 1]),
    "LE": ({**HASH, "sk": compare("LE", 1)}, [0, 1]),
    "GT": ({**HASH, "sk": compare("GT", 5)}, [6, 7]),
    "GE": ({**HASH, "sk": compare("GE", 6)}, [6, 7]),
    "BETWEEN": ({**HASH, "sk": compare("BETWEEN", 2, 4)}, [2, 3, 4]),
    "NE": ({**HASH, "sk": compare("NE", 2)}, Invalid("")),
    "IN": ({**HASH, "sk": compare("IN", 2)}, Invalid("")),
    "hash-GT": ({"pk": compare("GT", "a")}, Invalid("Query key condition not supported")),
    "no-hash": ({"sk": compare("EQ", 3)}, Invalid("Query condition missed key schema element")),
    "no-key": ({**HASH, "v": compare("EQ", "v1")}, Invalid("")),
    "other-type": ({**HASH, "sk": compare("EQ", "3")}, Invalid("type")),
    "empty": ({}, Invalid("")),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.differs(**FAULT)] if name == "NE" else []) for name in KEY_CONDITIONS],
)
def test_key_conditions(kept_table, run, name):
    conditions, expected = KEY_CONDITIONS[name]
    if not isinstance(expected, Fails):
        expected = {"Items": items(ROWS[number] for number in expected)}
    run(kept_table("lists", "rows", ROWS), query(KeyConditions=conditions), expected)


def test_query_filter_and_pages(kept_table, run):
    table = kept_table("lists", "rows", ROWS)
    run(
        table,
        query(KeyConditions=HASH, QueryFilter={"v": compare("EQ", "v1")}, Limit=4, ScanIndexForward=False),
        {"Items": items([ROWS[7], ROWS[4]]), "ScannedCount": 4},
    )
    run(table, query(KeyConditions={**HASH, "v": compare("EQ", "v2")}, IndexName="by_v"), {"Count": 2})
    run(
        table,
        query(KeyConditions=HASH, QueryFilter={"sk": compare("EQ", 1)}),
        Invalid("QueryFilter can only contain non-primary key attributes|non-primary key"),
    )


def test_attributes_to_get(kept_table, run):
    table = kept_table("SN", "item", [ITEM])
    run(table, get({"pk": "a", "sk": 1}, AttributesToGet=["s", "nope"]), {"Item": item({"s": "hello"})})
    run(table, scan(AttributesToGet=["n"]), {"Items": items([{"n": 5}])})
    run(table, query(KeyConditions=HASH, AttributesToGet=["n"]), {"Items": items([{"n": 5}])})
    run(
        table,
        get({"pk": "a", "sk": 1}, AttributesToGet=["s", "s"]),
        Invalid("[Dd]uplicate|two attributes with the same name"),
    )
    run(table, get({"pk": "a", "sk": 1}, AttributesToGet=[]), Invalid(""))


@pytest.mark.parametrize(
    "call",
    [
        get({"pk": "a", "sk": 1}, AttributesToGet=["s"], ProjectionExpression="s"),
        put(ITEM, Expected={"n": {"Value": value(5)}}, ConditionExpression="attribute_exists(pk)"),
        update({"pk": "a", "sk": 1}, "REMOVE x", AttributeUpdates={"x": change("DELETE")}),
        query("pk = :p", values={":p": "a"}, QueryFilter={"n": compare("EQ", 5)}),
        query("pk = :p", values={":p": "a"}, KeyConditions=HASH),
        scan(FilterExpression="attribute_exists(s)", ScanFilter={"n": compare("EQ", 5)}),
    ],
    ids=["get", "put", "update", "query-filter", "query-both", "scan"],
)
def test_both_kinds(kept_table, run, call):
    run(
        kept_table("SN", "item", [ITEM]),
        call,
        Invalid("Can not use both expression and non-expression parameters in the same request"),
    )
