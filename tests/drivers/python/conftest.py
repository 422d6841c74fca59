"""A liststore server for each test that asks for one, and sessions of the driver on it.

Servers end with the test. What the driver logs at WARNING or above is collected: a test fails when it holds
anything beyond KEPT_WARNINGS.
"""

import logging
import re

import pytest

from server import Server

# What the driver says of a ScyllaDB node as well.
KEPT_WARNINGS = [
    # A ScyllaDB with its defaults warns of the keyspaces that most tests make.
    r"Server warning: (SimpleStrategy replication class|Using Replication Factor)",
    # It begins with the newest version that it knows.
    r"Downgrading core protocol version from \d+ to \d+",
    # Its own defaults, whatever the server is.
    r"Cluster.__init__ called with contact_points specified, but no load_balancing_policy",
]


@pytest.fixture
def make_server(tmp_path):
    """make_server(*arguments) starts a server; all of them end with the test."""
    servers = []

    def make(*arguments):
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(Server(folder, *arguments))
        return servers[-1].start()

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def server(make_server):
    """A server as it starts without any option."""
    return make_server()


@pytest.fixture
def session(server):
    with server.connect() as connected:
        yield connected


@pytest.fixture(autouse=True)
def driver_log(caplog):
    """Nothing but kept warnings in the driver's log."""
    caplog.set_level(logging.WARNING, logger="cassandra")
    yield caplog
    unexpected = [
        record.getMessage() for record in caplog.get_records("call")
        if record.name.startswith("cassandra") and record.levelno >= logging.WARNING
        and not any(re.search(kept, record.getMessage()) for kept in KEPT_WARNINGS)]
    assert not unexpected, unexpected


LIST_ITEMS = """
    CREATE TABLE list_items (
      feature_key text, entity_id text, item_key text, value blob,
      PRIMARY KEY ((feature_key, entity_id), item_key)
    ) WITH CLUSTERING ORDER BY (item_key DESC) AND default_time_to_live = 864000
"""


def create_lists(session):
    """The keyspace, the table and the index of the list model."""
    session.execute("CREATE KEYSPACE feature_store WITH replication = "
                    "{'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.set_keyspace("feature_store")
    session.execute(LIST_ITEMS)
    session.execute("CREATE INDEX list_items_by_value ON "
                    "list_items((feature_key, entity_id), value)")
    return session


@pytest.fixture
def lists(session):
    """A session in a keyspace that holds the table of the list model."""
    return create_lists(session)
