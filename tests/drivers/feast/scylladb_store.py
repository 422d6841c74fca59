"""What Feast's ScyllaDB store does alone: it makes its keyspace, writes with the TTL of a view, and has vectors."""

import datetime

import pandas
import pytest
from cassandra import InvalidRequest
from feast import Field
from feast.types import Array, Float32

from conftest import row

NOW = datetime.datetime.now(datetime.timezone.utc)  # Feast itself looks at the age of what it reads


def trips(store, drivers):
    return store.get_online_features(features=["stats:trips"], entity_rows=[
        {"driver_id": driver} for driver in drivers]).to_dict()["trips"]


def advance(session, by):
    session.execute(f"UPDATE liststore.clock SET advance = {by} WHERE key = 'clock'")


def test_it_makes_its_keyspace(session, applied):
    found = session.execute("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = 'feast'").one()
    assert found.replication["class"] == "org.apache.cassandra.locator.NetworkTopologyStrategy"


def test_rows_go_when_the_ttl_of_their_view_is_over(session, make_store, make_view):
    store = make_store()
    store.apply(make_view(ttl=datetime.timedelta(hours=1)))
    store.write_to_online_store("stats", pandas.DataFrame([row(1000, 0, NOW), row(1001, 0, NOW)]))
    assert trips(store, [1000, 1001]) == [row(1000, 0)["trips"], row(1001, 0)["trips"]]
    advance(session, "50m")
    store.write_to_online_store("stats", pandas.DataFrame([row(1001, 0, NOW)]))
    assert {found.time_left for found in session.execute(
        "SELECT ttl(value) AS time_left FROM feast.shop_stats")} == {600, 3600}
    advance(session, "599s")
    assert trips(store, [1000, 1001]) == [row(1000, 0)["trips"], row(1001, 0)["trips"]]
    advance(session, "1s")
    assert trips(store, [1000, 1001]) == [None, row(1001, 0)["trips"]]
    advance(session, "50m")
    assert trips(store, [1000, 1001]) == [None, None]
    assert not list(session.execute("SELECT * FROM feast.shop_stats"))


def test_a_view_with_a_vector_is_refused_by_name(make_store, make_view):
    store = make_store()
    embedding = Field(name="embedding", dtype=Array(Float32), tags={"vector_index": "true", "dimensions": "4"})
    with pytest.raises(InvalidRequest, match=r"vectors \(vector<float, 4>\).*\[LS-0011\]"):
        store.apply(make_view(schema=[embedding]))
