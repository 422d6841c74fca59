"""The shorthand of the corpus: plain Python values for attribute values, and requests by name.

str is S, int, Decimal and Number are N, bytes B, bool BOOL, None NULL, list L, dict M, and a set SS, NS or BS.
"""

import dataclasses
import decimal
import re

import pytest

TABLE = "<table>"  # in a request, for the name of the table at hand


class Number(str):
    """A number in just these digits."""


class Raw(dict):
    """An attribute value that is sent as it stands."""


def _set_of(values):
    values = list(values)
    if all(isinstance(value, Number) or not isinstance(value, (str, bytes)) for value in values):
        return {"NS": sorted(str(value) for value in values)}
    return {"BS" if isinstance(values[0], bytes) else "SS": sorted(values)}


def value(plain):
    """The attribute value of a plain one."""
    if isinstance(plain, Raw):
        return dict(plain)
    if plain is None:
        return {"NULL": True}
    if isinstance(plain, bool):
        return {"BOOL": plain}
    if isinstance(plain, (Number, int, decimal.Decimal)):
        return {"N": str(plain)}
    if isinstance(plain, str):
        return {"S": plain}
    if isinstance(plain, bytes):
        return {"B": plain}
    if isinstance(plain, (set, frozenset)):
        return _set_of(plain)
    if isinstance(plain, list):
        return {"L": [value(inner) for inner in plain]}
    assert isinstance(plain, dict), plain
    return {"M": item(plain)}


def item(plain):
    return {name: value(inner) for name, inner in plain.items()}


def items(plain):
    return [item(one) for one in plain]


def normal(answer):
    """An answer with the members of sets in order, which theirs is not."""
    if isinstance(answer, dict):
        return {
            name: sorted(inner) if name in ("SS", "NS", "BS") and isinstance(inner, list) else normal(inner)
            for name, inner in answer.items()
        }
    if isinstance(answer, list):
        return [normal(inner) for inner in answer]
    return answer


@dataclasses.dataclass(frozen=True)
class Fails:
    """An error: its code, and what its message has in it (a regular expression)."""

    code: str
    text: str = ""

    def check(self, code, message):
        assert code == self.code, (code, message)
        assert re.search(self.text, message), (code, message, self.text)


def Invalid(text=""):  # pylint: disable=invalid-name
    return Fails("ValidationException", text)


CONDITION_FAILED = Fails("ConditionalCheckFailedException", "^The conditional request failed$")
NO_TABLE = Fails("ResourceNotFoundException")


def expressions(names=None, values=None, **rest):
    """The members of a request that any operation with expressions has."""
    request = dict(rest)
    if names is not None:
        request["ExpressionAttributeNames"] = names
    if values is not None:
        request["ExpressionAttributeValues"] = {name: value(plain) for name, plain in values.items()}
    return request


def table_request(call, **rest):
    operation, request = call
    return operation, {"TableName": TABLE, **request, **rest}


def put(what, **rest):
    return "PutItem", {"TableName": TABLE, "Item": item(what), **expressions(**rest)}


def get(key, **rest):
    return "GetItem", {"TableName": TABLE, "Key": item(key), **expressions(**rest)}


def delete(key, **rest):
    return "DeleteItem", {"TableName": TABLE, "Key": item(key), **expressions(**rest)}


def update(key, expression=None, **rest):
    if expression is not None:
        rest["UpdateExpression"] = expression
    return "UpdateItem", {"TableName": TABLE, "Key": item(key), **expressions(**rest)}


def query(condition=None, **rest):
    if condition is not None:
        rest["KeyConditionExpression"] = condition
    return "Query", {"TableName": TABLE, **expressions(**rest)}


def scan(**rest):
    return "Scan", {"TableName": TABLE, **expressions(**rest)}


def named(request, table):
    """The request with the name of the table in it."""
    if isinstance(request, dict):
        return {named(name, table): named(inner, table) for name, inner in request.items()}
    if isinstance(request, list):
        return [named(inner, table) for inner in request]
    return table if isinstance(request, str) and request == TABLE else request


def cases(rows, differs=None):
    """Parameters of pytest for rows by their names; `differs`: what others answer, by name (conftest.py)."""
    differs = differs or {}
    return [
        pytest.param(
            *(row if isinstance(row, tuple) else (row,)),
            id=name,
            marks=[pytest.mark.differs(**differs[name])] if name in differs else [],
        )
        for name, row in rows.items()
    ]
