"""TransactWriteItems and TransactGetItems: all or nothing, the reasons, tokens.

Sources: Amazon DynamoDB API Reference of both; Developer Guide, "Amazon DynamoDB Transactions: How it works".
"""

import concurrent.futures
import uuid

import botocore.exceptions
import pytest

import endpoint
from wire import Fails, Invalid, Number, TABLE, cases, expressions, get, item, items, put, scan, value


def act(kind, **request):
    return {kind: {"TableName": TABLE, **request}}


def t_put(what, **rest):
    return act("Put", Item=item(what), **expressions(**rest))


def t_delete(key, **rest):
    return act("Delete", Key=item(key), **expressions(**rest))


def t_update(key, expression, **rest):
    return act("Update", Key=item(key), UpdateExpression=expression, **expressions(**rest))


def t_check(key, expression, **rest):
    return act("ConditionCheck", Key=item(key), ConditionExpression=expression, **expressions(**rest))


def transact(*actions, **rest):
    return "TransactWriteItems", {"TransactItems": list(actions), **rest}


K = [{"pk": "a", "sk": number} for number in range(10)]
THERE = [{**K[0], "v": 0}, {**K[1], "v": 1}]
FINE, REFUSED = "None", "ConditionalCheckFailed"


def test_transaction(make_table, run, client):
    table = make_table("SN", *THERE)
    run(
        table,
        transact(
            t_put({**K[2], "v": 2}),
            t_update(K[0], "SET v = v + :one", values={":one": 1}),
            t_delete(K[1]),
            t_check(K[3], "attribute_not_exists(pk)"),
        ),
        {},
    )
    assert endpoint.call(client, table, *scan())["Items"] == items([{**K[0], "v": 1}, {**K[2], "v": 2}])


CANCELLED = {
    # id: actions, codes of the reasons
    "put": ([t_put(K[0], ConditionExpression="attribute_not_exists(pk)")], [REFUSED]),
    "update": ([t_update(K[0], "SET v = :v", ConditionExpression="v = :w", values={":v": 1, ":w": 7})], [REFUSED]),
    "delete": ([t_delete(K[0], ConditionExpression="v = :w", values={":w": 7})], [REFUSED]),
    "check": ([t_check(K[0], "v = :w", values={":w": 7})], [REFUSED]),
    "check-missing": ([t_check(K[5], "attribute_exists(pk)")], [REFUSED]),
    "one-of-three": ([t_put(K[7]), t_check(K[0], "v = :w", values={":w": 7}), t_delete(K[1])], [FINE, REFUSED, FINE]),
    "two-of-three": (
        [t_check(K[0], "v = :w", values={":w": 7}), t_put(K[7]), t_check(K[1], "v = :w", values={":w": 7})],
        [REFUSED, FINE, REFUSED],
    ),
    "update-that-cannot-be": ([t_put(K[7]), t_update(K[0], "SET x = nope")], [FINE, "ValidationError"]),
    "path-that-cannot-be": ([t_put(K[7]), t_update(K[0], "SET v.x = :v", values={":v": 1})], [FINE, "ValidationError"]),
}
NOT_CANCELLED = {
    "local": "ValidationException of the whole request",
    "why": "API Reference, TransactWriteItems, CancellationReasons: ValidationError",
}
CANCELLED_DIFFER = {"update-that-cannot-be": NOT_CANCELLED, "path-that-cannot-be": NOT_CANCELLED}


@pytest.mark.parametrize("actions, codes", cases(CANCELLED, CANCELLED_DIFFER))
def test_cancelled(make_table, run, client, actions, codes):
    """Nothing of it is done, and there is a reason for each action."""
    table = make_table("SN", *THERE)
    found = run(table, transact(*actions), Fails("TransactionCanceledException", rf"\[{', '.join(codes)}\]"))
    reasons = found.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == codes
    assert all(("Message" in reason and bool(reason["Message"])) == (reason["Code"] != FINE) for reason in reasons)
    assert not any("Item" in reason for reason in reasons)
    assert endpoint.call(client, table, *scan())["Items"] == items(THERE)


@pytest.mark.parametrize(
    "make",
    [
        lambda **rest: t_put(K[0], ConditionExpression="attribute_not_exists(pk)", **rest),
        lambda **rest: t_delete(K[0], ConditionExpression="attribute_not_exists(pk)", **rest),
        lambda **rest: t_update(
            K[0], "SET v = :v", ConditionExpression="attribute_not_exists(pk)", values={":v": 3}, **rest
        ),
        lambda **rest: t_check(K[0], "attribute_not_exists(pk)", **rest),
    ],
    ids=["put", "delete", "update", "check"],
)
def test_items_of_reasons(make_table, run, make):
    table = make_table("SN", *THERE)
    failed = Fails("TransactionCanceledException")
    found = run(table, transact(t_put(K[5]), make(ReturnValuesOnConditionCheckFailure="ALL_OLD")), failed)
    assert [reason.get("Item") for reason in found.response["CancellationReasons"]] == [None, item(THERE[0])]
    found = run(table, transact(t_put(K[5]), make(ReturnValuesOnConditionCheckFailure="NONE")), failed)
    assert [reason.get("Item") for reason in found.response["CancellationReasons"]] == [None, None]


