"""Update expressions: what an item is afterwards, or how they fail.

Source of all: Amazon DynamoDB Developer Guide, "Update expressions" (Expressions.UpdateExpressions), and API
Reference, UpdateItem.
"""

import decimal

import pytest

import endpoint
from wire import Fails, Invalid, Number, cases, get, item, put, update

KEY = {"pk": "a"}
GONE = object()
NO_PATH = Invalid("document path provided in the update expression is invalid for update")
NOT_THERE = Invalid("provided expression refers to an attribute that does not exist in the item")
WRONG_TYPE = Invalid("[Ii]ncorrect operand type|incorrect data type")
OVERLAP = Invalid("Two document paths overlap")
SYNTAX = Invalid("Invalid UpdateExpression: Syntax error")
# id: what is there (None: no item), expression, values, names, and the attributes afterwards or the error.
ROWS = {
    # SET
    "set": ({"a": 1}, "SET b = :v", {":v": "x"}, None, {"a": 1, "b": "x"}),
    "set-replaces-another-type": ({"a": 1}, "SET a = :v", {":v": [None]}, None, {"a": [None]}),
    "set-makes-the-item": (None, "SET a = :v", {":v": 1}, None, {"a": 1}),
    "set-several": ({"a": 1}, "SET a = :v, b = :w,c=:v", {":v": 2, ":w": 3}, None, {"a": 2, "b": 3, "c": 2}),
    "set-in-any-case": ({}, "sEt a = :v", {":v": 1}, None, {"a": 1}),
    "set-of-another": ({"a": 1}, "SET b = a", None, None, {"a": 1, "b": 1}),
    "set-swaps": ({"a": 1, "b": 2}, "SET a = b, b = a", None, None, {"a": 2, "b": 1}),
    "set-of-missing": ({"a": 1}, "SET b = nope", None, None, NOT_THERE),
    "set-of-missing-item": (None, "SET b = nope", None, None, NOT_THERE),
    "set-empty-string": ({}, "SET a = :v", {":v": ""}, None, {"a": ""}),
    "set-all-types": (
        {},
        "SET a = :a, b = :b, c = :c, d = :d",
        {":a": {"x"}, ":b": {1}, ":c": {b"x"}, ":d": {"m": {"l": [1, None, True]}}},
        None,
        {"a": {"x"}, "b": {1}, "c": {b"x"}, "d": {"m": {"l": [1, None, True]}}},
    ),
    "set-plus": ({"a": 1}, "SET a = a + :v", {":v": 4}, None, {"a": 5}),
    "set-minus": ({"a": 1}, "SET a = a - :v", {":v": 4}, None, {"a": -3}),
    "set-minus-value-first": ({"a": 1}, "SET a = :v - a", {":v": 4}, None, {"a": 3}),
    "set-plus-of-values": ({}, "SET a = :v + :w", {":v": 4, ":w": 5}, None, {"a": 9}),
    "set-plus-decimal": ({"a": Number("0.1")}, "SET a = a + :v", {":v": Number("0.2")}, None, {"a": Number("0.3")}),
    "set-plus-38-digits": (
        {"a": Number("12345678901234567890123456789012345677")},
        "SET a = a + :v",
        {":v": 1},
        None,
        {"a": Number("12345678901234567890123456789012345678")},
    ),
    "set-minus-to-zero": ({"a": Number("1.5")}, "SET a = a - :v", {":v": Number("1.5")}, None, {"a": 0}),
    "set-plus-string": ({"a": "1"}, "SET a = a + :v", {":v": 4}, None, WRONG_TYPE),
    "set-plus-of-string-value": ({"a": 1}, "SET a = a + :v", {":v": "4"}, None, WRONG_TYPE),
    "set-plus-missing": ({}, "SET a = a + :v", {":v": 4}, None, NOT_THERE),
    "set-three-terms": ({"a": 1}, "SET a = a + :v + :v", {":v": 4}, None, SYNTAX),
    "set-times": ({"a": 1}, "SET a = a * :v", {":v": 4}, None, SYNTAX),
    "if-not-exists": ({}, "SET a = if_not_exists(a, :v)", {":v": 4}, None, {"a": 4}),
    "if-not-exists-but-does": ({"a": 1}, "SET a = if_not_exists(a, :v)", {":v": 4}, None, {"a": 1}),
    "if-not-exists-plus": ({}, "SET a = if_not_exists(a, :z) + :v", {":z": 0, ":v": 4}, None, {"a": 4}),
    "if-not-exists-of-another": ({"b": 7}, "SET a = if_not_exists(b, :v)", {":v": 4}, None, {"a": 7, "b": 7}),
    "if-not-exists-nested": (
        {"b": 7},
        "SET a = if_not_exists(x, if_not_exists(b, :v))",
        {":v": 4},
        None,
        {"a": 7, "b": 7},
    ),
    "if-not-exists-of-a-value": (
        {},
        "SET a = if_not_exists(:v, :v)",
        {":v": 4},
        None,
        Invalid("requires a document path"),
    ),
    "list-append": ({"l": [1]}, "SET l = list_append(l, :v)", {":v": [2, "x"]}, None, {"l": [1, 2, "x"]}),
    "list-append-before": ({"l": [1]}, "SET l = list_append(:v, l)", {":v": [2]}, None, {"l": [2, 1]}),
    "list-append-or-new": (
        {},
        "SET l = list_append(if_not_exists(l, :e), :v)",
        {":v": [2], ":e": []},
        None,
        {"l": [2]},
    ),
    "list-append-missing": ({}, "SET l = list_append(l, :v)", {":v": [2]}, None, NOT_THERE),
    "list-append-no-list": ({"l": 1}, "SET l = list_append(l, :v)", {":v": [2]}, None, WRONG_TYPE),
    "list-append-of-no-list": ({"l": [1]}, "SET l = list_append(l, :v)", {":v": 2}, None, WRONG_TYPE),
    "unknown-function": ({}, "SET a = sum(a, :v)", {":v": 4}, None, Invalid("Invalid function name; function: sum")),
    "condition-function": ({}, "SET a = attribute_exists(a)", None, None, Invalid("not allowed|Syntax error")),
    # Paths
    "set-nested": ({"m": {"x": 1}}, "SET m.y = :v", {":v": 2}, None, {"m": {"x": 1, "y": 2}}),
    "set-nested-deep": ({"m": {"x": {"y": {}}}}, "SET m.x.y.z = :v", {":v": 2}, None, {"m": {"x": {"y": {"z": 2}}}}),
    "set-two-in-a-map": ({"m": {}}, "SET m.x = :v, m.y = :w", {":v": 1, ":w": 2}, None, {"m": {"x": 1, "y": 2}}),
    "set-as-feast-does": (
        {"values": {"rate": b"1"}, "event_ts": "x"},
        "SET #event_ts = :event_ts, #values.#feat_0 = :val_0, #values.#feat_1 = :val_1",
        {":event_ts": "y", ":val_0": b"2", ":val_1": b"3"},
        {"#event_ts": "event_ts", "#values": "values", "#feat_0": "rate", "#feat_1": "trips"},
        {"values": {"rate": b"2", "trips": b"3"}, "event_ts": "y"},
    ),
    "set-below-missing": ({}, "SET m.y = :v", {":v": 2}, None, NO_PATH),
    "set-below-missing-item": (None, "SET m.y = :v", {":v": 2}, None, NO_PATH),
    "set-below-scalar": ({"m": 1}, "SET m.y = :v", {":v": 2}, None, NO_PATH),
    "set-element": ({"l": [1, 2, 3]}, "SET l[1] = :v", {":v": "x"}, None, {"l": [1, "x", 3]}),
    "set-element-at-the-end": ({"l": [1]}, "SET l[1] = :v", {":v": 2}, None, {"l": [1, 2]}),
    "set-element-beyond": ({"l": [1]}, "SET l[9] = :v", {":v": 2}, None, {"l": [1, 2]}),
    "set-elements-beyond": ({"l": [1]}, "SET l[9] = :v, l[5] = :w", {":v": 9, ":w": 5}, None, {"l": [1, 5, 9]}),
    "set-element-of-map": ({"l": {}}, "SET l[0] = :v", {":v": 2}, None, NO_PATH),
    "set-member-of-list": ({"l": [1]}, "SET l.x = :v", {":v": 2}, None, NO_PATH),
    "set-in-element": ({"l": [{"x": 1}]}, "SET l[0].x = :v", {":v": 2}, None, {"l": [{"x": 2}]}),
    "set-from-nested": ({"m": {"x": [5]}}, "SET a = m.x[0]", None, None, {"m": {"x": [5]}, "a": 5}),
    "set-name-with-a-dot": ({}, "SET #n = :v", {":v": 2}, {"#n": "a.b"}, {"a.b": 2}),
    "set-twice": ({}, "SET a = :v, a = :v", {":v": 2}, None, OVERLAP),
    "set-overlap": ({"m": {"x": 1}}, "SET m = :v, m.x = :v", {":v": 2}, None, OVERLAP),
    "set-overlap-by-name": ({}, "SET a = :v, #n = :v", {":v": 2}, {"#n": "a"}, OVERLAP),
    "set-conflict": ({"m": {}}, "SET m.x = :v, m[0] = :v", {":v": 2}, None, Invalid("document paths conflict")),
    "set-and-remove-overlap": ({"a": 1}, "SET a = :v REMOVE a", {":v": 2}, None, OVERLAP),
    "set-key": (
        {},
        "SET pk = :v",
        {":v": "b"},
        None,
        Invalid("Cannot update attribute pk. This attribute is part of the key"),
    ),
    "remove-key": (
        {},
        "REMOVE pk",
        None,
        None,
        Invalid("Cannot update attribute pk. This attribute is part of the key"),
    ),
    # REMOVE
    "remove": ({"a": 1, "b": 2}, "REMOVE a", None, None, {"b": 2}),
    "remove-several": ({"a": 1, "b": 2, "c": 3}, "REMOVE a, c", None, None, {"b": 2}),
    "remove-missing": ({"a": 1}, "REMOVE nope", None, None, {"a": 1}),
    "remove-of-missing-item": (None, "REMOVE nope", None, None, {}),
    "remove-nested": ({"m": {"x": 1, "y": 2}}, "REMOVE m.x", None, None, {"m": {"y": 2}}),
    "remove-element": ({"l": [0, 1, 2, 3]}, "REMOVE l[1]", None, None, {"l": [0, 2, 3]}),
    "remove-elements-by-old-places": ({"l": [0, 1, 2, 3]}, "REMOVE l[1], l[2]", None, None, {"l": [0, 3]}),
    "remove-element-beyond": ({"l": [0]}, "REMOVE l[7]", None, None, {"l": [0]}),
    "remove-below-missing": ({"a": 1}, "REMOVE m.x", None, None, NO_PATH),
    # ADD
    "add": ({"a": 1}, "ADD a :v", {":v": 4}, None, {"a": 5}),
    "add-to-missing": ({}, "ADD a :v", {":v": 4}, None, {"a": 4}),
    "add-makes-the-item": (None, "ADD a :v", {":v": 4}, None, {"a": 4}),
    "add-negative": ({"a": 1}, "ADD a :v", {":v": Number("-1.5")}, None, {"a": Number("-0.5")}),
    "add-to-set": ({"a": {"x"}}, "ADD a :v", {":v": {"x", "y"}}, None, {"a": {"x", "y"}}),
    "add-to-number-set": ({"a": {1}}, "ADD a :v", {":v": {Number("1.0"), 2}}, None, {"a": {1, 2}}),
    "add-to-binary-set": ({"a": {b"x"}}, "ADD a :v", {":v": {b"y"}}, None, {"a": {b"x", b"y"}}),
    "add-set-to-missing": ({}, "ADD a :v", {":v": {"x"}}, None, {"a": {"x"}}),
    "add-nested": ({"m": {"x": 1}}, "ADD m.x :v", {":v": 1}, None, {"m": {"x": 2}}),
    "add-several": ({"a": 1}, "ADD a :v, b :v", {":v": 1}, None, {"a": 2, "b": 1}),
    "add-string": ({"a": "x"}, "ADD a :v", {":v": "y"}, None, WRONG_TYPE),
    "add-number-to-string": ({"a": "x"}, "ADD a :v", {":v": 1}, None, WRONG_TYPE),
    "add-other-set": ({"a": {"x"}}, "ADD a :v", {":v": {1}}, None, WRONG_TYPE),
    "add-list": ({"a": [1]}, "ADD a :v", {":v": [2]}, None, WRONG_TYPE),
    # DELETE
    "delete": ({"a": {"x", "y"}}, "DELETE a :v", {":v": {"x", "z"}}, None, {"a": {"y"}}),
    "delete-the-last": ({"a": {"x"}, "b": 1}, "DELETE a :v", {":v": {"x"}}, None, {"b": 1}),
    "delete-numbers-by-value": ({"a": {1, 2}}, "DELETE a :v", {":v": {Number("1.00")}}, None, {"a": {2}}),
    "delete-from-missing": ({"b": 1}, "DELETE a :v", {":v": {"x"}}, None, {"b": 1}),
    "delete-no-set": ({"a": {"x"}}, "DELETE a :v", {":v": "x"}, None, WRONG_TYPE),
    "delete-from-no-set": ({"a": "x"}, "DELETE a :v", {":v": {"x"}}, None, WRONG_TYPE),
    "delete-other-set": ({"a": {"x"}}, "DELETE a :v", {":v": {1}}, None, WRONG_TYPE),
    # Clauses
    "all-clauses": (
        {"a": 1, "b": 2, "c": 3, "d": {"x", "y"}},
        "REMOVE b SET a = c DELETE d :s ADD c :v",
        {":s": {"x"}, ":v": 1},
        None,
        {"a": 3, "c": 4, "d": {"y"}},
    ),
    "clause-twice": (
        {},
        "SET a = :v SET b = :v",
        {":v": 1},
        None,
        Invalid('The "SET" section can only be used once in an update expression'),
    ),
    "misspelt": ({}, "SETT a = :v", {":v": 1}, None, Invalid('Syntax error; token: "SETT", near: "SETT a')),
    "empty": ({}, "", None, None, Invalid("The expression can not be empty")),
    "clause-without-action": ({}, "SET", None, None, SYNTAX),
    "comma-at-the-end": ({}, "SET a = :v,", {":v": 1}, None, SYNTAX),
    "no-value": ({}, "SET a = ", None, None, SYNTAX),
    "add-with-equals": ({}, "ADD a = :v", {":v": 1}, None, SYNTAX),
    "value-undefined": ({}, "SET a = :v", None, None, Invalid("attribute value used in expression is not defined")),
    "value-unused": ({}, "SET a = :v", {":v": 1, ":w": 1}, None, Invalid("unused in expressions: keys: {:w}")),
    "name-undefined": (
        {},
        "SET #a = :v",
        {":v": 1},
        None,
        Invalid("attribute name used in the document path is not defined"),
    ),
    "reserved-word": ({}, "SET name = :v", {":v": 1}, None, Invalid("reserved keyword: name")),
    "overflow": ({"a": Number("99" + "0" * 124)}, "SET a = a + a", None, None, Invalid("Number overflow")),
}
DIFFERS = {"set-minus-to-zero": {"local": "0.0", "why": "Developer Guide, Number: zeros around are trimmed"}}


