"""A liststore server with a clock that stands, and Feast stores on it."""

import datetime
import os

import pandas
import pytest
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType
from feast.types import Array, Float64, Int64, String

from server import Server

STORE = os.environ["LISTSTORE_FEAST_STORE"]
SETTINGS = """
project: shop
registry: {folder}/registry.db
provider: local
entity_key_serialization_version: {version}
offline_store:
  type: file
online_store:
  type: {store}
  hosts: [127.0.0.1]
  port: {port}
  keyspace: feast
"""
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
HOURS = 3
DRIVERS = range(1000, 1100)


def row(driver, hour, start=START):
    return {"driver_id": driver, "rate": driver / 8 + hour, "trips": 2**40 + driver * hour,
            "places": [f"place-{driver}", f"hour-{hour}"], "event_timestamp": start + datetime.timedelta(hours=hour)}


@pytest.fixture
def session(tmp_path):
    """To look at the server, which counts what it is asked from here on."""
    server = Server(tmp_path, "--clock", "manual").start()
    with server.connect() as session:
        if STORE == "cassandra":  # the other makes its keyspace itself
            session.execute("CREATE KEYSPACE feast WITH replication = "
                            "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("TRUNCATE liststore.requests")
        yield session
    server.stop()


@pytest.fixture
def make_store(session, tmp_path, monkeypatch):
    """make_store(): a store without features; `version` is that of the entity keys."""
    def make(version=3):
        (tmp_path / "feature_store.yaml").write_text(
            SETTINGS.format(folder=tmp_path, version=version, store=STORE, port=session.cluster.port))
        store = FeatureStore(repo_path=str(tmp_path))
        # Statements are remembered in the class, and those of another server's are unknown to this one.
        kind = type(store._get_provider().online_store)  # pylint: disable=protected-access
        monkeypatch.setattr(kind, "_prepared_statements", {})
        return store
    return make


@pytest.fixture
def make_view(tmp_path):
    """make_view(): an entity and a view, over rows of some hours for each driver."""
    def make(**options):
        data = tmp_path / "stats.parquet"
        pandas.DataFrame([row(driver, hour) for hour in range(HOURS) for driver in DRIVERS]).to_parquet(data)
        driver = Entity(name="driver", join_keys=["driver_id"], value_type=ValueType.INT64)
        options = {"ttl": datetime.timedelta(0), "schema": [
            Field(name="rate", dtype=Float64), Field(name="trips", dtype=Int64),
            Field(name="places", dtype=Array(String))]} | options
        return [driver, FeatureView(name="stats", entities=[driver], **options, source=FileSource(
            path=str(data), timestamp_field="event_timestamp"))]
    return make


@pytest.fixture
def applied(make_store, make_view):
    """A store with that view."""
    store = make_store()
    store.apply(make_view())
    return store
