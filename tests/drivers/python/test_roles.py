"""Roles and permissions, by the driver's own authenticator."""

import pytest
from cassandra import AuthenticationFailed, InvalidRequest, Unauthorized
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import NoHostAvailable

ARGUMENTS = ("--auth", "root:secret", "--scylla-option", "authorizer=CassandraAuthorizer")
KEYSPACE = "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


def logs_in(server, user, password):
    return server.connect(auth_provider=PlainTextAuthProvider(user, password))


@pytest.fixture
def secured(make_server):
    """A server with a reader and a writer of ks.t."""
    server = make_server(*ARGUMENTS)
    with logs_in(server, "root", "secret") as root:
        root.execute(KEYSPACE)
        root.execute("CREATE TABLE ks.t (p int PRIMARY KEY, v int)")
        for role in "reader", "writer":
            root.execute(f"CREATE ROLE {role} WITH PASSWORD = '{role}' AND LOGIN = true")
        root.execute("GRANT SELECT ON ks.t TO reader")
        root.execute("GRANT MODIFY ON KEYSPACE ks TO writer")
    return server


def refusal(error):
    """The exception that hosts answered with, where nobody was let in."""
    return list(error.value.errors.values())[0]


def test_nobody_comes_in_without_the_password(secured, driver_log):
    for user, password in ("root", "guess"), ("nobody", "secret"):
        with pytest.raises(NoHostAvailable) as error, logs_in(secured, user, password):
            pass
        assert isinstance(refusal(error), AuthenticationFailed)
        assert "Username and/or password are incorrect" in str(refusal(error))
    driver_log.clear()


def test_each_role_may_do_what_was_granted(secured):
    with logs_in(secured, "writer", "writer") as writer, logs_in(secured, "reader", "reader") as reader:
        insert = writer.prepare("INSERT INTO ks.t (p, v) VALUES (?, ?)")
        for i in range(20):
            writer.execute(insert, (i, i * i))
        select = reader.prepare("SELECT v FROM ks.t WHERE p = ?")
        assert [reader.execute(select, (i,)).one().v for i in range(20)] == [i * i for i in range(20)]
        with pytest.raises(Unauthorized, match="User reader has no MODIFY permission on <table ks.t>"):
            reader.execute("INSERT INTO ks.t (p, v) VALUES (1, 1)")
        with pytest.raises(Unauthorized, match="User writer has no SELECT permission on <table ks.t>"):
            writer.execute("SELECT * FROM ks.t")
        with pytest.raises(Unauthorized, match="User reader has no MODIFY permission on <table liststore.data>"):
            reader.execute("UPDATE liststore.data SET action = 'reset' WHERE key = 'data'")
        # What it may not read it sees all the same.
        assert "t" in writer.cluster.metadata.keyspaces["ks"].tables


def test_what_is_revoked_is_gone_for_what_was_prepared(secured):
    with logs_in(secured, "root", "secret") as root, logs_in(secured, "reader", "reader") as reader:
        select = reader.prepare("SELECT v FROM ks.t WHERE p = ?")
        assert not list(reader.execute(select, (1,)))
        root.execute("REVOKE SELECT ON ks.t FROM reader")
        with pytest.raises(Unauthorized):
            reader.execute(select, (1,))
        root.execute("CREATE ROLE readers")
        root.execute("GRANT SELECT ON ALL KEYSPACES TO readers")
        root.execute("GRANT readers TO reader")
        assert not list(reader.execute(select, (1,)))
        assert [(row.role, row.super, row.login, dict(row.options)) for row in root.execute("LIST ROLES OF reader")] == [
            ("reader", False, True, {}), ("readers", False, False, {})]
        assert [tuple(row) for row in reader.execute("LIST ALL PERMISSIONS OF reader")] == [
            ("readers", "readers", "<all keyspaces>", "SELECT")]


def test_a_role_without_login_stays_out(secured, driver_log):
    with logs_in(secured, "root", "secret") as root:
        root.execute("ALTER ROLE reader WITH LOGIN = false")
        with pytest.raises(InvalidRequest, match="Role nobody doesn't exist."):
            root.execute("GRANT SELECT ON ks.t TO nobody")
    with pytest.raises(NoHostAvailable) as error, logs_in(secured, "reader", "reader"):
        pass
    assert "reader is not permitted to log in" in str(refusal(error))
    driver_log.clear()


def test_hashed_passwords_travel(secured, make_server):
    with logs_in(secured, "root", "secret") as root:
        described = [row.create_statement for row in root.execute("DESCRIBE SCHEMA WITH INTERNALS AND PASSWORDS")
                     if row.keyspace_name is None]
    other = make_server(*ARGUMENTS)
    with logs_in(other, "root", "secret") as root:
        root.execute(KEYSPACE)
        root.execute("CREATE TABLE ks.t (p int PRIMARY KEY, v int)")
        for statement in described:
            if " root" not in statement:
                root.execute(statement)
    with logs_in(other, "reader", "reader") as reader:
        assert not list(reader.execute("SELECT * FROM ks.t"))
