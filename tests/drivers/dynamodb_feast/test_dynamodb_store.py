"""Feast, unmodified, with its DynamoDB online store: apply, materialize, read, update, tear down; sync and async."""

import asyncio
import datetime
import json
import pathlib

import pandas
import pytest
from feast import Entity, FeatureStore, FeatureView, Field, FileSource, ValueType
from feast.infra.online_stores.dynamodb import DynamoDBOnlineStore
from feast.protos.feast.types.EntityKey_pb2 import EntityKey
from feast.protos.feast.types.Value_pb2 import StringList, Value
from feast.types import Array, Float64, Int64, String

import endpoint

SETTINGS = """
project: shop
registry: {folder}/registry.db
provider: local
entity_key_serialization_version: 3
offline_store:
  type: file
online_store:
  type: dynamodb
  region: us-east-1
  endpoint_url: {url}
  consistent_reads: {consistent}
  warmup_connections: true
  tags: {tags}
"""
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
HOURS = 3
DRIVERS = range(1000, 1130)  # more than one batch of reads
FEATURES = ["stats:rate", "stats:trips", "stats:places"]
ID_OF_1002 = "1c2e07235588d781baea24f146ff4a77"
VECTORS = pathlib.Path(__file__).resolve().parents[2] / "data/feast_entity_keys.json"


def row(driver, hour):
    return {
        "driver_id": driver,
        "rate": driver / 8 + hour,
        "trips": 2**40 + driver * hour,
        "places": [f"place-{driver}", f"hour-{hour}"],
        "event_timestamp": START + datetime.timedelta(hours=hour),
    }


def hours_after(hours):
    return START + datetime.timedelta(hours=hours)


@pytest.fixture(scope="session")
def url():
    with endpoint.opened() as address:
        yield address


@pytest.fixture
def client(url):
    return endpoint.connect(url)


@pytest.fixture
def make_store(url, tmp_path, monkeypatch):
    """make_store(tags): a store whose tables are gone after the test."""
    for name, text in (
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, text)
    made = []

    def make(tags=None, consistent=False):
        (tmp_path / "feature_store.yaml").write_text(
            SETTINGS.format(folder=tmp_path, url=url, tags=json.dumps(tags or {}), consistent=str(consistent).lower())
        )
        # Clients are remembered in the class.
        monkeypatch.setattr(DynamoDBOnlineStore, "_dynamodb_client", None)
        monkeypatch.setattr(DynamoDBOnlineStore, "_dynamodb_resource", None)
        made.append(FeatureStore(repo_path=str(tmp_path)))
        return made[-1]

    yield make
    if made:
        made[-1].teardown()


@pytest.fixture
def view(tmp_path):
    """An entity and a view, over rows of some hours for each driver."""
    data = tmp_path / "stats.parquet"
    pandas.DataFrame([row(driver, hour) for hour in range(HOURS) for driver in DRIVERS]).to_parquet(data)
    driver = Entity(name="driver", join_keys=["driver_id"], value_type=ValueType.INT64)
    return [
        driver,
        FeatureView(
            name="stats",
            entities=[driver],
            ttl=datetime.timedelta(0),
            schema=[
                Field(name="rate", dtype=Float64),
                Field(name="trips", dtype=Int64),
                Field(name="places", dtype=Array(String)),
            ],
            source=FileSource(path=str(data), timestamp_field="event_timestamp"),
        ),
    ]


@pytest.fixture
def applied(make_store, view):
    store = make_store()
    store.apply(view)
    return store


def online(store, drivers):
    return store.get_online_features(
        features=FEATURES, entity_rows=[{"driver_id": driver} for driver in drivers]
    ).to_dict()


def tables(client):
    """Of the store, whoever else is at the endpoint."""
    return [name for name in endpoint.call(client, "", "ListTables", {})["TableNames"] if name.startswith("shop.")]


def tags(client):
    arn = endpoint.call(client, "", "DescribeTable", {"TableName": "shop.stats"})["Table"]["TableArn"]
    return {
        tag["Key"]: tag["Value"]
        for tag in endpoint.call(client, "", "ListTagsOfResource", {"ResourceArn": arn})["Tags"]
    }


def test_apply_and_teardown(client, applied, view):
    assert tables(client) == ["shop.stats"]
    applied.apply(view)
    assert tables(client) == ["shop.stats"]
    applied.teardown()
    assert tables(client) == []
    applied.teardown()


def test_view_that_is_deleted(client, applied, view):
    applied.apply(view[:1], objects_to_delete=view[1:], partial=False)
    assert tables(client) == []


def test_tags(client, make_store, view):
    make_store({"team": "lists", "stage": "test"}).apply(view)
    assert tags(client) == {"team": "lists", "stage": "test"}
    make_store({"team": "rows"}).apply(view)
    assert tags(client) == {"team": "rows"}
    make_store().apply(view)
    assert tags(client) == {}


