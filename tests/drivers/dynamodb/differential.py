#!/usr/bin/env python3
"""Sends random requests to liststore and to another implementation, and compares what they answer and hold.

    differential.py [--other local|moto|URL] [--seed N] [--rounds N] [--steps N]

Needs boto3; LISTSTORE_BINARY names the program, LISTSTORE_DYNAMODB does not matter. A round is a table of its own, with
writes (puts, updates, deletes, with and without conditions, batches, transactions) and reads (gets, queries, scans) of few keys.
Errors are compared by their code; known differences are in known(). Prints the seed, what differs with the whole
request, and a last line `N passed, N failed, N skipped`: of rounds.
"""

import argparse
import contextlib
import decimal
import json
import random
import re
import sys
import time

import botocore.exceptions
import pytest

import conftest
import endpoint
import wire
from wire import Number, value

decimal.getcontext().prec = 60
NAMES = ["a", "b", "c", "m", "l", "s"]
PATHS = NAMES + ["m.x", "m.y", "m.x.z", "l[0]", "l[1]", "l[3]", "m.l[0]"]
TEXTS = ["", "a", "aa", "ab", "b", "é", "😀", "zz"]
NUMBERS = ["0", "1", "-1", "2", "10", "1.5", "-0.5", "100", "1e10", "12345678901234567890123456789012345678", "0.00001"]


