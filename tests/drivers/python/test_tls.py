"""Over TLS, with verification on and a login."""

import logging
import pathlib
import ssl
import subprocess

import pytest
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import NoHostAvailable

LOGIN = PlainTextAuthProvider("cassandra", "secret")


@pytest.fixture
def certificates(tmp_path):
    """A folder with ca.crt, node.crt and node.key, for servers on this machine."""
    folder = tmp_path / "certificates"
    status = subprocess.run([pathlib.Path(__file__).parents[1] / "make_certificates", folder], check=False).returncode
    if status == 77:
        pytest.skip("there is no openssl here")
    assert status == 0
    return folder


def serve(make_server, certificates, *arguments):
    return make_server("--tls-certificate", str(certificates / "node.crt"), "--tls-key", str(certificates / "node.key"),
                       "--tls-only", "--auth", "cassandra:secret", *arguments)


@pytest.mark.parametrize("arguments", [[], ["--shards", "2"], ["--shards", "off"], ["--tls-min-version", "1.3"]])
def test_verified_and_logged_in(make_server, certificates, arguments):
    server = serve(make_server, certificates, *arguments)
    context = ssl.create_default_context(cafile=certificates / "ca.crt")
    assert context.check_hostname and context.verify_mode == ssl.CERT_REQUIRED
    with server.connect(ssl_context=context, auth_provider=LOGIN) as session:
        session.execute("CREATE KEYSPACE k WITH replication = "
                        "{'class': 'NetworkTopologyStrategy', 'replication_factor': 3}")
        session.execute("CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))")
        insert = session.prepare("INSERT INTO k.t (p, c, v) VALUES (?, ?, ?)")
        value = "v" * 100_000
        for future in [session.execute_async(insert, (1, c, value)) for c in range(20)]:
            future.result()
        session.default_fetch_size = 7
        assert [(row.c, row.v) for row in session.execute("SELECT c, v FROM k.t WHERE p = 1")] == [
            (c, value) for c in range(20)]
        if arguments != ["--shards", "off"]:
            clients = session.execute("SELECT ssl_enabled, ssl_protocol, username FROM system.clients").all()
            assert {client.ssl_enabled for client in clients} == {True}
            assert {client.ssl_protocol for client in clients} == {"TLSv1.3"}
            assert "cassandra" in {client.username for client in clients}


def test_a_server_that_is_not_believed(make_server, certificates, caplog):
    server = serve(make_server, certificates)
    with caplog.at_level(logging.CRITICAL, logger="cassandra"), pytest.raises(NoHostAvailable, match="certificate"):
        with server.connect(ssl_context=ssl.create_default_context(), auth_provider=LOGIN):
            pass
