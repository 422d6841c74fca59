"""What the driver makes of the node: its place, its version, its shards."""

import pytest
from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import DCAwareRoundRobinPolicy
from cassandra.protocol import ConfigurationException


def host_of(server, data_center):
    profile = ExecutionProfile(load_balancing_policy=DCAwareRoundRobinPolicy(data_center))
    cluster = Cluster(["127.0.0.1"], port=server.port,
                      execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    with cluster:
        session = cluster.connect()
        session.execute("CREATE KEYSPACE k WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE k.t (p int PRIMARY KEY, v int)")
        session.execute("INSERT INTO k.t (p, v) VALUES (1, 2)")
        assert session.execute("SELECT v FROM k.t WHERE p = 1").one().v == 2
        assert "t" in cluster.metadata.keyspaces["k"].tables, "the driver reads the schema"
        hosts = cluster.metadata.all_hosts()
        assert len(hosts) == 1
        return cluster.metadata.cluster_name, hosts[0]


def test_the_node_has_the_place_that_it_was_given(make_server):
    server = make_server("--data-center", "eu-west", "--rack", "r7", "--cluster-name", "mine")
    name, host = host_of(server, "eu-west")
    assert (name, host.datacenter, host.rack) == ("mine", "eu-west", "r7")


def in_data_centers(server, names):
    """What CREATE KEYSPACE in these data centres is refused with; empty: it is not."""
    options = ", ".join(f"'{name}': 3" for name in names)
    with Cluster(["127.0.0.1"], port=server.port) as cluster:
        session = cluster.connect()
        try:
            session.execute("CREATE KEYSPACE IF NOT EXISTS k WITH replication = "
                            "{'class': 'NetworkTopologyStrategy', " + options + "}")
        except ConfigurationException as error:
            return str(error)
    return ""


@pytest.mark.parametrize("arguments, others_are_taken", [
    ([], True),
    (["--data-center", "dc1,dc2"], False),
    (["--strict", "--data-center", "dc1,dc2"], False),
])
def test_a_keyspace_is_in_the_data_centres_that_there_are(make_server, arguments,
                                                          others_are_taken):
    server = make_server(*arguments)
    assert in_data_centers(server, ["dc1", "dc2"]) == ""
    refused = in_data_centers(server, ["dc1", "dc9"])
    assert (refused == "") == others_are_taken
    assert others_are_taken or "Unrecognized strategy option {dc9}" in refused


@pytest.mark.parametrize("arguments, release", [
    (["--shards", "off", "--release-version", "3.11.17"], "3.11.17"),
    (["--scylla", "off", "--release-version", "4.1"], "4.1"),
    (["--shards", "off", "--release-version", "5.0"], "5.0"),
    (["--release-version", "scylla-2025.1", "--shards", "4"], "3.0.8"),
    (["--release-version", "4.1"], "4.1"),
])
def test_the_driver_takes_every_version(make_server, arguments, release):
    _, host = host_of(make_server(*arguments), "datacenter1")
    assert host.release_version == release
