"""What drivers do beyond the list model: types, paging, many requests at once, errors, metadata."""

import datetime
import decimal
import ipaddress
import uuid

import pytest
from cassandra import AlreadyExists, ConsistencyLevel, InvalidRequest, WriteFailure
from cassandra.cluster import NoHostAvailable
from cassandra.protocol import ConfigurationException, SyntaxException
from cassandra.query import SimpleStatement, UNSET_VALUE
from cassandra.util import Date, Duration, Time

KEYSPACE = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


@pytest.fixture
def ks(session):
    session.execute(KEYSPACE)
    session.set_keyspace("ks")
    return session


def test_every_page_size_gives_the_same_rows(ks):
    ks.execute("CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))")
    insert = ks.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, ?)")
    futures = [ks.execute_async(insert, (i % 7, i, f"value {i}")) for i in range(10_000)]
    for future in futures:
        future.result()
    unpaged = list(ks.execute(SimpleStatement("SELECT p, c, v FROM t", fetch_size=0)))
    assert len(unpaged) == 10_000
    for fetch_size in (100, 999, 5000):
        paged = list(ks.execute(SimpleStatement("SELECT p, c, v FROM t", fetch_size=fetch_size)))
        assert paged == unpaged, fetch_size
    one = [row.c for row in ks.execute(SimpleStatement(
        "SELECT c FROM t WHERE p = 3 ORDER BY c DESC LIMIT 1234", fetch_size=100))]
    assert one == sorted((i for i in range(10_000) if i % 7 == 3), reverse=True)[:1234]
    assert ks.execute("SELECT COUNT(*) FROM t").one()[0] == 10_000


def test_a_thousand_requests_in_flight(ks):
    ks.execute("CREATE TABLE t (p int PRIMARY KEY, v int)")
    insert = ks.prepare("INSERT INTO t (p, v) VALUES (?, ?)")
    select = ks.prepare("SELECT v FROM t WHERE p = ?")
    for future in [ks.execute_async(insert, (i, i * i)) for i in range(1000)]:
        future.result()
    futures = [ks.execute_async(select, (i,)) for i in range(1000)]
    assert [future.result().one().v for future in futures] == [i * i for i in range(1000)]


TYPES = {
    "ascii": "plain", "bigint": -2**63, "blob": b"\x00\xff", "boolean": True,
    "date": Date("2024-02-29"), "decimal": decimal.Decimal("-123.4500"), "double": 1e300,
    "duration": Duration(14, 3, 5_000_000_000), "float": 0.5,
    "inet": "2001:db8::1", "int": 2**31 - 1, "smallint": -32768, "text": "größer\u2028",
    "time": Time("23:59:59.999999999"), "timestamp": datetime.datetime(2024, 2, 29, 12, 30, 1, 5000),
    "timeuuid": uuid.UUID("c5e8f3d4-5c5e-11ef-9a1e-0242ac120002"), "tinyint": -128,
    "uuid": uuid.UUID(int=2**128 - 1), "varint": -2**200, "varchar": "",
}


def test_every_native_type_there_and_back(ks):
    columns = ", ".join(f"c_{name} {name}" for name in TYPES)
    ks.execute(f"CREATE TABLE t (p int PRIMARY KEY, {columns})")
    names = [f"c_{name}" for name in TYPES]
    insert = ks.prepare(f"INSERT INTO t (p, {', '.join(names)}) VALUES (?{', ?' * len(names)})")
    ks.execute(insert, (1, *TYPES.values()))
    ks.execute(insert, (2, *[None] * len(names)))
    ks.execute(insert, (3, *[UNSET_VALUE] * len(names)))
    row = ks.execute("SELECT * FROM t WHERE p = 1").one()
    for name, value in TYPES.items():
        stored = getattr(row, f"c_{name}")
        assert stored == value, name
    for key in (2, 3):
        row = ks.execute("SELECT * FROM t WHERE p = %s", (key,)).one()
        assert all(value is None for name, value in row._asdict().items() if name != "p")
    # Once more as literals, the way that the driver writes values into the text.
    simple = {name: value for name, value in TYPES.items() if name not in ("duration",)}
    ks.execute(f"INSERT INTO t (p, {', '.join('c_' + name for name in simple)}) "
               f"VALUES (4{', %s' * len(simple)})",
               [ipaddress.ip_address(v) if k == "inet" else v for k, v in simple.items()])
    row = ks.execute("SELECT * FROM t WHERE p = 4").one()
    for name, value in simple.items():
        assert getattr(row, f"c_{name}") == value, name


