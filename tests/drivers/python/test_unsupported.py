"""An honest no, as a driver meets it: refused by name, counted, and the end of a strict run."""

import pytest
from cassandra import ConsistencyLevel, InvalidRequest
from cassandra.protocol import SyntaxException
from cassandra.query import SimpleStatement

KEYSPACE = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


def counts(session, kind):
    """Code -> count."""
    return {row.code: row.count_ for row in session.execute(
        "SELECT code, count AS count_ FROM liststore.unsupported WHERE kind = %s", (kind,))}


@pytest.fixture
def ks(session):
    session.execute(KEYSPACE)
    session.set_keyspace("ks")
    session.execute("CREATE TABLE t (p int PRIMARY KEY, v int)")
    return session


def test_a_driver_that_connects_and_works_asks_for_nothing_in_vain(ks):
    insert = ks.prepare("INSERT INTO t (p, v) VALUES (?, ?)")
    insert.consistency_level = ConsistencyLevel.ONE
    for i in range(10):
        ks.execute(insert, (i, i))
    assert ks.execute(SimpleStatement("SELECT v FROM t WHERE p = 3",
                                      consistency_level=ConsistencyLevel.ONE)).one().v == 3
    assert counts(ks, "refused") == {}
    # The level that the driver takes by itself is LOCAL_ONE.
    assert counts(ks, "no effect") == {}


def test_refusals_are_final_named_and_counted(ks, driver_log):
    with pytest.raises(InvalidRequest, match=r"liststore does not support triggers .*"
                                             r"; instead: a batch.* \[LS-0004\]"):
        ks.execute("CREATE TRIGGER w ON t USING 'org.example.Trigger'")
    with pytest.raises(InvalidRequest, match=r"\[LS-0017\]"):
        ks.prepare("SELECT * FROM t WHERE intAsBlob(p) = ?")
    driver_log.clear()  # of every PREPARE that fails the driver says so itself
    with pytest.raises(InvalidRequest, match=r"\[LS-0017\]"):
        ks.execute("SELECT * FROM t WHERE intAsBlob(p) = 0x01")
    with pytest.raises(SyntaxException):
        ks.execute("CREATE MATERIALISED VIEW w")
    assert counts(ks, "refused") == {"LS-0004": 1, "LS-0017": 2}
    row = ks.execute("SELECT * FROM liststore.unsupported WHERE kind = 'refused' AND code = "
                     "'LS-0017'").one()
    assert row.feature == "functions of columns in WHERE"
    assert row.first_statement == "SELECT * FROM t WHERE intAsBlob(p) = ?"
    assert row.instead == "filtering in the service"
    assert row.first_at is not None


def test_what_has_no_effect_is_counted_when_it_is_prepared(ks):
    select = ks.prepare("SELECT v FROM t WHERE p = ? BYPASS CACHE")
    for i in range(5):
        ks.execute(select, (i,))
    ks.execute("ALTER TABLE t WITH compaction = {'class': 'LeveledCompactionStrategy'}")
    assert counts(ks, "no effect") == {"LS-0105": 1, "LS-0116": 1}
    # Kept and shown all the same.
    table = ks.execute("DESCRIBE TABLE t").one().create_statement
    assert "LeveledCompactionStrategy" in table


def test_a_quorum_and_a_trace_are_said_to_change_nothing(ks):
    insert = ks.prepare("INSERT INTO t (p, v) VALUES (?, ?)")
    insert.consistency_level = ConsistencyLevel.LOCAL_QUORUM
    for i in range(10):
        ks.execute(insert, (i, i))
    assert counts(ks, "no effect") == {"LS-0119": 1}
    ks.execute("SELECT * FROM t", trace=True)
    assert counts(ks, "no effect") == {"LS-0118": 1, "LS-0119": 1}


@pytest.mark.parametrize("asks, status", [(True, 3), (False, 0)])
def test_a_strict_server_fails_at_its_end(make_server, asks, status):
    server = make_server("--strict")
    with server.connect() as session:
        session.execute(KEYSPACE)
        if asks:
            with pytest.raises(InvalidRequest):
                session.execute("CREATE TRIGGER x ON ks.t USING 'y'")
        assert sum(counts(session, "refused").values()) == (1 if asks else 0)
    assert server.stop() == status
