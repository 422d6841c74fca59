"""Writes with IF, and counters, as the driver gives them to a service."""

import pytest
from cassandra import ConsistencyLevel, InvalidRequest
from cassandra.query import BatchStatement, BatchType, SimpleStatement

KEYSPACE = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


@pytest.fixture
def ks(session):
    session.execute(KEYSPACE)
    session.set_keyspace("ks")
    session.execute("CREATE TABLE t (p int, c int, v int, PRIMARY KEY (p, c))")
    return session


def test_was_applied(ks):
    insert = "INSERT INTO t (p, c, v) VALUES (1, 1, 10) IF NOT EXISTS"
    assert ks.execute(insert).was_applied
    again = ks.execute(insert)
    assert not again.was_applied
    row = again.one()
    assert (row.p, row.c, row.v) == (1, 1, 10)
    assert not ks.execute("UPDATE t SET v = 11 WHERE p = 1 AND c = 1 IF v = 9").was_applied
    assert ks.execute("UPDATE t SET v = 11 WHERE p = 1 AND c = 1 IF v IN (9, 10)").was_applied
    assert ks.execute("DELETE FROM t WHERE p = 1 AND c = 1 IF EXISTS").was_applied
    assert ks.execute("SELECT * FROM t").one() is None


def test_prepared_conditions_take_nulls_and_values(ks):
    update = ks.prepare("UPDATE t SET v = ? WHERE p = ? AND c = ? IF v = ?")
    assert ks.execute(update, (1, 1, 1, None)).was_applied
    assert not ks.execute(update, (2, 1, 1, None)).was_applied
    assert ks.execute(update, (2, 1, 1, 1)).was_applied
    assert ks.execute("SELECT v FROM t").one().v == 2


def test_levels_of_consistency(ks):
    update = SimpleStatement("UPDATE t SET v = 1 WHERE p = 1 AND c = 1 IF v = null",
                             serial_consistency_level=ConsistencyLevel.LOCAL_SERIAL)
    assert ks.execute(update).was_applied
    read = SimpleStatement("SELECT v FROM t WHERE p = 1", consistency_level=ConsistencyLevel.SERIAL)
    assert ks.execute(read).one().v == 1
    with pytest.raises(InvalidRequest, match="You must use conditional updates"):
        ks.execute(SimpleStatement("UPDATE t SET v = 1 WHERE p = 1 AND c = 1",
                                   consistency_level=ConsistencyLevel.SERIAL))


def test_a_batch_is_applied_whole_or_not(ks):
    insert = ks.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?) IF NOT EXISTS")
    for applied in (True, False):
        batch = BatchStatement()
        for c in range(3):
            batch.add(insert, (1, c, 10 * c))
        batch.add("INSERT INTO t (p, c, v) VALUES (1, 100, 1)")
        assert ks.execute(batch).was_applied == applied
    rows = list(ks.execute(batch))
    assert [tuple(row) for row in rows] == [
        (False, 1, 0, 0), (False, 1, 1, 10), (False, 1, 2, 20), (False, None, None, None)]
    batch.add(insert, (2, 0, 0))
    with pytest.raises(InvalidRequest, match="cannot span multiple partitions"):
        ks.execute(batch)


def test_counters(ks):
    ks.execute("CREATE TABLE n (p int PRIMARY KEY, a counter, b counter)")
    add = ks.prepare("UPDATE n SET a = a + ? WHERE p = ?")
    for i in range(10):
        ks.execute(add, (i, 1))
    batch = BatchStatement(batch_type=BatchType.COUNTER)
    batch.add(add, (100, 1))
    batch.add("UPDATE n SET b = b - 1 WHERE p = 2")
    ks.execute(batch)
    assert sorted(tuple(row) for row in ks.execute("SELECT p, a, b FROM n")) == [
        (1, 145, None), (2, None, -1)]
    with pytest.raises(InvalidRequest, match="use UPDATE instead"):
        ks.execute("INSERT INTO n (p, a) VALUES (1, 1)")
    table = ks.cluster.metadata.keyspaces["ks"].tables["n"]
    assert table.columns["a"].cql_type == "counter"