REFUSALS = {
    # id: request, error; nothing is done
    "none": (transact(), Invalid("greater than or equal to 1")),
    "101": (
        transact(*(t_put({"pk": "a", "sk": number}) for number in range(101))),
        Invalid("less than or equal to 100"),
    ),
    "same-item-twice": (
        transact(t_put(K[0]), t_delete(K[0])),
        Invalid("Transaction request cannot include multiple operations on one item"),
    ),
    "check-and-write-of-one": (
        transact(t_check(K[0], "attribute_exists(pk)"), t_put(K[0])),
        Invalid("multiple operations on one item"),
    ),
    "same-number": (
        transact(t_put(K[1]), t_delete({"pk": "a", "sk": Number("1.0")})),
        Invalid("multiple operations on one item"),
    ),
    "two-in-one": (
        transact({**t_put(K[0]), **t_delete(K[1])}),
        Invalid("can only contain one of Check, Put, Update or Delete"),
    ),
    "nothing-in-one": (transact({}), Invalid("")),
    "check-without-condition": (transact(act("ConditionCheck", Key=item(K[0]))), Invalid("[Cc]onditionExpression")),
    "update-without-expression": (transact(act("Update", Key=item(K[0]))), Invalid("[Uu]pdateExpression")),
    "syntax": (transact(t_put(K[5]), t_check(K[0], "v =")), Invalid("Syntax error")),
    "reserved": (transact(t_put(K[5]), t_check(K[0], "attribute_exists(values)")), Invalid("reserved keyword: values")),
    "unused-value": (
        transact(t_put(K[5], values={":v": 1}, ConditionExpression="attribute_not_exists(pk)")),
        Invalid("unused in expressions: keys: {:v}"),
    ),
    "no-such-table": (
        transact(t_put(K[5]), {"Put": {"TableName": "no-such-table", "Item": item(K[0])}}),
        Fails("ResourceNotFoundException"),
    ),
    "token-of-37": (transact(t_put(K[5]), ClientRequestToken="x" * 37), Invalid("less than or equal to 36")),
}
REFUSALS_DIFFER = {
    "same-number": {"local": "takes 1 and 1.0 for two items", "why": "they are one item"},
    "update-without-expression": {"local": "takes it", "why": "API Reference, Update: UpdateExpression is required"},
}


@pytest.mark.parametrize("call, expected", cases(REFUSALS, REFUSALS_DIFFER))
def test_refused(make_table, run, client, call, expected):
    table = make_table("SN", *THERE)
    run(table, call, expected)
    assert endpoint.call(client, table, *scan())["Items"] == items(THERE)


KEY_FAULTS = {
    # What the documents leave open: the whole request is refused, or it is cancelled for this reason.
    "put-without-range": t_put({"pk": "a"}),
    "delete-with-part": t_delete({"pk": "a"}),
    "put-of-another-type": t_put({"pk": "a", "sk": "1"}),
    "put-too-large": t_put({"pk": "a", "sk": 1, "v": "x" * 409600}),
    "update-of-key": t_update(K[0], "SET sk = :v", values={":v": 1}),
}


@pytest.mark.parametrize("name", KEY_FAULTS)
def test_bad_keys(make_table, client, name):
    table = make_table("SN", *THERE)
    found = endpoint.outcome(client, table, *transact(t_put(K[5]), KEY_FAULTS[name]))
    assert isinstance(found, botocore.exceptions.ClientError)
    if found.response["Error"]["Code"] != "ValidationException":
        assert [reason["Code"] for reason in found.response["CancellationReasons"] if reason["Code"] != FINE] == [
            "ValidationError"
        ]
    assert endpoint.call(client, table, *scan())["Items"] == items(THERE)


def test_transaction_of_100(make_table, run):
    table = make_table("SN")
    run(table, transact(*(t_put({"pk": f"p{number % 7}", "sk": number}) for number in range(100))))
    run(table, scan(), {"Count": 100})


