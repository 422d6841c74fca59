"""A Cassandra of our own for a round: tests/peers/cassandra, on the core that a server of ours gets."""

import json
import os
import subprocess

from compare_lib.programs import ROOT, Failure

LAUNCHER = ROOT / "tests/peers/cassandra"
SKIPPED = 77  # of the launcher: it cannot be had here


class Missing(Exception):
    """There is no Cassandra on this machine; the reason as a sentence."""


class CassandraServer:
    """Runs while the `with` block does; ends with its standard input."""

    def __init__(self, launcher=LAUNCHER):
        self._launcher = launcher
        self._process = None
        self.address = ""

    def __enter__(self):
        core = min(os.sched_getaffinity(0))
        self._process = subprocess.Popen(  # pylint: disable=consider-using-with
            [self._launcher, "--core", str(core)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        ready = self._process.stdout.readline()
        if ready:
            self.address = json.loads(ready)["cassandra"]
            return self
        said = (self._process.communicate()[1].strip().splitlines() or ["it says nothing"])[-1]
        if self._process.returncode == SKIPPED:
            raise Missing(said.removeprefix("cassandra: skipped: "))
        raise Failure(said)

    def __exit__(self, *exception):
        # Also reads what it has said meanwhile: a full pipe would hold it up.
        self._process.communicate()
