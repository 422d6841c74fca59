"""PutItem, GetItem, DeleteItem: values of all types, numbers, keys, projections, conditions and what they return.

Sources: Amazon DynamoDB API Reference (PutItem, GetItem, DeleteItem, AttributeValue), Developer Guide ("Supported data
types and naming rules", "Service, account, and table quotas", "Projection expressions").
"""

import functools

import pytest

import endpoint
from wire import CONDITION_FAILED, Fails, Invalid, Number, Raw, TABLE, cases, delete, get, item, put, update

KINDS = {"S": "x", "N": 1, "B": b"\x00\xff"}
OTHER = {"S": 1, "N": "1", "B": "x"}
# Amazon's text or DynamoDB Local's.
MISMATCH = Invalid(
    "Type mismatch for key|The provided key element does not match the schema|Invalid attribute value type"
)
MISSING = Invalid(
    "Missing the key|One of the required keys was not given a value|The provided key element does not match the schema"
)
TOO_LONG = Invalid(
    "has exceeded the (maximum )?size limit of ?(2048|1024) bytes|Hash primary key values must be under 2048 bytes"
)

VALUES = {
    "string": "hello",
    "empty-string": "",
    "unicode": "žluť😀\u0000",
    "number": 42,
    "binary": bytes(range(256)),
    "empty-binary": b"",
    "true": True,
    "false": False,
    "null": None,
    "list": [1, "x", b"y", None, [True, {}]],
    "empty-list": [],
    "map": {"a": {"b": {"c": [1]}}, "odd name.": 2},
    "empty-map": {},
    "string-set": {"a", "", "b"},
    "number-set": {1, -2, Number("0.5")},
    "binary-set": {b"a", b"", b"\xff"},
    "long": "x" * 100000,
    "nested-32": functools.reduce(lambda inner, _: [inner], range(30), "x"),
}


@pytest.mark.parametrize("name", VALUES)
def test_value(make_table, run, name):
    """What was put comes back."""
    table = make_table("S")
    run(table, put({"pk": "a", "v": VALUES[name]}))
    run(table, get({"pk": "a"}), {"Item": item({"pk": "a", "v": VALUES[name]})})


NUMBERS = {
    "0": "0",
    "-0": "0",
    "0.0": "0",
    "1": "1",
    "+1": "1",
    "0001.50": "1.5",
    "1e10": "10000000000",
    "1E2": "100",
    "1e-3": "0.001",
    "-1.5e3": "-1500",
    ".5": "0.5",
    "5.": "5",
    "100": "100",
    "1.000": "1",
    "0e500": "0",
    "12345678901234567890123456789012345678": "12345678901234567890123456789012345678",
    "0.12345678901234567890123456789012345678": "0.12345678901234567890123456789012345678",
    "-99999999999999999999999999999999999999": "-99999999999999999999999999999999999999",
    "10000000000000000000000000000000000000000": "10000000000000000000000000000000000000000",
    "000000000000000000000000000000000000000000001": "1",
    "1.00000000000000000000000000000000000000000000": "1",
    "9.9999999999999999999999999999999999999E125": "99999999999999999999999999999999999999" + "0" * 88,
    "1E-130": "0." + "0" * 129 + "1",
    "-1E-130": "-0." + "0" * 129 + "1",
    "1E126": Invalid("Number overflow"),
    "-1E126": Invalid("Number overflow"),
    "1E-131": Invalid("Number underflow"),
    "123456789012345678901234567890123456789": Invalid("precision up to 38|more than 38 significant digits"),
    "1.23456789012345678901234567890123456789": Invalid("precision up to 38|more than 38 significant digits"),
    "": Invalid("cannot be converted|numeric value"),
    "x": Invalid("cannot be converted|numeric value"),
    "1x": Invalid("cannot be converted|numeric value"),
    "1 ": Invalid("cannot be converted|numeric value"),
    " 1": Invalid("cannot be converted|numeric value"),
    "0x10": Invalid("cannot be converted|numeric value"),
    "NaN": Invalid("cannot be converted|numeric value"),
    "Infinity": Invalid("cannot be converted|numeric value"),
    "1e": Invalid("cannot be converted|numeric value"),
    "--1": Invalid("cannot be converted|numeric value"),
    "1,5": Invalid("cannot be converted|numeric value"),
    "1_0": Invalid("cannot be converted|numeric value"),
}


