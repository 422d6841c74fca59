"""Feast, unmodified, with its Cassandra online store: apply, materialize, read, tear down."""

import datetime

import pandas
import pytest
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType
from feast.types import Array, Float64, Int64, String

from server import Server

SETTINGS = """
project: shop
registry: {folder}/registry.db
provider: local
entity_key_serialization_version: 3
offline_store:
  type: file
online_store:
  type: cassandra
  hosts: [127.0.0.1]
  port: {port}
  keyspace: feast
"""
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
HOURS = 3
DRIVERS = range(1000, 1100)
FEATURES = ["stats:rate", "stats:trips", "stats:places"]
# Of driver_id 1002, as Feast's document of the format has it.
KEY_OF_1002 = "0100000002000000090000006472697665725f69640400000008000000ea03000000000000"


def row(driver, hour):
    return {"driver_id": driver, "rate": driver / 8 + hour, "trips": 2**40 + driver * hour,
            "places": [f"place-{driver}", f"hour-{hour}"], "event_timestamp": START + datetime.timedelta(hours=hour)}


@pytest.fixture
def session(tmp_path):
    server = Server(tmp_path).start()
    with server.connect() as session:
        session.execute("CREATE KEYSPACE feast WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("TRUNCATE liststore.requests")
        (tmp_path / "feature_store.yaml").write_text(SETTINGS.format(folder=tmp_path, port=server.port))
        yield session
    server.stop()


@pytest.fixture
def applied(session, tmp_path):
    """(store, what is applied), over rows of some hours for each driver."""
    data = tmp_path / "stats.parquet"
    pandas.DataFrame([row(driver, hour) for hour in range(HOURS) for driver in DRIVERS]).to_parquet(data)
    store = FeatureStore(repo_path=str(tmp_path))
    driver = Entity(name="driver", join_keys=["driver_id"], value_type=ValueType.INT64)
    stats = FeatureView(
        name="stats", entities=[driver], ttl=datetime.timedelta(0),
        schema=[Field(name="rate", dtype=Float64), Field(name="trips", dtype=Int64),
                Field(name="places", dtype=Array(String))],
        source=FileSource(path=str(data), timestamp_field="event_timestamp"))
    store.apply([driver, stats])
    return store


def tables(session):
    return [found.table_name for found in session.execute(
        "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'feast'")]


def sent(session, op):
    return list(session.execute("SELECT op, prepared, outcome FROM liststore.requests "
                                "WHERE op = %s ALLOW FILTERING", (op,)))


def online(store, drivers):
    return store.get_online_features(
        features=FEATURES, entity_rows=[{"driver_id": driver} for driver in drivers]).to_dict()


def hours_after(hours):
    return START + datetime.timedelta(hours=hours)


def test_apply_and_teardown(session, applied):
    assert tables(session) == ["shop_stats"]
    columns = {found.column_name: (found.kind, found.type) for found in session.execute(
        "SELECT column_name, kind, type FROM system_schema.columns WHERE keyspace_name = 'feast'")}
    assert columns == {
        "entity_key": ("partition_key", "text"), "feature_name": ("clustering", "text"),
        "value": ("regular", "blob"), "event_ts": ("regular", "timestamp"),
        "created_ts": ("regular", "timestamp")}
    applied.teardown()
    assert tables(session) == []


def test_the_newest_of_what_was_materialized_comes_back(session, applied):
    for end in (1, HOURS):
        applied.materialize(START - datetime.timedelta(hours=1), hours_after(end - 0.5))
        found = online(applied, DRIVERS)
        assert found["driver_id"] == list(DRIVERS)
        for name in ("rate", "trips", "places"):
            assert found[name] == [row(driver, end - 1)[name] for driver in DRIVERS], name
    assert online(applied, [1]) == {"driver_id": [1], "rate": [None], "trips": [None], "places": [None]}


def test_what_it_sends_and_stores(session, applied):
    applied.materialize(START, hours_after(HOURS))
    stored = session.execute("SELECT feature_name, event_ts FROM feast.shop_stats WHERE entity_key = %s",
                             (KEY_OF_1002,))
    assert [(found.feature_name, found.event_ts) for found in stored] == [
        (name, hours_after(HOURS - 1).replace(tzinfo=None)) for name in ("places", "rate", "trips")]
    writes = sent(session, "INSERT") + sent(session, "BATCH")
    assert writes and all((write.prepared, write.outcome) == (True, "ok") for write in writes)
    session.execute("TRUNCATE liststore.requests")
    online(applied, DRIVERS)
    reads = sent(session, "SELECT")
    assert len(reads) == len(DRIVERS), "one for each entity"
    assert all((read.prepared, read.outcome) == (True, "ok") for read in reads)
    assert not list(session.execute("SELECT * FROM liststore.unsupported WHERE kind = 'refused'"))


def test_push(session, applied):
    """A row that comes by itself, between two materializations."""
    applied.write_to_online_store("stats", pandas.DataFrame([row(1000, 7)]))
    found = online(applied, [1000, 1001])
    assert found["trips"] == [row(1000, 7)["trips"], None]