@pytest.mark.parametrize("consistent", [False, True])
def test_the_newest_of_what_was_materialized_comes_back(make_store, view, consistent):
    store = make_store(consistent=consistent)
    store.apply(view)
    for end in (1, HOURS):
        store.materialize(START - datetime.timedelta(hours=1), hours_after(end - 0.5))
        found = online(store, DRIVERS)
        assert found["driver_id"] == list(DRIVERS)
        for name in ("rate", "trips", "places"):
            assert found[name] == [row(driver, end - 1)[name] for driver in DRIVERS], name
    assert online(store, [1]) == {"driver_id": [1], "rate": [None], "trips": [None], "places": [None]}
    assert online(store, [1000, 1, 1001])["trips"] == [row(1000, 2)["trips"], None, row(1001, 2)["trips"]]


def test_what_is_stored(client, applied):
    applied.materialize(START, hours_after(HOURS))
    found = endpoint.call(
        client, "shop.stats", "GetItem", {"TableName": "shop.stats", "Key": {"entity_id": {"S": ID_OF_1002}}}
    )["Item"]
    assert found["event_ts"] == {"S": str(hours_after(HOURS - 1))}
    assert set(found) == {"entity_id", "event_ts", "values"}
    assert {name: Value.FromString(value["B"]) for name, value in found["values"]["M"].items()} == {
        "rate": Value(double_val=row(1002, 2)["rate"]),
        "trips": Value(int64_val=row(1002, 2)["trips"]),
        "places": Value(string_list_val=StringList(val=row(1002, 2)["places"])),
    }
    assert endpoint.call(client, "shop.stats", "Scan", {"TableName": "shop.stats", "Select": "COUNT"})["Count"] == len(
        DRIVERS
    )


def test_push(applied):
    """A row that comes by itself, between two materializations."""
    applied.write_to_online_store("stats", pandas.DataFrame([row(1000, 7)]))
    assert online(applied, [1000, 1001])["trips"] == [row(1000, 7)["trips"], None]


def key_of(driver):
    return EntityKey(join_keys=["driver_id"], entity_values=[Value(int64_val=driver)])


def test_async(applied):
    """With the pool warmed up, as the feature server does."""

    async def run():
        await applied.initialize()
        try:
            await applied.write_to_online_store_async("stats", pandas.DataFrame([row(driver, 5) for driver in DRIVERS]))
            return await applied.get_online_features_async(
                features=FEATURES, entity_rows=[{"driver_id": driver} for driver in [*DRIVERS, 1]]
            )
        finally:
            await applied.close()

    found = asyncio.run(run()).to_dict()
    for name in ("rate", "trips", "places"):
        assert found[name] == [row(driver, 5)[name] for driver in DRIVERS] + [None], name


def updates(places, trips):
    return [
        (
            key_of(1000),
            {"places": Value(string_list_val=StringList(val=places)), "trips": Value(int64_val=trips)},
            START,
            None,
        )
    ]


APPEND, PREPEND = {"places": "list_append(places, :new_val)"}, {"places": "list_append(:new_val, places)"}


def test_updates_of_lists(applied):
    """UpdateItem with paths into the map of values."""
    store, view = applied._get_provider().online_store, applied.get_feature_view(
        "stats"
    )  # pylint: disable=protected-access
    store.update_online_store(applied.config, view, updates(["a"], 1), APPEND)
    store.update_online_store(applied.config, view, updates(["b"], 2), APPEND)
    store.update_online_store(applied.config, view, updates(["c"], 3), PREPEND)
    found = online(applied, [1000])
    assert (found["places"], found["trips"], found["rate"]) == ([["c", "a", "b"]], [3], [None])


def test_updates_of_lists_async(applied):
    store, view = applied._get_provider().online_store, applied.get_feature_view(
        "stats"
    )  # pylint: disable=protected-access

    async def run():
        try:
            for number, (places, how) in enumerate(((["a"], APPEND), (["b"], APPEND), (["c"], PREPEND))):
                await store.update_online_store_async(applied.config, view, updates(places, number), how)
        finally:
            await store.close()

    asyncio.run(run())
    found = online(applied, [1000])
    assert (found["places"], found["trips"]) == ([["c", "a", "b"]], [2])


def value_of(case):
    if "text" in case:
        return Value(string_val=case["text"])
    if "hex" in case:
        return Value(bytes_val=bytes.fromhex(case["hex"]))
    return Value(**{f"{case['type']}_val": int(case["value"])})


def test_entity_keys_of_all_types(applied):
    cases = [case for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"] if case["serialized_hex"]["3"]]
    keys = [
        EntityKey(join_keys=case["join_keys"], entity_values=[value_of(value) for value in case["entity_values"]])
        for case in cases
    ]
    view, provider = applied.get_feature_view("stats"), applied._get_provider()  # pylint: disable=protected-access
    provider.online_write_batch(
        applied.config,
        view,
        [
            (key, {"trips": Value(int64_val=number)}, START + datetime.timedelta(seconds=number), None)
            for number, key in enumerate(keys)
        ],
        None,
    )
    latest = {case["serialized_hex"]["3"]: number for number, case in enumerate(cases)}
    # One by one: some are of one entity, whose key may be asked for once in a request.
    found = [provider.online_read(applied.config, view, [key], ["trips"])[0][1] for key in keys]
    assert [values["trips"].int64_val for values in found] == [latest[case["serialized_hex"]["3"]] for case in cases]