@pytest.mark.parametrize("name", [n for n in TYPES if n not in ("duration",)])
def test_every_key_type_orders_and_finds(ks, name):
    ks.execute(f"CREATE TABLE t (p {name}, c {name}, v int, PRIMARY KEY (p, c))")
    value = TYPES[name] or "x"
    ks.execute(ks.prepare("INSERT INTO t (p, c, v) VALUES (?, ?, 7)"), (value, value))
    select = ks.prepare("SELECT v FROM t WHERE p = ? AND c >= ?")
    assert ks.execute(select, (value, value)).one().v == 7


def test_errors_have_their_classes(ks):
    ks.execute("CREATE TABLE t (p int PRIMARY KEY, v int)")
    with pytest.raises(SyntaxException, match="line 1:"):
        ks.execute("SELEC * FROM t")
    with pytest.raises(InvalidRequest, match="unconfigured table nothing"):
        ks.execute("SELECT * FROM nothing")
    with pytest.raises(InvalidRequest, match="Unrecognized name x"):
        ks.execute("SELECT x FROM t")
    with pytest.raises(InvalidRequest, match="ALLOW FILTERING"):
        ks.execute("SELECT * FROM t WHERE v = 1")
    with pytest.raises(AlreadyExists) as exists:
        ks.execute(KEYSPACE)
    assert exists.value.keyspace == "ks"
    with pytest.raises(AlreadyExists) as exists:
        ks.execute("CREATE TABLE t (p int PRIMARY KEY)")
    assert exists.value.table == "t"
    with pytest.raises(ConfigurationException):
        ks.execute("DROP KEYSPACE other")
    with pytest.raises(InvalidRequest, match="liststore does not support"):
        ks.execute("ALTER TABLE t WITH cdc = {'enabled': true}")
    with pytest.raises(InvalidRequest, match="only supported for writes"):
        ks.execute(SimpleStatement("SELECT * FROM t", consistency_level=ConsistencyLevel.ANY))


def test_a_write_past_the_memory_limit_fails_clearly(make_server):
    server = make_server("--memory-limit", "64M")
    with server.connect() as session:
        session.execute(KEYSPACE)
        session.set_keyspace("ks")
        session.execute("CREATE TABLE t (p int PRIMARY KEY, v blob)")
        insert = session.prepare("INSERT INTO t (p, v) VALUES (?, ?)")
        stored = 0
        with pytest.raises((WriteFailure, NoHostAvailable), match="memory limit"):
            for stored in range(1000):
                session.execute(insert, (stored, b"x" * 100_000))
        assert stored > 50
        assert session.execute("SELECT COUNT(*) FROM t").one()[0] == stored


def test_metadata_is_what_was_created(lists):
    table = lists.cluster.metadata.keyspaces["feature_store"].tables["list_items"]
    assert [column.name for column in table.partition_key] == ["feature_key", "entity_id"]
    assert [column.name for column in table.clustering_key] == ["item_key"]
    assert table.columns["value"].cql_type == "blob"
    assert "list_items_by_value" in table.indexes
    exported = lists.cluster.metadata.keyspaces["feature_store"].export_as_string()
    assert "CLUSTERING ORDER BY (item_key DESC)" in exported
    assert "default_time_to_live = 864000" in exported


def test_the_schema_follows_changes(ks):
    ks.execute("CREATE TABLE t (p int PRIMARY KEY, v int)")
    ks.execute("INSERT INTO t (p, v) VALUES (1, 2)")
    select = ks.prepare("SELECT * FROM t WHERE p = ?")
    assert ks.execute(select, (1,)).one() == (1, 2)
    ks.execute("ALTER TABLE t ADD w text")
    assert ks.execute("SELECT w FROM t WHERE p = 1").one().w is None
    ks.execute("INSERT INTO t (p, v, w) VALUES (3, 4, 'five')")
    assert ks.execute(select, (3,)).one()._asdict() == {"p": 3, "v": 4, "w": "five"}
    ks.execute("ALTER TABLE t DROP v")
    assert ks.execute("SELECT * FROM t WHERE p = 3").one()._asdict() == {"p": 3, "w": "five"}
    assert set(ks.cluster.metadata.keyspaces["ks"].tables["t"].columns) == {"p", "w"}
    ks.execute("TRUNCATE t")
    assert list(ks.execute("SELECT * FROM t")) == []
    ks.execute("DROP TABLE t")
    assert "t" not in ks.cluster.metadata.keyspaces["ks"].tables


def test_prepared_statements_outlive_a_restart(make_server):
    server = make_server()
    with server.connect() as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TABLE ks.t (p int PRIMARY KEY, v int)")
        insert = session.prepare("INSERT INTO ks.t (p, v) VALUES (?, ?)")
        session.execute(insert, (1, 2))
        assert server.stop() == 0
    server.start()
    with server.connect() as session:
        # What was in memory is gone; the statement has its old id once it is prepared again.
        session.execute(KEYSPACE)
        session.execute("CREATE TABLE ks.t (p int PRIMARY KEY, v int)")
        again = session.prepare("INSERT INTO ks.t (p, v) VALUES (?, ?)")
        assert again.query_id == insert.query_id
        session.execute(insert, (3, 4))
        assert session.execute("SELECT v FROM ks.t WHERE p = 3").one().v == 4


