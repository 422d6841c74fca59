"""JSON as a driver sees it: rows shown and written as objects, values one by one, and what is refused."""

import json
import uuid
from datetime import datetime
from decimal import Decimal

import pytest
from cassandra import InvalidRequest
from cassandra.cluster import NoHostAvailable
from cassandra.protocol import FunctionFailure
from cassandra.query import BatchStatement, SimpleStatement

ID = uuid.UUID("2dd2cd62-6af3-4cf6-96fc-91b9ab62eedc")


@pytest.fixture
def ks(session):
    session.execute("CREATE KEYSPACE ks WITH replication = "
                    "{'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.set_keyspace("ks")
    session.execute("CREATE TYPE person (name text, age int)")
    session.execute("CREATE TABLE t (p uuid, c int, s text static, \"Name\" text, at timestamp, d decimal, "
                    "l frozen<list<int>>, m frozen<map<int, text>>, w frozen<person>, "
                    "PRIMARY KEY (p, c))")
    return session


def rows(session, statement, parameters=None):
    """The one column of a SELECT JSON, decoded."""
    return [json.loads(row.json) for row in session.execute(statement, parameters)]


ROW = {"p": str(ID), "c": 1, "s": "shared", '"Name"': 'it\'s "x"\n\u2013', "at": "2014-01-01 12:15:45.000Z",
       "d": 1.5, "l": [3, 1], "m": {"7": "seven"}, "w": {"name": "n", "age": None}}


def test_a_row_goes_in_and_out_as_json(ks):
    ks.execute("UPDATE t SET s = 'shared' WHERE p = %s", (ID,))
    ks.execute("INSERT INTO t JSON %s", (json.dumps(ROW),))
    row = ks.execute("SELECT * FROM t").one()
    assert row.p == ID and row.s == "shared" and row.Name == 'it\'s "x"\n\u2013'
    assert row.at == datetime(2014, 1, 1, 12, 15, 45) and row.d == Decimal("1.5")
    assert row.l == [3, 1] and dict(row.m) == {7: "seven"} and row.w == ("n", None)
    assert rows(ks, "SELECT JSON * FROM t") == [ROW]
    assert rows(ks, "SELECT JSON c, \"Name\" AS name FROM t") == [{"c": 1, "name": ROW['"Name"']}]


def test_prepared_statements_know_the_text(ks):
    insert = ks.prepare("INSERT INTO t JSON ? USING TTL ?")
    assert [(column.name, column.type.typename) for column in insert.column_metadata] == [
        ("", "varchar"), ("[ttl]", "int")]
    assert not insert.routing_key_indexes
    for c in range(20):
        ks.execute(insert, (json.dumps({"p": str(ID), "c": c, "d": str(c)}), 100))
    select = ks.prepare("SELECT JSON c, d FROM t WHERE p = ?")
    assert [column[2] for column in select.result_metadata] == ["[json]"]
    found = ks.execute(select, (ID,))
    assert [json.loads(row.json) for row in found] == [{"c": c, "d": c} for c in range(20)]
    # What is not named becomes null, or stays.
    ks.execute(insert, (json.dumps({"p": str(ID), "c": 1}), 100))
    assert ks.execute("SELECT d FROM t WHERE p = %s AND c = 1", (ID,)).one().d is None
    ks.execute(ks.prepare("INSERT INTO t JSON ? DEFAULT UNSET"), (json.dumps({"p": str(ID), "c": 2}),))
    assert ks.execute("SELECT d FROM t WHERE p = %s AND c = 2", (ID,)).one().d == 2


def test_pages_batches_and_conditions(ks):
    insert = ks.prepare("INSERT INTO t JSON ?")
    batch = BatchStatement()
    for c in range(7):
        batch.add(insert, (json.dumps({"p": str(ID), "c": c}),))
    ks.execute(batch)
    statement = SimpleStatement("SELECT JSON c FROM t", fetch_size=3)
    assert rows(ks, statement) == [{"c": c} for c in range(7)]
    text = json.dumps({"p": str(ID), "c": 1, "s": "new"})
    assert not ks.execute("INSERT INTO t JSON %s IF NOT EXISTS", (text,)).one().applied
    assert rows(ks, "SELECT JSON DISTINCT p, s FROM t") == [{"p": str(ID), "s": None}]
    assert rows(ks, "SELECT JSON count(*), max(c) FROM t") == [{"count": 7, "system.max(c)": 6}]


def test_values_one_by_one(ks):
    insert = ks.prepare("INSERT INTO t (p, c, l, w) VALUES (?, ?, fromJson(?), fromJson(?))")
    assert [(column.name, column.type.typename) for column in insert.column_metadata[2:]] == [
        ("arg0(system.fromjson)", "varchar")] * 2
    ks.execute(insert, (ID, 1, "[5]", '{"age": 7}'))
    ks.execute(insert, (ID, 2, None, "null"))
    found = ks.execute("SELECT toJson(l) AS l, toJson(w) AS w FROM t").all()
    assert [(row.l, row.w) for row in found] == [
        ("[5]", '{"name": null, "age": 7}'), ("null", "null")]


def test_what_is_wrong_is_said_as_scylladb_says_it(ks, driver_log):
    with pytest.raises(FunctionFailure, match="marshal_exception .*Value 2147483648 out of range"):
        ks.execute("INSERT INTO t (p, c) VALUES (%s, fromJson('2147483648'))", (ID,))
    with pytest.raises(FunctionFailure, match="Parsing JSON failed: Invalid value. at 0") as failure:
        ks.execute("INSERT INTO t (p, c) VALUES (%s, fromJson('dog'))", (ID,))
    assert failure.value.function == "fromJson" and failure.value.keyspace == "ks"
    with pytest.raises(InvalidRequest, match="JSON values map contains unrecognized column: zzz"):
        ks.execute("INSERT INTO t JSON '{\"zzz\": 1}'")
    with pytest.raises(InvalidRequest, match="Missing mandatory PRIMARY KEY part c"):
        ks.execute("INSERT INTO t JSON %s", (json.dumps({"p": str(ID)}),))
    # A server error, which the driver tries at the next node, of which there is none.
    with pytest.raises(NoHostAvailable, match="Parsing JSON failed: Missing a name for object member"):
        ks.execute("INSERT INTO t JSON '{p: 1}'")
    driver_log.clear()