class Maker:
    """Random values, expressions and requests for the table of a schema."""

    def __init__(self, seed, schema):
        self.random = random.Random(seed)
        # size() of other text than ASCII is in bytes or in UTF-16's units; the documents do not say.
        self.sizes = self.random.random() < 0.5
        self.texts = [text for text in TEXTS if text.isascii() or not self.sizes]
        self.schema = schema
        self.values = {}
        self.names = {}

    def one_of(self, *choices):
        return self.random.choice(choices)

    def plain(self, depth=0):
        kind = self.random.randrange(11 if depth < 2 else 7)
        if kind <= 1:
            return Number(self.random.choice(NUMBERS))
        if kind <= 3:
            return self.random.choice(self.texts)
        if kind == 4:
            return self.random.choice([b"", b"\x00", b"\xff", b"ab"])
        if kind == 5:
            return self.random.choice([True, False, None])
        if kind == 6:
            return self.one_of({"a", "b"}, {"a"}, {1, 2}, {Number("1.0")}, {b"x"}, {"b", "c"})
        if kind <= 8:
            return [self.plain(depth + 1) for _ in range(self.random.randrange(4))]
        return {
            name: self.plain(depth + 1) for name in self.random.sample(["x", "y", "z", "l"], self.random.randrange(4))
        }

    def key(self):
        made = {"pk": self.random.choice(["p", "q"])}
        kind = {"lists": "N", "SN": "N", "SS": "S", "SB": "B"}[self.schema]
        made["sk"] = {
            "N": lambda: Number(self.random.choice(["0", "1", "2", "3", "10", "-1", "1.5", "1.0"])),
            "S": lambda: self.random.choice(self.texts[1:]),
            "B": lambda: self.random.choice([b"\x00", b"a", b"\xff", b"\xff\x00"]),
        }[kind]()
        return made

    def item(self):
        made = {name: self.plain() for name in self.random.sample(NAMES, self.random.randrange(len(NAMES)))}
        if self.schema == "lists" and self.random.random() < 0.7:
            made["v"] = self.random.choice(self.texts[1:])
        return {**self.key(), **made}

    def operand(self, plain=None):
        name = f":v{len(self.values)}"
        self.values[name] = value(self.plain() if plain is None else plain)
        return name

    def path(self, more=()):
        path = self.random.choice([*PATHS, *more])
        if self.random.random() < 0.2:  # by another name
            head, dot, rest = path.partition(".")
            if "[" not in head:
                self.names[f"#{head}"] = head
                return f"#{head}{dot}{rest}"
        return path

    def condition(self, depth=0, keys=True):
        kind = self.random.randrange(12 if depth < 2 else 8)
        more = ["pk", "sk"] if keys else []
        if kind <= 2:
            return f"{self.path(more)} {self.one_of('=', '<>', '<', '<=', '>', '>=')} {self.operand(self.one_of(Number('1'), 'a', b'a', Number('1.5'), None) or self.plain())}"
        if kind == 3:
            return f"{self.one_of('attribute_exists', 'attribute_not_exists')}({self.path(more)})"
        if kind == 4:
            return f"attribute_type({self.path()}, {self.operand(self.one_of('S', 'N', 'B', 'SS', 'NS', 'BS', 'M', 'L', 'NULL', 'BOOL'))})"
        if kind == 5:
            return f"begins_with({self.path()}, {self.operand(self.one_of('a', 'ab', b'a'))})"
        if kind == 6:
            return f"contains({self.path()}, {self.operand(self.one_of('a', Number('1'), b'x'))})"
        if kind == 7 and self.sizes:
            return (
                f"size({self.path()}) {self.one_of('=', '<', '>=')} {self.operand(Number(self.one_of('0', '1', '2')))}"
            )
        if kind in (7, 8):
            return f"{self.path()} IN ({', '.join(self.operand() for _ in range(self.random.randrange(1, 4)))})"
        if kind == 9:
            low, high = self.one_of((Number("0"), Number("5")), ("a", "b"), (b"", b"x"))
            return f"{self.path(more)} BETWEEN {self.operand(low)} AND {self.operand(high)}"
        if kind == 10:
            return f"NOT ({self.condition(depth + 2, keys)} OR {self.condition(depth + 2, keys)})"
        return f"({self.condition(depth + 1, keys)}) {self.one_of('AND', 'OR')} {self.condition(depth + 2, keys)}"

    def update_expression(self):
        clauses = []
        for clause in self.random.sample(["SET", "REMOVE", "ADD", "DELETE"], self.random.randrange(1, 3)):
            actions = []
            for _ in range(self.random.randrange(1, 3)):
                path = self.path(["v"] if self.schema == "lists" and clause == "REMOVE" else [])
                if clause == "REMOVE":
                    actions.append(path)
                elif clause == "ADD":
                    actions.append(
                        f"{path} {self.operand(self.one_of(Number('1'), Number('0.5'), {'a', 'c'}, {1, 3}))}"
                    )
                elif clause == "DELETE":
                    actions.append(f"{path} {self.operand(self.one_of({'a'}, {1}, {b'x'}, {'a', 'b', 'c'}))}")
                else:
                    actions.append(f"{path} = {self.term()}")
            clauses.append(f"{clause} {', '.join(actions)}")
        return " ".join(clauses)

    def term(self):
        kind = self.random.randrange(8)
        if kind <= 3:
            return self.operand()
        if kind == 4:
            return self.path()
        if kind == 5:
            return f"{self.path()} {self.one_of('+', '-')} {self.operand(Number(self.random.choice(NUMBERS)))}"
        if kind == 6:
            return f"if_not_exists({self.path()}, {self.operand()})"
        return f"list_append(if_not_exists({self.path()}, {self.operand([])}), {self.operand([Number('1'), 'x'])})"

    def with_expressions(self, request):
        if self.values:
            request["ExpressionAttributeValues"] = self.values
        if self.names:
            request["ExpressionAttributeNames"] = self.names
        return request

    def request(self):
        self.values, self.names = {}, {}
        kind = self.random.choice(
            ["put"] * 4
            + ["update"] * 8
            + ["delete"] * 2
            + ["query"] * 6
            + ["scan"] * 2
            + ["get"] * 2
            + ["batch", "transact", "batch_get"]
        )
        return getattr(self, f"make_{kind}")()

    def conditional(self, request, returned):
        if self.random.random() < 0.4:
            request["ConditionExpression"] = self.condition()
            request["ReturnValuesOnConditionCheckFailure"] = self.one_of("NONE", "ALL_OLD")
        request["ReturnValues"] = self.random.choice(returned)
        return self.with_expressions({"TableName": wire.TABLE, **request})

    def make_put(self):
        return "PutItem", self.conditional({"Item": wire.item(self.item())}, ["NONE", "ALL_OLD"])

    def make_delete(self):
        return "DeleteItem", self.conditional({"Key": wire.item(self.key())}, ["NONE", "ALL_OLD"])

    def make_update(self):
        return "UpdateItem", self.conditional(
            {"Key": wire.item(self.key()), "UpdateExpression": self.update_expression()},
            ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"],
        )

    def projected(self, request):
        if self.random.random() < 0.3:
            request["ProjectionExpression"] = ", ".join(
                self.path(["pk", "sk"]) for _ in range(self.random.randrange(1, 4))
            )
        return self.with_expressions({"TableName": wire.TABLE, **request})

    def make_get(self):
        return "GetItem", self.projected({"Key": wire.item(self.key()), "ConsistentRead": True})

    def paged(self, request):
        if self.random.random() < 0.5:
            request["Limit"] = self.random.randrange(1, 6)
        if self.random.random() < 0.4:
            request["FilterExpression"] = self.condition(keys=False)
        return request

    def make_query(self):
        key = self.key()
        request = {"ConsistentRead": True, "ScanIndexForward": self.one_of(True, False)}
        condition = f"pk = {self.operand(key['pk'])}"
        index = self.schema == "lists" and self.random.random() < 0.3
        name, plain = ("v", self.random.choice(self.texts[1:])) if index else ("sk", key["sk"])
        if index:
            request["IndexName"] = "by_v"
        kind = self.random.randrange(4)
        if kind == 1:
            condition += f" AND {name} {self.one_of('=', '<', '<=', '>', '>=')} {self.operand(plain)}"
        elif kind == 2:
            other = self.random.choice(self.texts[1:]) if index else self.key()["sk"]
            condition += f" AND {name} BETWEEN {self.operand(plain)} AND {self.operand(other)}"
        elif kind == 3 and isinstance(plain, (str, bytes)) and not isinstance(plain, Number):
            condition += f" AND begins_with({name}, {self.operand(plain[:1])})"
        request["KeyConditionExpression"] = condition
        return "Query", self.projected(self.paged(request))

    def make_scan(self):
        request = self.paged({"ConsistentRead": True})
        request.pop("Limit", None)  # the order of partitions is nobody's promise
        return "Scan", self.projected(request)

    def make_batch(self):
        requests = [
            self.one_of(
                {"PutRequest": {"Item": wire.item(self.item())}}, {"DeleteRequest": {"Key": wire.item(self.key())}}
            )
            for _ in range(self.random.randrange(1, 4))
        ]
        return "BatchWriteItem", {"RequestItems": {wire.TABLE: requests}}

    def make_batch_get(self):
        request = self.projected({"Keys": [wire.item(self.key()) for _ in range(self.random.randrange(1, 4))]})
        request.pop("TableName")
        return "BatchGetItem", {"RequestItems": {wire.TABLE: request}}

    def make_transact(self):
        actions = []
        for _ in range(self.random.randrange(1, 4)):
            self.values, self.names = {}, {}
            kind = self.one_of("Put", "Update", "Delete", "ConditionCheck")
            request = {
                "TableName": wire.TABLE,
                **({"Item": wire.item(self.item())} if kind == "Put" else {"Key": wire.item(self.key())}),
            }
            if kind == "Update":
                request["UpdateExpression"] = self.update_expression()
            if kind == "ConditionCheck" or self.random.random() < 0.3:
                request["ConditionExpression"] = self.condition()
            actions.append({kind: self.with_expressions(request)})
        return "TransactWriteItems", {"TransactItems": actions}


