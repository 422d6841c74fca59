"""Feast, unmodified, with the online store that LISTSTORE_FEAST_STORE names: apply, materialize, read, tear down."""

import datetime
import json
import pathlib

import pandas
import pytest
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.protos.feast.types.Value_pb2 import Value

from conftest import DRIVERS, HOURS, START, row

FEATURES = ["stats:rate", "stats:trips", "stats:places"]
# Of driver_id 1002, as Feast's document of the format has it.
KEY_OF_1002 = "0100000002000000090000006472697665725f69640400000008000000ea03000000000000"
VECTORS = pathlib.Path(__file__).resolve().parents[2] / "data/feast_entity_keys.json"


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


def test_statements_that_the_server_forgot_are_prepared_again(session, applied):
    """As behind a restart, or when a table was altered."""
    applied.write_to_online_store("stats", pandas.DataFrame([row(1000, 0)]))
    assert online(applied, [1000])["trips"] == [row(1000, 0)["trips"]]
    session.execute("ALTER TABLE feast.shop_stats WITH comment = 'altered'")
    session.execute("TRUNCATE liststore.requests")
    applied.write_to_online_store("stats", pandas.DataFrame([row(1001, 1)]))
    assert online(applied, [1000, 1001])["trips"] == [row(1000, 0)["trips"], row(1001, 1)["trips"]]
    outcomes = {found.outcome for found in session.execute("SELECT outcome FROM liststore.requests")}
    assert outcomes == {"ok", "unprepared"}


def test_push(session, applied):
    """A row that comes by itself, between two materializations."""
    applied.write_to_online_store("stats", pandas.DataFrame([row(1000, 7)]))
    found = online(applied, [1000, 1001])
    assert found["trips"] == [row(1000, 7)["trips"], None]


def value_of(case):
    if "text" in case:
        return Value(string_val=case["text"])
    if "hex" in case:
        return Value(bytes_val=bytes.fromhex(case["hex"]))
    return Value(**{f"{case['type']}_val": int(case["value"])})


@pytest.mark.parametrize("version", [2, 3])
def test_entity_keys_of_all_types(session, make_store, make_view, version):
    """What is stored for each is what Feast's sources say; the keys were recorded from another release."""
    store = make_store(version)
    store.apply(make_view())
    cases = [case for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
             if case["serialized_hex"][str(version)]]  # no join keys had no bytes, and no row
    keys = [EntityKey(join_keys=case["join_keys"], entity_values=[value_of(value) for value in case["entity_values"]])
            for case in cases]
    view = store.get_feature_view("stats")
    provider = store._get_provider()  # pylint: disable=protected-access
    provider.online_write_batch(store.config, view, [
        (key, {"trips": Value(int64_val=number)}, START, None) for number, key in enumerate(keys)], None)
    stored = {found.entity_key for found in session.execute("SELECT entity_key FROM feast.shop_stats")}
    assert stored == {case["serialized_hex"][str(version)] for case in cases}
    # Of two that differ in the order of their names alone the later write counts.
    latest = {case["serialized_hex"][str(version)]: number for number, case in enumerate(cases)}
    found = provider.online_read(store.config, view, keys, ["trips"])
    assert [values["trips"].int64_val for _, values in found] == [
        latest[case["serialized_hex"][str(version)]] for case in cases]
