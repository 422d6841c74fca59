"""A compare_bare_cql of our own for a round: on the core that a server of ours gets."""

import json
import os
import subprocess

from compare_lib.programs import Failure


class BareCqlServer:
    """Runs while the `with` block does; ends with its standard input."""

    def __init__(self, program, *arguments):
        self._command = [str(word) for word in (program, *arguments)]
        self._process = None
        self.address = ""

    @property
    def pid(self):
        return self._process.pid

    def __enter__(self):
        core = min(os.sched_getaffinity(0))
        try:
            self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        except OSError as error:
            raise Failure(f"{self._command[0]}: {error.strerror}") from error
        ready = self._process.stdout.readline()
        if not ready:
            said = self._process.communicate()[1].strip().splitlines() or ["it says nothing"]
            raise Failure(said[-1])
        self.address = f"127.0.0.1:{json.loads(ready)['cql_port']}"
        return self

    def __exit__(self, *exception):
        self._process.communicate()
