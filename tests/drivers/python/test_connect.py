"""Stock drivers with nothing set but host and port: by name, over IPv6, through a forwarded port.

That nothing is warned of is looked after by the fixture driver_log.
"""

import contextlib
import socket
import socketserver
import threading

import pytest
from cassandra.cluster import Cluster
from cassandra.policies import AddressTranslator

# scylla-driver goes to the address that the node gives, also when it came by another one.
KEEPS_TO_ITS_ADDRESS = not hasattr(Cluster, "is_shard_aware")


def through_forwarder(address):
    """What a driver has to be told that connects through a forwarder."""
    class Forwarded(AddressTranslator):
        def translate(self, addr):
            return address

    return {} if KEEPS_TO_ITS_ADDRESS else {
        "address_translator": Forwarded(),
        "shard_aware_options": {"disable_shardaware_port": True}}  # that one is not forwarded


def work_by_default_settings(host, port, **options):
    """Connects, prepares, pages, disconnects. The address of the only host, and who is connected."""
    with Cluster([host], port=port, **options) as cluster:
        session = cluster.connect()
        session.execute("CREATE KEYSPACE k WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute("CREATE TABLE k.t (p int, c int, PRIMARY KEY (p, c))")
        insert = session.prepare("INSERT INTO k.t (p, c) VALUES (?, ?)")
        for i in range(100):
            session.execute(insert, (1, i))
        session.default_fetch_size = 7
        assert [row.c for row in session.execute("SELECT c FROM k.t WHERE p = 1")] == list(range(100))
        clients = session.execute("SELECT address, port FROM system.clients").all()
        hosts = cluster.metadata.all_hosts()
        assert len(hosts) == 1 and hosts[0].is_up
        return hosts[0].endpoint.address, clients


def test_by_name(make_server):
    address, _ = work_by_default_settings("localhost", make_server("--address", "localhost").port)
    assert address in ("127.0.0.1", "::1")


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no address ::1")
def test_over_ipv6(make_server):
    address, clients = work_by_default_settings("::1", make_server("--address", "::1").port)
    assert address == "::1"
    assert {client.address for client in clients} == {"::1"}


class Forwarder(socketserver.ThreadingTCPServer):
    """A forwarded port, as of ssh -L or a container, at an address that the server knows nothing of."""

    daemon_threads = True

    def __init__(self, address, target):
        self.target = target
        self.ports_to_target = set()
        super().__init__((address, 0), self.Handler)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with socket.create_connection(self.server.target) as target:
                self.server.ports_to_target.add(target.getsockname()[1])
                back = threading.Thread(target=self.copy, args=(target, self.request), daemon=True)
                back.start()
                self.copy(self.request, target)
                back.join()

        @staticmethod
        def copy(source, sink):
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    sink.sendall(data)
            for end in (source, sink):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def forward():
    """forward(server) makes it reachable at 127.0.0.2 as well."""
    with contextlib.ExitStack() as stack:
        def make(server):
            forwarder = stack.enter_context(Forwarder("127.0.0.2", ("127.0.0.1", server.port)))
            stack.callback(forwarder.shutdown)
            threading.Thread(target=forwarder.serve_forever, daemon=True).start()
            return forwarder

        yield make


@pytest.mark.parametrize("arguments", [[], ["--shards", "4"]])
def test_through_a_forwarded_port(make_server, forward, arguments):
    forwarder = forward(make_server(*arguments))
    address, clients = work_by_default_settings(
        "127.0.0.2", forwarder.server_address[1], **through_forwarder("127.0.0.2"))
    assert address == "127.0.0.2"
    assert clients, "the server tells who is connected"
    assert {client.port for client in clients} <= forwarder.ports_to_target, "nobody came in another way"


def test_through_a_forwarded_port_as_cassandra(make_server, forward):
    forwarder = forward(make_server("--shards", "off"))
    with Cluster(["127.0.0.2"], port=forwarder.server_address[1],
                 **through_forwarder("127.0.0.2")) as cluster:
        assert cluster.connect().execute("SELECT key FROM system.local").one().key == "local"
        assert [host.endpoint.address for host in cluster.metadata.all_hosts()] == ["127.0.0.2"]