def test_statements_are_prepared_again_after_their_table_changed(ks):
    ks.execute("CREATE TABLE t (p int PRIMARY KEY, v int)")
    insert = ks.prepare("INSERT INTO t (p, v) VALUES (?, ?)")
    ks.execute("DROP TABLE t")
    with pytest.raises(Exception, match="unconfigured table t"):
        ks.execute(insert, (1, 2))
    ks.execute("CREATE TABLE t (p int PRIMARY KEY, v int)")
    ks.execute(insert, (1, 2))
    assert ks.execute("SELECT v FROM t").one().v == 2


def test_compressed_frames(server):
    with server.connect(compression=True) as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TABLE ks.t (p int PRIMARY KEY, v blob)")
        value = b"compress me " * 5000
        session.execute(session.prepare("INSERT INTO ks.t (p, v) VALUES (1, ?)"), (value,))
        assert session.execute("SELECT v FROM ks.t").one().v == value


@pytest.mark.parametrize("version", [3, 4])
def test_both_protocol_versions(server, version):
    with server.connect(protocol_version=version) as session:
        session.execute(KEYSPACE)
        session.execute("CREATE TABLE ks.t (p int PRIMARY KEY, v int)")
        session.execute(session.prepare("INSERT INTO ks.t (p, v) VALUES (?, ?)"), (1, 2))
        assert session.execute("SELECT v FROM ks.t WHERE p = 1").one().v == 2


# Type, as system_schema.columns shows it, values.
FROZEN_TYPES = [
    ("frozen<list<int>>", "frozen<list<int>>", [[], [3, 1, 3]]),
    ("frozen<set<text>>", "frozen<set<text>>", [set(), {"b", "a"}]),
    ("frozen<map<text, list<int>>>", "frozen<map<text, frozen<list<int>>>>", [{}, {"a": [1, 2], "b": []}]),
    ("tuple<int, text, set<int>>", "frozen<tuple<int, text, frozen<set<int>>>>",
     [(1, "x", {2, 1}), (None, None, None)]),
    ("frozen<list<tuple<int, map<int, text>>>>", "frozen<list<frozen<tuple<int, frozen<map<int, text>>>>>>",
     [[(1, {2: "b"}), (None, {})]]),
]


@pytest.mark.parametrize("cql_type,shown,values", FROZEN_TYPES)
def test_frozen_collections_and_tuples(ks, cql_type, shown, values):
    ks.execute(f"CREATE TABLE f (p int, c {cql_type}, v {cql_type}, PRIMARY KEY (p, c))")
    insert = ks.prepare("INSERT INTO f (p, c, v) VALUES (?, ?, ?)")
    select = ks.prepare("SELECT c, v FROM f WHERE p = ? AND c = ?")
    for value in values:
        ks.execute(insert, (1, value, value))
        row = ks.execute(select, (1, value)).one()
        assert row.c == value and row.v == value
    assert ks.cluster.metadata.keyspaces["ks"].tables["f"].columns["v"].cql_type == shown
    assert len(list(ks.execute("SELECT * FROM f"))) == len(values)


def test_user_types(ks):
    ks.execute("CREATE TYPE address (street text, number int)")
    ks.execute("CREATE TABLE u (p int PRIMARY KEY, home frozen<address>, all_of_them frozen<list<address>>)")
    meta = ks.cluster.metadata.keyspaces["ks"].user_types["address"]
    assert (meta.field_names, meta.field_types) == (["street", "number"], ["text", "int"])
    ks.execute("INSERT INTO u (p, home) VALUES (1, {street: 'x', number: 7})")
    home = ks.execute("SELECT home FROM u").one().home
    assert (home.street, home.number) == ("x", 7)
    insert = ks.prepare("INSERT INTO u (p, home, all_of_them) VALUES (?, ?, ?)")
    ks.execute(insert, (2, ("y", None), [("z", 3), home]))
    row = ks.execute("SELECT home, all_of_them FROM u WHERE p = 2").one()
    assert row.home == ("y", None) and row.all_of_them == [("z", 3), ("x", 7)]
    ks.execute("ALTER TYPE address ADD city text")
    assert ks.execute("SELECT home FROM u WHERE p = 1").one().home == ("x", 7, None)
    assert ks.cluster.metadata.keyspaces["ks"].user_types["address"].field_names[-1] == "city"
    with pytest.raises(InvalidRequest, match="still used by table ks.u"):
        ks.execute("DROP TYPE address")
    ks.execute("DROP TABLE u")
    ks.execute("DROP TYPE address")
    assert not ks.cluster.metadata.keyspaces["ks"].user_types
