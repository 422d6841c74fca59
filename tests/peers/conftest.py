"""A Cassandra for all tests, and liststore servers for each."""

import contextlib
import json
import os
import pathlib
import subprocess

import pytest
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import RoundRobinPolicy

from server import BINARY, Server

LAUNCHER = pathlib.Path(__file__).with_name("cassandra")


@contextlib.contextmanager
def connected(port):
    """A session that knows no node but the one at this port."""
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=60)
    cluster = Cluster(["127.0.0.1"], port=port, protocol_version=4,
                      execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    try:
        yield cluster.connect()
    finally:
        cluster.shutdown()


@pytest.fixture(scope="session")
def cassandra_address():
    """HOST:PORT of a Cassandra 5."""
    there = os.environ.get("LISTSTORE_CASSANDRA")
    if there:
        yield there
        return
    with subprocess.Popen([LAUNCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        ready = process.stdout.readline()
        if not ready:
            said = process.communicate()[1].strip()
            if process.returncode == 77:
                pytest.skip(said.splitlines()[-1])
            pytest.fail(said, pytrace=False)
        yield json.loads(ready)["cassandra"]
        process.communicate()  # ends its standard input, and with that Cassandra


@pytest.fixture
def cassandra(cassandra_address):
    """A session without the tests' keyspaces."""
    with connected(int(cassandra_address.rpartition(":")[2])) as session:
        for keyspace in ("feat", "other", "reading"):
            session.execute(f"DROP KEYSPACE IF EXISTS {keyspace}")
        yield session


@pytest.fixture
def make_server(tmp_path):
    """make_server(*arguments) starts a liststore server; all of them end with the test."""
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
def run_program():
    """run_program(*arguments): the program's status, output and errors."""
    def run(*arguments):
        return subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=300)
    return run
