"""Warnings reach the client beside the answer, as the options of ScyllaDB have it."""

import pytest
from cassandra import InvalidRequest, WriteFailure
from cassandra.protocol import ConfigurationException

SIMPLE = "CREATE KEYSPACE {} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': {}}}"


def warnings_of(session, statement):
    future = session.execute_async(statement)
    future.result()
    return future.warnings or []


def test_a_keyspace_is_warned_of(session):
    strategy, factor = warnings_of(session, SIMPLE.format("ks", 1))
    assert strategy.startswith("SimpleStrategy replication class is not recommended, but was used for keyspace ks.")
    assert factor == ("Using Replication Factor replication_factor=1 lower than the "
                      "minimum_replication_factor_warn_threshold=3 is not recommended.")


def test_options_change_while_the_server_runs(session):
    def change(name, value):
        session.execute("UPDATE system.config SET value = %s WHERE name = %s", (value, name))

    change("minimum_replication_factor_warn_threshold", "-1")
    change("replication_strategy_warn_list", "[]")
    assert warnings_of(session, SIMPLE.format("ks", 1)) == []
    change("minimum_replication_factor_fail_threshold", "3")
    with pytest.raises(ConfigurationException, match="forbidden by the current configuration setting"):
        session.execute(SIMPLE.format("other", 2))
    session.execute("CREATE TABLE ks.t (p int, c int, PRIMARY KEY (p, c))")
    change("strict_allow_filtering", "true")
    with pytest.raises(InvalidRequest, match="ALLOW FILTERING"):
        session.execute("SELECT * FROM ks.t WHERE c = 1")
    with pytest.raises(WriteFailure, match="option is not live-updateable"):
        change("num_tokens", "7")
    row = session.execute("SELECT * FROM system.config WHERE name = 'strict_allow_filtering'").one()
    assert (row.type, row.source, row.value) == ("restriction mode", "cql", '"true"')
