"""Static columns: one value for all rows of a partition, and for a partition without rows."""

import pytest
from cassandra import InvalidRequest
from cassandra.query import BatchStatement, SimpleStatement

KEYSPACE = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


@pytest.fixture
def ks(session):
    session.execute(KEYSPACE)
    session.set_keyspace("ks")
    session.execute("CREATE TABLE t (p int, c int, s text STATIC, r int STATIC, v int, PRIMARY KEY (p, c))")
    return session


def rows(session, statement):
    return [tuple(row) for row in session.execute(statement)]


def test_every_row_carries_what_its_partition_says_once(ks):
    insert = ks.prepare("INSERT INTO t (p, c, s, v) VALUES (?, ?, ?, ?)")
    for c in range(3):
        ks.execute(insert, (1, c, f"of {c}", c * 10))
    ks.execute("UPDATE t SET r = 7 WHERE p = 1")
    assert rows(ks, "SELECT p, c, s, r, v FROM t WHERE p = 1") == [
        (1, 0, "of 2", 7, 0), (1, 1, "of 2", 7, 10), (1, 2, "of 2", 7, 20)]
    assert rows(ks, "SELECT * FROM t WHERE p = 1 AND c = 1") == [(1, 1, 7, "of 2", 10)]
    assert rows(ks, "SELECT s FROM t WHERE p = 1") == [("of 2",)] * 3
    assert rows(ks, "SELECT DISTINCT p, r FROM t") == [(1, 7)]
    assert rows(ks, "SELECT c FROM t WHERE s = 'of 2' AND v > 0 ALLOW FILTERING") == [(1,), (2,)]
    ks.execute("DELETE FROM t WHERE p = 1 AND c >= 1")
    assert rows(ks, "SELECT c, s FROM t WHERE p = 1") == [(0, "of 2")]
    ks.execute("DELETE s, v FROM t WHERE p = 1 AND c = 0")
    assert rows(ks, "SELECT c, s, r, v FROM t WHERE p = 1") == [(0, None, 7, None)]
    ks.execute("DELETE FROM t WHERE p = 1")
    assert rows(ks, "SELECT * FROM t") == []


def test_a_partition_without_rows_answers_for_itself(ks):
    ks.execute("INSERT INTO t (p, s) VALUES (1, 'alone')")
    assert rows(ks, "SELECT p, c, s, v FROM t WHERE p = 1") == [(1, None, "alone", None)]
    assert rows(ks, "SELECT v FROM t WHERE p = 1") == [(None,)]
    assert rows(ks, "SELECT count(*), count(v), count(s) FROM t") == [(1, 0, 1)]
    assert rows(ks, "SELECT DISTINCT p, s FROM t") == [(1, "alone")]
    for nothing in ["SELECT * FROM t WHERE p = 1 AND c = 2", "SELECT * FROM t WHERE p = 1 AND c > 2",
                    "SELECT * FROM t WHERE p = 1 AND v = 2 ALLOW FILTERING"]:
        assert rows(ks, nothing) == [], nothing
    ks.execute("INSERT INTO t (p, c) VALUES (1, 5)")
    assert rows(ks, "SELECT c, s FROM t WHERE p = 1") == [(5, "alone")]


def test_pages_bring_static_values_along(ks):
    batch = BatchStatement()
    for p in range(10):
        batch.add(SimpleStatement(f"INSERT INTO t (p, s) VALUES ({p}, 'of {p}')"))
        for c in range(p % 4):
            batch.add(SimpleStatement(f"INSERT INTO t (p, c, v) VALUES ({p}, {c}, {c})"))
    ks.execute(batch)
    whole = rows(ks, "SELECT p, c, s FROM t")
    assert len(whole) == sum(max(p % 4, 1) for p in range(10))
    assert all(s == f"of {p}" for p, c, s in whole)
    assert sorted(p for p, c, s in whole if c is None) == [0, 4, 8]
    for size in (1, 2, 3, 7):
        assert rows(ks, SimpleStatement("SELECT p, c, s FROM t", fetch_size=size)) == whole


def test_static_values_have_times_of_their_own(ks):
    ks.execute("INSERT INTO t (p, c, v) VALUES (1, 2, 3) USING TIMESTAMP 5")
    ks.execute("UPDATE t USING TIMESTAMP 6 AND TTL 1000 SET s = 'x' WHERE p = 1")
    ks.execute("UPDATE t USING TIMESTAMP 4 SET s = 'older' WHERE p = 1")
    (c, s, v_time, s_time, ttl), = rows(
        ks, "SELECT c, s, writetime(v), writetime(s), ttl(s) FROM t WHERE p = 1")
    assert (c, s, v_time, s_time) == (2, "x", 5, 6)
    assert 0 < ttl <= 1000


def test_a_star_brings_static_columns_before_regular_ones(ks):
    ks.execute("ALTER TABLE t ADD a int")
    ks.execute("INSERT INTO t (p, c, s, r, v, a) VALUES (1, 2, 'of 1', 7, 10, 11)")
    row = ks.execute("SELECT * FROM t").one()
    assert row._fields == ("p", "c", "r", "s", "a", "v") and tuple(row) == (1, 2, 7, "of 1", 11, 10)


def test_conditions_on_static_columns_need_no_row(ks):
    take = ks.prepare("UPDATE t SET s = ? WHERE p = ? IF s = ?")
    assert ks.execute(take, ("mine", 1, None)).was_applied
    refused = ks.execute(take, ("yours", 1, None))
    assert not refused.was_applied and refused.one().s == "mine"
    assert ks.execute("UPDATE t SET v = 1 WHERE p = 1 AND c = 2 IF s = 'mine'").was_applied
    assert rows(ks, "SELECT c, s, v FROM t WHERE p = 1") == [(2, "mine", 1)]


def test_the_schema_says_static(ks):
    assert "    s text static" in ks.execute("DESCRIBE TABLE t").one().create_statement.lower()
    kinds = rows(ks, "SELECT column_name, kind, position FROM system_schema.columns "
                     "WHERE keyspace_name = 'ks' AND table_name = 't'")
    assert ("s", "static", -1) in kinds and ("v", "regular", -1) in kinds
    ks.execute("INSERT INTO t (p, c, s, v) VALUES (1, 2, 'kept', 3)")
    ks.execute("ALTER TABLE t ADD q int STATIC")
    ks.execute("UPDATE t SET q = 9 WHERE p = 1")
    ks.execute("ALTER TABLE t DROP r")
    assert rows(ks, "SELECT * FROM t") == [(1, 2, 9, "kept", 3)]
    ks.execute("ALTER TABLE t DROP s")
    assert rows(ks, "SELECT * FROM t") == [(1, 2, 9, 3)]
    metadata = ks.cluster.metadata.keyspaces["ks"].tables["t"]
    assert metadata.columns["q"].is_static and not metadata.columns["v"].is_static


def test_refusals(ks):
    for statement, words in [
            ("UPDATE t SET s = 'x' WHERE p = 1 AND c = 2",
             "Invalid restrictions on clustering columns since the UPDATE statement modifies only static columns"),
            ("SELECT s FROM t WHERE p = 1 AND c = 2",
             "Cannot restrict clustering columns when selecting only static columns"),
            ("CREATE TABLE u (p int PRIMARY KEY, s int STATIC)", "Static columns are only useful"),
            ("CREATE INDEX ON t ((p), s)", "Local indexes containing static columns are not supported")]:
        with pytest.raises(InvalidRequest, match=words):
            ks.execute(statement)