@pytest.mark.parametrize("there, expression, values, names, expected", cases(ROWS, DIFFERS))
def test_update(kept_table, run, request, there, expression, values, names, expected):
    table = kept_table("S", "updates", [])
    key = {"pk": request.node.callspec.id}
    if there is not None:
        run(table, put({**key, **there}))
    call = update(key, expression, names=names, values=values)
    if isinstance(expected, Fails):
        run(table, call, expected)
        left = None if there is None else item({**key, **there})
    else:
        run(table, call)
        left = item({**key, **expected})
    run(table, get(key, ConsistentRead=True), {"Item": left})


OLD = {"a": 1, "b": "x", "m": {"x": 1, "y": 2}, "l": [1, 2]}
RETURNED = {
    # of, the answer's Attributes; API Reference, UpdateItem, ReturnValues
    "NONE": None,
    "ALL_OLD": {"pk": "k", **OLD},
    "ALL_NEW": {"pk": "k", "a": 2, "m": {"x": 1, "y": 2}, "l": [1, 2], "c": 3},
    "UPDATED_OLD": {"a": 1, "b": "x"},
    "UPDATED_NEW": {"a": 2, "c": 3},
}


@pytest.mark.parametrize("what", RETURNED)
def test_return_values(make_table, run, what):
    expected = None if RETURNED[what] is None else item(RETURNED[what])
    run(
        make_table("S", {"pk": "k", **OLD}),
        update({"pk": "k"}, "SET a = :v, c = :c REMOVE b", values={":v": 2, ":c": 3}, ReturnValues=what),
        {"Attributes": expected},
    )


