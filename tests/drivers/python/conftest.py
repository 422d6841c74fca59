"""A liststore server for each test that asks for one, and sessions of the driver on it.

The program is the one that LISTSTORE_BINARY names. Servers listen on loopback, on free ports, and end
with the test. What the driver logs at WARNING or above is collected: a test fails when it holds
anything beyond KEPT_WARNINGS.
"""

import contextlib
import json
import logging
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy

BINARY = os.environ.get("LISTSTORE_BINARY", "build/release/bin/liststore")

# What the driver says of a ScyllaDB node as well.
KEPT_WARNINGS = [
    # It begins with the newest version that it knows.
    r"Downgrading core protocol version from \d+ to \d+",
    # Its own defaults, whatever the server is.
    r"Cluster.__init__ called with contact_points specified, but no load_balancing_policy",
]


class Server:
    """One running server; `stop` and `start` keep its port."""

    def __init__(self, folder, *arguments):
        self.folder = pathlib.Path(folder)
        self.arguments = list(arguments)
        self.port = 0
        self.process = None

    def start(self):
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [BINARY, "serve", "--cql-port", str(self.port), "--ready-file", str(ready), "--until-eof",
             *self.arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # One line, once it listens: nothing is waited for by the clock.
        line = self.process.stdout.readline()
        assert line, f"the server ended at once with status {self.process.wait()}"
        facts = json.loads(line)
        assert facts == json.loads(ready.read_text()), "the ready file says what the line says"
        assert facts["pid"] == self.process.pid
        self.port = facts["cql_port"]
        return self

    def stop(self):
        if self.process is None:
            return None
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=20)
        self.process.stdin.close()
        self.process.stdout.close()
        self.process = None
        return status

    @contextlib.contextmanager
    def connect(self, keyspace=None, **options):
        profile = ExecutionProfile(
            load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy("datacenter1")),
            request_timeout=60)
        options.setdefault("execution_profiles", {EXEC_PROFILE_DEFAULT: profile})
        cluster = Cluster(["127.0.0.1"], port=self.port, **options)
        try:
            yield cluster.connect(keyspace)
        finally:
            cluster.shutdown()


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