@pytest.mark.parametrize(
    "sent, stored", [pytest.param(sent, stored, id=f"number-{sent}") for sent, stored in NUMBERS.items()]
)
def test_number(kept_table, run, request, sent, stored):
    """Developer Guide, "Number": up to 38 digits; magnitudes from 1E-130 up to 9.99...E+125. Zeros around are trimmed."""
    table, key = kept_table("S", "numbers", []), {"pk": request.node.callspec.id}
    if isinstance(stored, Fails):
        run(table, put({**key, "v": Number(sent)}), stored)
        run(table, get(key), {"Item": None})
    else:
        run(table, put({**key, "v": Number(sent), "s": {Number(sent)}}))
        run(table, get(key), {"Item": item({**key, "v": Number(stored), "s": {Number(stored)}})})


@pytest.mark.differs(local="numbers in lists and maps come as they were sent", why="the document does not except them")
def test_numbers_inside(make_table, run):
    table = make_table("S", {"pk": "a", "l": [Number("1e2"), {"x": Number("0.50")}], "m": {"x": Number("-0")}})
    run(table, get({"pk": "a"}), {"Item": item({"pk": "a", "l": [100, {"x": Number("0.5")}], "m": {"x": 0}})})


BAD_VALUES = {
    # API Reference, AttributeValue; Developer Guide, "Sets"
    "empty-string-set": (Raw(SS=[]), Invalid("An string set  may not be empty")),
    "empty-number-set": (Raw(NS=[]), Invalid("An number set  may not be empty")),
    "empty-binary-set": (Raw(BS=[]), Invalid("Binary sets should not be empty|An binary set  may not be empty")),
    "duplicates": (Raw(SS=["a", "a"]), Invalid(r"Input collection \[a, a\] contains duplicates")),
    "duplicate-numbers": (Raw(NS=["1", "1.0"]), Invalid("Input collection (contains|.* contains) duplicates")),
    "duplicate-binaries": (Raw(BS=[b"a", b"a"]), Invalid("contains duplicates")),
    "no-type": (
        Raw(),
        Invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    ),
    "two-types": (Raw(S="a", N="1"), Invalid("more than one|has more than one datatypes set")),
    "null-false": (Raw(NULL=False), Invalid("Null attribute value types must have the value of true")),
    "nested-33": (
        Raw(L=[functools.reduce(lambda inner, _: {"L": [inner]}, range(33), {"S": "x"})]),
        Invalid("Nesting Levels have exceeded supported limits"),
    ),
    "in-a-list": (Raw(L=[{"SS": []}]), Invalid("An string set  may not be empty")),
    "in-a-map": (Raw(M={"x": {"N": "y"}}), Invalid("cannot be converted")),
}


@pytest.mark.parametrize("value, expected", cases(BAD_VALUES))
def test_bad_value(kept_table, run, value, expected):
    run(kept_table("S", "bad", []), put({"pk": "a", "v": value}), expected)


def key_of(types, **more):
    key = {"pk": KINDS[types[0]]}
    if len(types) == 2:
        key["sk"] = KINDS[types[1]]
    return {**key, **more}


TYPES = ["S", "N", "B", "SS", "SN", "SB", "NN", "BB"]


@pytest.mark.parametrize("types", TYPES)
def test_key_types(make_table, run, types):
    table = make_table(types)
    run(table, put(key_of(types, v=1)), {"Attributes": None})
    run(table, get(key_of(types)), {"Item": item(key_of(types, v=1))})
    run(table, put(key_of(types, w=2), ReturnValues="ALL_OLD"), {"Attributes": item(key_of(types, v=1))})
    run(table, get(key_of(types), ConsistentRead=True), {"Item": item(key_of(types, w=2))})
    run(table, delete(key_of(types), ReturnValues="ALL_OLD"), {"Attributes": item(key_of(types, w=2))})
    run(table, get(key_of(types)), {"Item": None})
    run(table, delete(key_of(types), ReturnValues="ALL_OLD"), {"Attributes": None})