@pytest.mark.parametrize("what, of_x", [("UPDATED_OLD", 1), ("UPDATED_NEW", 5)])
def test_return_values_of_a_path(make_table, client, what, of_x):
    """The path alone, or the attribute whole, as DynamoDB Local has it: the documents do not say."""
    table = make_table("S", {"pk": "k", **OLD})
    found = endpoint.call(client, table, *update({"pk": "k"}, "SET m.x = :w", values={":w": 5}, ReturnValues=what))[
        "Attributes"
    ]
    assert found in (item({"m": {"x": of_x}}), item({"m": {"x": of_x, "y": 2}}))


@pytest.mark.parametrize(
    "what, expected",
    [
        ("NONE", None),
        ("ALL_OLD", None),
        ("UPDATED_OLD", None),
        ("ALL_NEW", {"pk": "k", "a": 1}),
        ("UPDATED_NEW", {"a": 1}),
    ],
)
def test_return_values_of_a_new_item(make_table, run, what, expected):
    run(
        make_table("S"),
        update({"pk": "k"}, "SET a = :v", values={":v": 1}, ReturnValues=what),
        {"Attributes": None if expected is None else item(expected)},
    )


def test_return_value_unknown(make_table, run):
    run(
        make_table("S"),
        update({"pk": "k"}, "SET a = :v", values={":v": 1}, ReturnValues="EVERYTHING"),
        Invalid("'returnValues' failed to satisfy constraint|Return values set to invalid value"),
    )


def test_update_without_expression_makes_the_item(make_table, run):
    """API Reference, UpdateItem: UpdateExpression is not required."""
    table = make_table("S")
    run(table, update({"pk": "k"}))
    run(table, get({"pk": "k"}), {"Item": item({"pk": "k"})})


def test_only_remove_makes_the_item(make_table, run):
    table = make_table("S")
    run(table, update({"pk": "k"}, "REMOVE a"))
    run(table, get({"pk": "k"}), {"Item": item({"pk": "k"})})


@pytest.mark.differs(local="1.0 after ten", why="Developer Guide, Number: zeros around are trimmed")
def test_counter_of_many_updates(make_table, run):
    table = make_table("S")
    for number in range(1, 21):
        run(
            table,
            update(KEY, "ADD n :v", values={":v": decimal.Decimal("0.1")}, ReturnValues="UPDATED_NEW"),
            {"Attributes": item({"n": Number(str(decimal.Decimal(number) / 10))})},
        )
