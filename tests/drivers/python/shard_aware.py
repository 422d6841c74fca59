"""A driver that knows of shards opens a connection to each, and sends every request to the one that has
its partition. For those drivers alone: no name by which pytest finds it, run_tests of python_scylla names it.
"""

import time

import pytest


def shard_of(token, shards):
    """As ScyllaDB's documents define it."""
    return (((token + 2**63) << 12) % 2**64) * shards >> 64


def shards_of_connections(session):
    return {f"{row.address}:{row.port}": row.shard_id
            for row in session.execute("SELECT address, port, shard_id FROM system.clients")}


@pytest.mark.parametrize("count", [2, 3])
def test_every_shard_has_its_connection_and_its_requests(make_server, count):
    with make_server("--shards", str(count)).connect() as session:
        assert session.cluster.is_shard_aware()
        # The pool fills in the background.
        end = time.monotonic() + 20
        while [node["connected"] for node in session.cluster.shard_aware_stats().values()] != [count]:
            assert time.monotonic() < end, session.cluster.shard_aware_stats()
        # Another one is for schema and events.
        connections = shards_of_connections(session)
        assert len(connections) == count + 1
        assert set(connections.values()) == set(range(count))

        session.execute("CREATE KEYSPACE feat WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE feat.t (p int PRIMARY KEY, v int)")
        insert = session.prepare("INSERT INTO feat.t (p, v) VALUES (?, ?)")
        for p in range(100):
            session.execute(insert, (p, p * p))
        wanted = {str(p): shard_of(token, count)
                  for p, token in session.execute("SELECT p, token(p) FROM feat.t")}
        assert len(wanted) == 100
        sent = {key: connections.get(client) for key, client in session.execute(
            "SELECT key, client FROM liststore.requests WHERE tbl = 'feat.t' AND op = 'INSERT' "
            "ALLOW FILTERING")}
        assert sent == wanted