def in_order(one):
    return json.dumps(one, sort_keys=True, default=str)


def sorted_items(answer, operation, request):
    """Where the order is nobody's promise, one that is the same for both."""
    equal = operation == "Query" and "IndexName" in request
    if isinstance(answer.get("Items"), list) and (operation == "Scan" or equal):
        answer = {**answer, "Items": sorted(answer["Items"], key=in_order)}
    if operation == "BatchGetItem":
        answer = {
            **answer,
            "Responses": {"": sorted((one for found in answer["Responses"].values() for one in found), key=in_order)},
        }
    return answer


def digits(text):
    return f"{decimal.Decimal(text).normalize():f}"


def numbers_alike(answer):
    """Numbers in the digits of one form: DynamoDB Local has those in lists and maps as they were sent."""
    if isinstance(answer, list):
        return [numbers_alike(inner) for inner in answer]
    if not isinstance(answer, dict):
        return answer
    if list(answer) == ["N"] and isinstance(answer["N"], str):
        return {"N": digits(answer["N"])}
    if list(answer) == ["NS"]:
        return {"NS": sorted(digits(inner) for inner in answer["NS"])}
    return {name: numbers_alike(inner) for name, inner in answer.items()}


def outcome(client, table, operation, request):
    found = endpoint.outcome(client, table, operation, request)
    if isinstance(found, botocore.exceptions.ClientError):
        said = found.response
        reasons = [[reason.get("Code"), reason.get("Item")] for reason in said.get("CancellationReasons", [])]
        return (
            numbers_alike({"error": said["Error"]["Code"], "item": wire.normal(said.get("Item")), "reasons": reasons}),
            said["Error"]["Message"],
        )
    found.pop("ConsumedCapacity", None)
    if request.get("ReturnValues", "").startswith("UPDATED") and re.search(r"[.\[]", request["UpdateExpression"]):
        found.pop("Attributes", None)  # a path of them, or the attribute whole: the documents do not say
    return sorted_items(numbers_alike(found), operation, request), ""


