"""What the code under test has sent: liststore.requests, as a test asks it through the driver."""

import pytest
from cassandra import ConsistencyLevel, InvalidRequest
from cassandra.query import BatchStatement, SimpleStatement

KEYSPACE = "CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


@pytest.fixture
def feat(session):
    session.execute(KEYSPACE)
    session.set_keyspace("feat")
    session.execute("CREATE TABLE clicks (user text, at int, page text, PRIMARY KEY (user, at))")
    session.execute("CREATE TABLE other (k int PRIMARY KEY)")
    session.execute("TRUNCATE liststore.requests")
    return session


def requests(session, table="feat.clicks"):
    return list(session.execute(
        "SELECT * FROM liststore.requests WHERE tbl = %s ALLOW FILTERING", (table,)))


def test_a_test_sees_what_its_code_has_sent(feat):
    insert = feat.prepare("INSERT INTO clicks (user, at, page) VALUES (?, ?, ?)")
    insert.consistency_level = ConsistencyLevel.LOCAL_QUORUM
    feat.execute(insert, ("u1", 7, "it's"))
    feat.execute("INSERT INTO other (k) VALUES (1)")
    feat.execute(SimpleStatement("SELECT page FROM clicks WHERE user = %s", fetch_size=10), ("u1",))
    prepare, written, read = requests(feat)
    assert (prepare.op, prepare.values, prepare.consistency) == ("PREPARE", None, None)
    assert (written.op, written.key, written.prepared) == ("INSERT", "u1", True)
    assert written.values == ["'u1'", "7", "'it''s'"]
    assert (written.consistency, written.outcome) == ("LOCAL_QUORUM", "ok")
    assert written.timestamp > 0  # the driver stamps by itself
    assert (read.op, read.key, read.prepared, read.page_size) == ("SELECT", "u1", False, 10)
    assert read.statement == "SELECT page FROM clicks WHERE user = 'u1'"
    assert prepare.seq < written.seq < read.seq
    assert "Python" in written.driver and written.client.startswith("127.0.0.1:")
    assert [row.op for row in requests(feat, "feat.other")] == ["INSERT"]


def test_errors_and_batches_are_there_too(feat):
    with pytest.raises(InvalidRequest):
        feat.execute("SELECT nothing FROM clicks")
    batch = BatchStatement(consistency_level=ConsistencyLevel.ONE)
    batch.add("DELETE FROM clicks WHERE user = 'u2'")
    batch.add(SimpleStatement("INSERT INTO clicks (user, at) VALUES (%s, %s)"), ("u2", 1))
    feat.execute(batch)
    failed, batched = requests(feat)
    assert failed.outcome == "invalid" and "nothing" in failed.error
    assert (batched.op, batched.key, batched.outcome) == ("BATCH", "u2", "ok")
    assert batched.statement.count("; ") == 1


def test_it_is_emptied_and_says_what_it_dropped(feat):
    feat.execute("UPDATE liststore.journal SET capacity = 5 WHERE key = 'journal'")
    for k in range(8):
        feat.execute("SELECT * FROM clicks WHERE user = %s", (str(k),))
    assert [row.key for row in requests(feat)] == ["3", "4", "5", "6", "7"]
    counts = feat.execute("SELECT * FROM liststore.journal").one()
    assert (counts.recorded, counts.kept, counts.dropped) == (8, 5, 3)
    feat.execute("TRUNCATE liststore.requests")
    assert requests(feat) == []


def test_a_server_without_a_journal_records_nothing(make_server):
    with make_server("--journal", "0").connect() as session:
        session.execute(KEYSPACE)
        assert list(session.execute("SELECT * FROM liststore.requests")) == []
        assert not session.execute("SELECT enabled FROM liststore.journal").one().enabled