@pytest.mark.parametrize("types", TYPES)
def test_key_of_another_type(make_table, run, types):
    table = make_table(types)
    for name, kind in zip(("pk", "sk"), types):
        bad = key_of(types, **{name: OTHER[kind]})
        run(table, put(bad), MISMATCH)
        run(table, get(bad), MISMATCH)
        run(table, delete(bad), MISMATCH)
        run(table, update(bad, "REMOVE x"), MISMATCH)


KEYS = {
    "put-without-hash": (put({"sk": 1}), MISSING),
    "put-without-range": (put({"pk": "a"}), MISSING),
    "put-nothing": (put({}), MISSING),
    "put-empty-hash": (put({"pk": "", "sk": 1}), Invalid("cannot contain an empty string value. Key: pk")),
    "put-key-of-list": (put({"pk": [], "sk": 1}), MISMATCH),
    "put-null-key": (put({"pk": None, "sk": 1}), MISMATCH),
    "put-key-of-bad-number": (put({"pk": "a", "sk": Number("x")}), Invalid("cannot be converted")),
    "get-part": (
        get({"pk": "a"}),
        Invalid("The (provided key element does not match the schema|number of conditions on the keys is invalid)"),
    ),
    "get-more": (
        get({"pk": "a", "sk": 1, "x": 1}),
        Invalid("The (provided key element does not match the schema|number of conditions on the keys is invalid)"),
    ),
    "get-other": (get({"pk": "a", "x": 1}), MISSING),
    "get-nothing": (
        get({}),
        Invalid("The (provided key element does not match the schema|number of conditions on the keys is invalid)"),
    ),
    "get-empty-hash": (get({"pk": "", "sk": 1}), Invalid("cannot contain an empty string value. Key: pk")),
    "delete-part": (
        delete({"pk": "a"}),
        Invalid("The (provided key element does not match the schema|number of conditions on the keys is invalid)"),
    ),
    "update-part": (
        update({"pk": "a"}, "REMOVE x"),
        Invalid("The (provided key element does not match the schema|number of conditions on the keys is invalid)"),
    ),
    "get-missing": (get({"pk": "a", "sk": 9}), {"Item": None}),
    "hash-of-2048": (put({"pk": "x" * 2048, "sk": 1}), {}),
    "hash-of-2049": (put({"pk": "x" * 2049, "sk": 1}), TOO_LONG),
    "no-key": (
        ("GetItem", {"TableName": TABLE}),
        Invalid(
            "'key' failed to satisfy constraint: Member must not be null|Cannot have null key|parameter 'Key' is required"
        ),
    ),
    "no-item": (
        ("PutItem", {"TableName": TABLE}),
        Invalid(
            "'item' failed to satisfy constraint: Member must not be null|cannot be null|parameter 'Item' is required"
        ),
    ),
    "no-table-name": (
        ("GetItem", {"Key": item({"pk": "a"})}),
        Invalid("'tableName' failed to satisfy constraint|TableName|Invalid table/index name"),
    ),
    "no-such-table": (
        ("GetItem", {"TableName": "no-such-table", "Key": item({"pk": "a"})}),
        Fails("ResourceNotFoundException"),
    ),
    "put-no-such-table": (
        ("PutItem", {"TableName": "no-such-table", "Item": item({"pk": "a"})}),
        Fails("ResourceNotFoundException"),
    ),
    "short-table-name": (("GetItem", {"TableName": "ab", "Key": item({"pk": "a"})}), Invalid("")),
    "bad-table-name": (("GetItem", {"TableName": "a b/c", "Key": item({"pk": "a"})}), Invalid("")),
}


@pytest.mark.parametrize("request_, expected", cases(KEYS))
def test_key(kept_table, run, request_, expected):
    run(kept_table("SN", "keys", []), request_, expected)


def test_range_key_of_1024_and_1025(make_table, run):
    table = make_table("SS")
    run(table, put({"pk": "a", "sk": "x" * 1024}))
    run(table, put({"pk": "a", "sk": "x" * 1025}), TOO_LONG)


