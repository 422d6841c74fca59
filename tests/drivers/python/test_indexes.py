"""Indexes on key columns, static columns and parts of collections, as a driver sees and uses them."""

import pytest
from cassandra import InvalidRequest

KEYSPACE = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
TARGETS = ["p", "d", "s", "v", "l", "keys(m)", "entries(m)"]


@pytest.fixture
def ks(session):
    session.execute(KEYSPACE)
    session.set_keyspace("ks")
    session.execute("CREATE TABLE t (p int, q int, c int, d int, s text STATIC, v int, l list<int>, m map<text, int>, "
                    "PRIMARY KEY ((p, q), c, d))")
    insert = session.prepare("INSERT INTO t (p, q, c, d, v, l, m) VALUES (?, ?, ?, ?, ?, ?, ?)")
    for i in range(40):
        session.execute(insert, (i % 2, i // 8, i, i % 4, i, [i, i % 3], {f"k{i % 5}": i}))
    session.execute("UPDATE t SET s = 'one' WHERE p = 1 AND q = 2")
    return session


WHERE = [
    ("p = ?", (1,), lambda i: i % 2 == 1),
    ("d = ?", (3,), lambda i: i % 4 == 3),
    ("s = ?", ("one",), lambda i: i % 2 == 1 and i // 8 == 2),
    ("v = ?", (17,), lambda i: i == 17),
    ("l CONTAINS ?", (2,), lambda i: i == 2 or i % 3 == 2),
    ("m CONTAINS KEY ?", ("k3",), lambda i: i % 5 == 3),
    ("m[?] = ?", ("k3", 13), lambda i: i == 13),
]


@pytest.mark.parametrize("where, values, wanted", WHERE)
def test_what_an_index_answers_needs_no_filtering(ks, where, values, wanted):
    as_text = f"SELECT c FROM t WHERE {where.replace('?', '%s')}"
    with pytest.raises(InvalidRequest):
        ks.execute(as_text, values)
    for target in TARGETS:
        ks.execute(f"CREATE INDEX ON t ({target})")
    select = ks.prepare(f"SELECT token(p, q) AS place, c FROM t WHERE {where}")
    expected = {i for i in range(40) if wanted(i)}
    select.fetch_size = 3
    found = list(ks.execute(select, values))
    assert {row.c for row in found} == expected and len(found) == len(expected)
    assert [row.place for row in found] == sorted(row.place for row in found), "partitions come by token"
    filtered = ks.execute(as_text + " ALLOW FILTERING", values)
    assert [row.c for row in filtered] == [row.c for row in found]


def test_the_driver_s_metadata_makes_the_same_indexes_anew(ks):
    for target in TARGETS:
        ks.execute(f"CREATE INDEX ON t ({target})")
    ks.cluster.refresh_schema_metadata()
    indexes = ks.cluster.metadata.keyspaces["ks"].tables["t"].indexes
    assert {name: index.index_options["target"] for name, index in indexes.items()} == {
        "t_p_idx": "p", "t_d_idx": "d", "t_s_idx": "s", "t_v_idx": "v", "t_l_idx": "values(l)",
        "t_m_idx": "keys(m)", "t_m_idx_1": "entries(m)"}
    for name, index in indexes.items():
        ks.execute(f"DROP INDEX {name}")
        ks.execute(index.as_cql_query())
    ks.cluster.refresh_schema_metadata()
    assert set(ks.cluster.metadata.keyspaces["ks"].tables["t"].indexes) == set(indexes)
