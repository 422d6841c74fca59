"""Materialized views: read by another key, up to date when a write is answered, known to the driver."""

import pytest
from cassandra import InvalidRequest
from cassandra.query import BatchStatement

KEYSPACE = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
VIEW = ("CREATE MATERIALIZED VIEW by_item AS SELECT * FROM clicks WHERE item IS NOT NULL AND user IS NOT NULL "
        "AND ts IS NOT NULL PRIMARY KEY (item, ts, user) WITH CLUSTERING ORDER BY (ts DESC, user ASC)")


@pytest.fixture
def ks(session):
    session.execute(KEYSPACE)
    session.set_keyspace("ks")
    session.execute("CREATE TABLE clicks (user text, ts int, item int, PRIMARY KEY (user, ts))")
    return session


def rows(session, statement, values=None):
    return [tuple(row) for row in session.execute(statement, values)]


def test_a_view_follows_what_prepared_statements_write(ks):
    insert = ks.prepare("INSERT INTO clicks (user, ts, item) VALUES (?, ?, ?)")
    ks.execute(insert, ("ann", 1, 7))
    ks.execute(VIEW)
    ks.execute(insert, ("bob", 2, 7))  # prepared before there was a view
    newest = ks.prepare("SELECT user, ts FROM by_item WHERE item = ?")
    assert rows(ks, newest, (7,)) == [("bob", 2), ("ann", 1)]
    batch = BatchStatement()
    batch.add(insert, ("ann", 1, 8))
    batch.add(insert, ("ann", 3, 7))
    ks.execute(batch)
    assert rows(ks, newest, (7,)) == [("ann", 3), ("bob", 2)]
    assert ks.execute("UPDATE clicks SET item = 9 WHERE user = 'bob' AND ts = 2 IF item = 7").one().applied
    assert rows(ks, newest, (7,)) == [("ann", 3)]
    assert rows(ks, newest, (9,)) == [("bob", 2)]
    ks.execute("DELETE FROM clicks WHERE user = 'ann'")
    assert rows(ks, "SELECT item FROM by_item") == [(9,)]


def test_pages(ks):
    ks.execute(VIEW)
    insert = ks.prepare("INSERT INTO clicks (user, ts, item) VALUES (?, ?, ?)")
    for ts in range(100):
        ks.execute(insert, ("ann", ts, 1))
    ks.default_fetch_size = 9
    assert [row.ts for row in ks.execute("SELECT ts FROM by_item WHERE item = 1")] == list(range(99, -1, -1))


def test_the_driver_knows_views(ks):
    ks.execute(VIEW)
    metadata = ks.cluster.metadata.keyspaces["ks"]
    view = metadata.views["by_item"]
    assert view.base_table_name == "clicks" and view.include_all_columns
    assert [column.name for column in view.partition_key + view.clustering_key] == ["item", "ts", "user"]
    assert "by_item" not in metadata.tables and "by_item" in metadata.tables["clicks"].views
    ks.execute("DROP MATERIALIZED VIEW by_item")
    ks.execute(view.as_cql_query())  # what the driver writes down makes the view again
    assert "by_item" in ks.cluster.metadata.keyspaces["ks"].views
    ks.execute("ALTER TABLE clicks ADD place text")
    ks.cluster.refresh_schema_metadata()  # of the view an event tells it, some time later
    assert "place" in ks.cluster.metadata.keyspaces["ks"].views["by_item"].columns
    ks.execute("DROP KEYSPACE ks")
    assert "ks" not in ks.cluster.metadata.keyspaces


def test_views_are_not_written(ks):
    ks.execute(VIEW)
    with pytest.raises(InvalidRequest, match="Cannot directly modify a materialized view"):
        ks.execute("DELETE FROM by_item WHERE item = 1")
    with pytest.raises(InvalidRequest, match="materialized views still depend on it"):
        ks.execute("DROP TABLE clicks")