def test_number_keys_are_equal_by_value(make_table, run):
    table = make_table("NN")
    run(table, put({"pk": Number("1.0"), "sk": Number("10e1"), "v": 1}))
    run(table, put({"pk": Number("1"), "sk": Number("100.00"), "v": 2}))
    run(table, get({"pk": Number("0.1e1"), "sk": Number("1E2")}), {"Item": item({"pk": 1, "sk": 100, "v": 2})})


def test_item_of_400_kb(make_table, run):
    """Quotas, "Item size": 400 KB, with the names of attributes."""
    table = make_table("S")
    most = 400 * 1024 - len("pk") - len("a") - len("v")
    run(table, put({"pk": "a", "v": "x" * most}))
    run(table, put({"pk": "a", "v": "x" * (most + 1)}), Invalid("Item size has exceeded the maximum allowed size"))
    run(
        table,
        update({"pk": "a"}, "SET w = :v", values={":v": "x"}),
        Invalid("Item size to update has exceeded the maximum allowed size"),
    )


OLD = {"pk": "a", "v": 1}
FAILED = "ReturnValuesOnConditionCheckFailure"


@pytest.mark.parametrize(
    "make",
    [
        lambda **rest: put({"pk": "a", "v": 2}, ConditionExpression="v = :no", values={":no": 9}, **rest),
        lambda **rest: delete({"pk": "a"}, ConditionExpression="v = :no", values={":no": 9}, **rest),
        lambda **rest: update(
            {"pk": "a"}, "SET v = :v", ConditionExpression="v = :no", values={":no": 9, ":v": 2}, **rest
        ),
    ],
    ids=["put", "delete", "update"],
)
def test_item_of_a_failed_condition(make_table, run, make):
    """API Reference, ReturnValuesOnConditionCheckFailure."""
    table = make_table("S", OLD)
    assert run(table, make(), CONDITION_FAILED).response.get("Item") is None
    assert run(table, make(**{FAILED: "NONE"}), CONDITION_FAILED).response.get("Item") is None
    assert run(table, make(**{FAILED: "ALL_OLD"}), CONDITION_FAILED).response["Item"] == item(OLD)
    run(table, make(**{FAILED: "ALL"}), Invalid("returnValuesOnConditionCheckFailure"))
    run(table, get({"pk": "a"}), {"Item": item(OLD)})


def test_no_item_of_a_failed_condition(make_table, run):
    found = run(
        make_table("S"),
        put({"pk": "a"}, ConditionExpression="attribute_exists(pk)", **{FAILED: "ALL_OLD"}),
        CONDITION_FAILED,
    )
    assert found.response.get("Item") is None


def test_put_if_new(make_table, run):
    table = make_table("SN")
    once = put({"pk": "a", "sk": 1, "v": 1}, ConditionExpression="attribute_not_exists(pk)")
    run(table, once)
    run(table, once, CONDITION_FAILED)
    run(
        table, put({"pk": "a", "sk": 2}, ConditionExpression="attribute_not_exists(pk)")
    )  # it is of the item, not the partition


def test_delete_of_missing_with_condition(make_table, run):
    table = make_table("S")
    run(table, delete({"pk": "a"}, ConditionExpression="v = :v", values={":v": 1}), CONDITION_FAILED)
    run(table, delete({"pk": "a"}, ConditionExpression="attribute_not_exists(v)"), {"Attributes": None})


@pytest.mark.parametrize(
    "call",
    [
        put(OLD, ReturnValues="ALL_NEW"),
        put(OLD, ReturnValues="UPDATED_OLD"),
        delete({"pk": "a"}, ReturnValues="ALL_NEW"),
        delete({"pk": "a"}, ReturnValues="UPDATED_NEW"),
    ],
    ids=["put-all-new", "put-updated-old", "delete-all-new", "delete-updated-new"],
)
def test_return_values_of_updates_alone(make_table, run, call):
    run(make_table("S"), call, Invalid("Return values set to invalid value|ReturnValues can only be ALL_OLD or NONE"))


