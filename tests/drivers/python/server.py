"""A liststore server as a child of the test. The program is the one that LISTSTORE_BINARY names; it listens
on loopback, on a free port.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import DCAwareRoundRobinPolicy, TokenAwarePolicy

BINARY = os.environ.get("LISTSTORE_BINARY", "build/release/bin/liststore")


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
