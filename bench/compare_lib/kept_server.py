"""A liststore server of our own for a round, with a data directory: on one core, ended by its standard input."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from compare_lib.programs import Failure

START_SECONDS_MAX = 30


class KeptServer:
    """Runs while the `with` block does. `commit_log`: its mode; None: it has no data directory."""

    def __init__(self, program, commit_log, parent):
        self._program = program
        self._commit_log = commit_log
        self._parent = parent
        self._folder = None
        self._process = None
        self.address = ""

    @property
    def pid(self):
        return self._process.pid

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="liststore-durability-", dir=self._parent)
        folder = pathlib.Path(self._folder.name)
        ready = folder / "ready.json"
        command = [self._program, "serve", "--cql-port", "0", "--ready-file", ready, "--until-eof", "--populate", "256M"]
        if self._commit_log:
            command += ["--data-dir", folder / "data", "--commit-log", self._commit_log]
        core = min(os.sched_getaffinity(0))
        try:
            self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        except OSError as error:
            self._folder.cleanup()
            raise Failure(f"{self._program}: {error.strerror}") from error
        end = time.monotonic() + START_SECONDS_MAX
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > end:
                self._process.kill()
                said = self._process.communicate()[1].strip().splitlines() or ["it says nothing"]
                self._folder.cleanup()
                raise Failure(f"{self._program} serve: {said[-1]}")
            time.sleep(0.01)
        self.address = f"127.0.0.1:{json.loads(ready.read_text(encoding='utf-8'))['cql_port']}"
        return self

    def __exit__(self, *exception):
        self._process.communicate()
        self._folder.cleanup()