STORED = {
    "pk": "a",
    "s": "x",
    "n": 1,
    "l": [0, {"x": 1, "y": 2}, 2, 3],
    "m": {"x": 1, "y": {"z": 2, "w": 3}},
    "odd.name": 4,
    "values": 5,
}
PROJECTIONS = {
    "one": ("s", None, {"s": "x"}),
    "several": ("s, n,pk", None, {"s": "x", "n": 1, "pk": "a"}),
    "missing": ("nope, s", None, {"s": "x"}),
    "nothing-left": ("nope", None, {}),
    "nested": ("m.y.z", None, {"m": {"y": {"z": 2}}}),
    "nested-two": ("m.y.z, m.x", None, {"m": {"y": {"z": 2}, "x": 1}}),
    "nested-missing": ("m.nope.z, s.x", None, {}),
    "element": ("l[2]", None, {"l": [2]}),
    "elements-in-their-order": ("l[3], l[0]", None, {"l": [0, 3]}),
    "in-an-element": ("l[1].y, l[0]", None, {"l": [0, {"y": 2}]}),
    "beyond": ("l[9]", None, {}),
    "names": ("#a.#b, #v", {"#a": "m", "#b": "x", "#v": "values"}, {"m": {"x": 1}, "values": 5}),
    "name-with-a-dot": ("#a", {"#a": "odd.name"}, {"odd.name": 4}),
    "reserved": (
        "values",
        None,
        Invalid("Invalid ProjectionExpression: Attribute name is a reserved keyword; reserved keyword: values"),
    ),
    "undefined": ("#a", None, Invalid("attribute name used in the document path is not defined; attribute name: #a")),
    "unused": ("s", {"#a": "n"}, Invalid("ExpressionAttributeNames unused in expressions: keys: {#a}")),
    "twice": ("s, s", None, Invalid("Two document paths overlap")),
    "overlap": ("m, m.x", None, Invalid("Two document paths overlap")),
    "conflict": ("m.x, m[0]", None, Invalid("document paths conflict")),
    "empty": ("", None, Invalid("The expression can not be empty")),
    "syntax": ("s n", None, Invalid("Syntax error")),
    "comma": ("s,", None, Invalid("Syntax error")),
    "function": ("size(s)", None, Invalid("Syntax error|reserved keyword")),
    "value": (":v", None, Invalid("Syntax error")),
}


@pytest.mark.parametrize("expression, names, expected", cases(PROJECTIONS))
def test_projection(kept_table, run, expression, names, expected):
    table = kept_table("S", "projections", [STORED])
    run(
        table,
        get({"pk": "a"}, ProjectionExpression=expression, names=names),
        expected if isinstance(expected, Fails) else {"Item": item(expected)},
    )


def test_names_without_expression(make_table, run):
    table = make_table("S")
    run(
        table,
        get({"pk": "a"}, names={"#a": "b"}),
        Invalid("ExpressionAttributeNames can only be specified when using expressions"),
    )
    run(
        table,
        put({"pk": "a"}, values={":a": 1}),
        Invalid("ExpressionAttributeValues can only be specified when using expressions"),
    )


def test_put_replaces_the_whole_item(make_table, run):
    table = make_table("S", {"pk": "a", "v": 1, "m": {"x": 1}})
    run(table, put({"pk": "a", "m": {"y": 2}}))
    run(table, get({"pk": "a"}), {"Item": item({"pk": "a", "m": {"y": 2}})})


@pytest.mark.parametrize(
    "call",
    [
        put({"pk": "a"}),
        get({"pk": "a"}),
        update({"pk": "a"}, "REMOVE x"),
        pytest.param(
            delete({"pk": "a"}),
            marks=pytest.mark.differs(local="answers with it after NONE", why="API Reference, ReturnConsumedCapacity"),
        ),
    ],
    ids=["put", "get", "update", "delete"],
)
def test_consumed_capacity(make_table, run, client, call):
    """API Reference, ReturnConsumedCapacity."""
    table = make_table("S")
    for what in ("TOTAL", "INDEXES"):
        capacity = endpoint.call(client, table, call[0], {**call[1], "ReturnConsumedCapacity": what})[
            "ConsumedCapacity"
        ]
        assert capacity["TableName"] == table and capacity["CapacityUnits"] > 0
        assert ("Table" in capacity) == (what == "INDEXES")
    assert "ConsumedCapacity" not in endpoint.call(
        client, table, call[0], {**call[1], "ReturnConsumedCapacity": "NONE"}
    )
    run(table, (call[0], {**call[1], "ReturnConsumedCapacity": "SOME"}), Invalid())