def skipped(operation, request):
    """A page of an index whose values may be equal: which come first is nobody's promise."""
    return operation == "Query" and "IndexName" in request and "Limit" in request


def known(operation, ours, said, theirs):
    """What DynamoDB Local is known to do otherwise than the documents say."""
    if operation == "TransactWriteItems":
        # An update that cannot be done is the reason of a cancelled transaction, not an error of the request; and that
        # an item is there twice is seen before conditions are judged.
        cancelled = ["ValidationError", None] in ours.get("reasons", []) and theirs.get(
            "error"
        ) == "ValidationException"
        return cancelled or "multiple operations on one item" in said
    if operation == "BatchGetItem":  # it takes 1 and 1.0 for two keys
        return "contains duplicates" in said
    # It leaves the last key out where the last item is the bound of the key condition.
    return operation == "Query" and ours == {**theirs, "LastEvaluatedKey": ours.get("LastEvaluatedKey")}


def held(client, table):
    return sorted(numbers_alike(endpoint.call(client, table, *wire.scan())["Items"]), key=in_order)


def made_alike(sides):
    """Whether both held the same; now they do, so that one difference does not make more."""
    ours, theirs = (held(*side) for side in sides)
    for item in ours:
        if item not in theirs:
            key = {name: item[name] for name in ("pk", "sk")}
            endpoint.call(*sides[0], "DeleteItem", {"TableName": wire.TABLE, "Key": key})
    for item in theirs:
        if item not in ours:
            endpoint.call(*sides[0], "PutItem", {"TableName": wire.TABLE, "Item": item})
    return ours == theirs


def run_round(clients, seed, options):
    """How many requests differed, were sent, and were answered without an error."""
    schema = random.Random(seed).choice(["lists", "SN", "SS", "SB"])
    maker = Maker(seed, schema)
    name = f"round.{seed}.{int(time.time() * 1000)}"
    sides = [(client, f"{name}.{number}") for number, client in enumerate(clients)]
    for client, table in sides:
        conftest.create(client, table, schema)
    differences = sent = answered = 0
    for step in range(options.steps):
        operation, request = maker.request()
        if skipped(operation, request):
            continue
        (ours, said), (theirs, they_said) = (outcome(client, table, operation, request) for client, table in sides)
        sent += 1
        answered += "error" not in ours
        if ours == theirs:
            continue
        made_alike(sides)
        if known(operation, ours, said, theirs) or (options.ignore and re.search(options.ignore, they_said)):
            continue
        differences += 1
        print(f"seed {seed} step {step} ({schema}): {operation} {request}")
        print(f"  ours:   {ours} {said}\n  theirs: {theirs} {they_said}")
    if not made_alike(sides):
        differences += 1
        print(f"seed {seed} ({schema}): in the end they held other items")
    for client, table in sides:
        endpoint.outcome(client, table, "DeleteTable", {"TableName": table})
    return differences, sent, answered


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default="liststore", help="liststore, or a URL [%(default)s]")
    parser.add_argument("--other", default="local", help="local, moto or a URL [%(default)s]")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first round; the next have the next")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--ignore", help="a regular expression: of the other's messages that are no news")
    parser.add_argument("--steps", type=int, default=150)
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    passed = failed = sent = answered = 0
    with contextlib.ExitStack() as stack:
        try:
            clients = [
                endpoint.connect(stack.enter_context(endpoint.opened(which))) for which in (options.ours, options.other)
            ]
        except pytest.skip.Exception as missing:
            print(missing)
            print("0 passed, 0 failed, 1 skipped")
            return 0
        for number in range(options.rounds):
            differences, *counts = run_round(clients, options.seed + number, options)
            failed += bool(differences)
            passed += not differences
            sent += counts[0]
            answered += counts[1]
    print(f"{sent} requests, {answered} of them without an error")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
