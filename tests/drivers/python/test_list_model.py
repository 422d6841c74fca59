"""The list model, by exactly the statements that a service sends to ScyllaDB."""

import base64
import hashlib

import pytest
from cassandra.query import BatchStatement, BatchType, SimpleStatement

from conftest import create_lists

FEATURE = "user#reading_history|v1"
SECOND = 1_000_000_000
NOW = 1_724_949_845_430_000_000


def item_key(nanos, value):
    return f"{nanos:019d}#{base64.b64encode(hashlib.md5(value).digest()).decode()}"


class Lists:
    """The statements, prepared once."""

    def __init__(self, session):
        self.session = session
        self.insert = session.prepare(
            "INSERT INTO list_items (feature_key, entity_id, item_key, value) "
            "VALUES (?, ?, ?, ?) USING TTL ?")
        self.select = session.prepare(
            "SELECT value, item_key FROM list_items WHERE feature_key = ? AND entity_id = ? "
            "AND item_key >= ? ORDER BY item_key DESC LIMIT ?")
        self.by_value = session.prepare(
            "SELECT item_key FROM list_items WHERE feature_key = ? AND entity_id = ? "
            "AND value = ?")
        self.delete_all = session.prepare(
            "DELETE FROM list_items WHERE feature_key = ? AND entity_id = ?")

    def add(self, entity, items, ttl=1000):
        batch = BatchStatement(BatchType.LOGGED)
        for nanos, value in items:
            batch.add(self.insert, (FEATURE, entity, item_key(nanos, value), value, ttl))
        self.session.execute(batch)

    def get(self, entity, minimum=0, limit=100):
        rows = self.session.execute(self.select, (FEATURE, entity, f"{minimum:019d}", limit))
        return [(int(row.item_key[:19]), row.value) for row in rows]

    def remove_value(self, entity, value):
        keys = [row.item_key
                for row in self.session.execute(self.by_value, (FEATURE, entity, value))]
        for first in range(0, len(keys), 10):
            some = keys[first:first + 10]
            self.session.execute(
                "DELETE FROM list_items WHERE feature_key = %s AND entity_id = %s AND item_key IN ("
                + ", ".join(["%s"] * len(some)) + ")", (FEATURE, entity, *some))
        return len(keys)


@pytest.fixture
def model(lists):
    return Lists(lists)


def test_items_come_back_newest_first(model):
    items = [(NOW + i * SECOND, b"story-%d" % i) for i in range(20)]
    model.add("alice", items[10:])
    model.add("alice", items[:10])
    assert model.get("alice") == items[::-1]
    assert model.get("alice", limit=3) == items[:-4:-1]
    assert model.get("alice", minimum=NOW + 15 * SECOND) == items[:14:-1]
    assert model.get("bob") == []


def test_items_of_one_instant_differ_by_value(model):
    model.add("alice", [(NOW, b"a"), (NOW, b"b"), (NOW, b"a")])
    assert sorted(value for _, value in model.get("alice")) == [b"a", b"b"]


def test_a_value_is_removed_wherever_it_is(model):
    items = [(NOW + i * SECOND, b"again" if i % 2 else b"once-%d" % i) for i in range(50)]
    model.add("alice", items)
    model.add("bob", [(NOW, b"again")])
    assert model.remove_value("alice", b"again") == 25
    assert [value for _, value in model.get("alice") if value == b"again"] == []
    assert len(model.get("alice")) == 25
    assert model.remove_value("alice", b"again") == 0
    assert len(model.get("bob")) == 1


def test_a_list_is_removed_whole(model):
    model.add("alice", [(NOW + i, b"%d" % i) for i in range(30)])
    model.add("bob", [(NOW, b"x")])
    model.session.execute(model.delete_all, (FEATURE, "alice"))
    assert model.get("alice") == []
    assert len(model.get("bob")) == 1
    model.add("alice", [(NOW, b"new")])
    assert model.get("alice") == [(NOW, b"new")]


def test_a_batch_is_all_or_nothing(model):
    batch = BatchStatement(BatchType.LOGGED)
    batch.add(model.insert, (FEATURE, "alice", item_key(NOW, b"x"), b"x", 10))
    batch.add(model.insert, (FEATURE, "alice", item_key(NOW, b"y"), b"y", -1))
    with pytest.raises(Exception, match="A TTL must be greater or equal to 0"):
        model.session.execute(batch)
    assert model.get("alice") == []


def test_a_ttl_runs_out(make_server):
    server = make_server("--clock", "manual")
    with server.connect() as session:
        model = Lists(create_lists(session))
        model.add("alice", [(NOW, b"short")], ttl=60)
        model.add("alice", [(NOW + SECOND, b"long")], ttl=3600)
        model.add("alice", [(NOW + 2 * SECOND, b"forever")], ttl=0)

        def advance(seconds):
            session.execute("UPDATE liststore.clock SET advance_seconds = %s WHERE key = 'clock'",
                            (seconds,))

        advance(59)
        assert len(model.get("alice")) == 3
        left = session.execute(SimpleStatement("SELECT value, TTL(value) AS ttl FROM list_items"))
        assert {row.value: row.ttl for row in left} == {b"short": 1, b"long": 3541, b"forever": None}
        advance(1)
        assert [value for _, value in model.get("alice")] == [b"forever", b"long"]
        advance(30 * 86400)
        assert [value for _, value in model.get("alice")] == [b"forever"]


def test_token_aware_routing_knows_the_partition_key(model):
    assert model.insert.routing_key_indexes == [0, 1]
    assert model.select.routing_key_indexes == [0, 1]