def test_transaction_over_tables(make_table, client):
    tables = [make_table("SN"), make_table("S", {"pk": "a", "v": 1})]
    actions = [
        {"Put": {"TableName": tables[0], "Item": item(K[0])}},
        {
            "Update": {
                "TableName": tables[1],
                "Key": item({"pk": "a"}),
                "UpdateExpression": "ADD v :one",
                "ExpressionAttributeValues": {":one": value(1)},
            }
        },
    ]
    endpoint.call(client, "", *transact(*actions))
    assert endpoint.call(client, tables[0], *scan())["Count"] == 1
    assert endpoint.call(client, tables[1], *get({"pk": "a"}))["Item"] == item({"pk": "a", "v": 2})
    actions[0]["Put"]["ConditionExpression"] = "attribute_not_exists(pk)"
    assert endpoint.outcome(client, "", *transact(*actions)).response["Error"]["Code"] == "TransactionCanceledException"
    assert endpoint.call(client, tables[1], *get({"pk": "a"}))["Item"] == item({"pk": "a", "v": 2})


def test_token(make_table, run):
    """The same request with the same token is done once; another with it is refused."""
    table, token = make_table("SN", *THERE), str(uuid.uuid4())
    add = t_update(K[1], "ADD v :v", values={":v": 1})
    for _ in range(3):
        run(table, transact(add, ClientRequestToken=token))
    run(table, get(K[1]), {"Item": item({**K[1], "v": 2})})
    run(
        table,
        transact(t_update(K[1], "ADD v :v", values={":v": 5}), ClientRequestToken=token),
        Fails("IdempotentParameterMismatchException"),
    )
    run(table, transact(add, ClientRequestToken=str(uuid.uuid4())))
    run(table, get(K[1]), {"Item": item({**K[1], "v": 3})})


def turned(request):
    """The same, its members in the other order."""
    if isinstance(request, dict):
        return {name: turned(request[name]) for name in reversed(request)}
    return [turned(inner) for inner in request] if isinstance(request, list) else request


def test_token_of_the_same_request_in_another_order(make_table, run):
    """Members of JSON have no order; Go's SDK writes maps in any."""
    table, token = make_table("SN", *THERE), str(uuid.uuid4())
    operation, request = transact(
        t_update(K[1], "ADD v :v, w :w", values={":v": 1, ":w": 2}),
        t_put({**K[5], "a": 1, "b": {"x": 1, "y": 2}}),
        ClientRequestToken=token,
    )
    run(table, (operation, request))
    run(table, (operation, turned(request)))
    run(table, get(K[1]), {"Item": item({**K[1], "v": 2, "w": 2})})


def test_token_of_a_cancelled_one_is_free(make_table, run):
    table = make_table("SN", *THERE)
    once = transact(
        t_put({**K[5], "v": 1}), t_check(K[6], "attribute_exists(pk)"), ClientRequestToken=str(uuid.uuid4())
    )
    run(table, once, Fails("TransactionCanceledException"))
    run(table, put(K[6]))
    run(table, once)
    run(table, get(K[5]), {"Item": item({**K[5], "v": 1})})


def test_transactions_at_once(make_table, client):
    """Two counters that are only ever moved together."""
    table = make_table("SN", {**K[0], "v": 0}, {**K[1], "v": 0})
    move = transact(*(t_update(key, "ADD v :one", values={":one": 1}) for key in K[:2]))
    done = 0
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: endpoint.outcome(client, table, *move), range(40)):
            if isinstance(found, dict):
                done += 1
            else:
                assert found.response["Error"]["Code"] in (
                    "TransactionCanceledException",
                    "TransactionInProgressException",
                ), found
    assert done >= 1
    assert endpoint.call(client, table, *scan())["Items"] == items([{**K[0], "v": done}, {**K[1], "v": done}])


def t_get(key, **rest):
    return act("Get", Key=item(key), **expressions(**rest))


def test_transact_get(make_table, run):
    """In the order of the request; {} for who is missing."""
    run(
        make_table("SN", *THERE),
        (
            "TransactGetItems",
            {"TransactItems": [t_get(K[1]), t_get(K[7]), t_get(K[0], ProjectionExpression="#v", names={"#v": "v"})]},
        ),
        {"Responses": [{"Item": item(THERE[1])}, {}, {"Item": item({"v": 0})}]},
    )


@pytest.mark.parametrize(
    "gets, expected",
    [
        ([], Invalid("greater than or equal to 1|Member must not be null")),
        ([t_get({"pk": "a", "sk": number}) for number in range(101)], Invalid("less than or equal to 100")),
        ([t_get(K[0]), t_get(K[0])], Invalid("multiple operations on one item")),
        ([t_get(K[0], ProjectionExpression="values")], Invalid("reserved keyword: values")),
        ([{"Get": {"TableName": "no-such-table", "Key": item(K[0])}}], Fails("ResourceNotFoundException")),
    ],
    ids=["none", "101", "twice", "reserved", "no-such-table"],
)
def test_transact_get_refused(make_table, run, gets, expected):
    run(make_table("SN"), ("TransactGetItems", {"TransactItems": gets}), expected)
