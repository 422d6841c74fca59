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
        # An interrupt too leaves neither the server nor its folder.
        try:
            self._start(pathlib.Path(self._folder.name))
            return self
        except BaseException:
            if self._process is not None:
                self._process.kill()
            self._end()
            raise

    def __exit__(self, *exception):
        self._end()

    def _start(self, folder):
        ready = folder / "ready.json"
        said = folder / "stderr"
        command = [self._program, "serve", "--cql-port", "0", "--ready-file", ready, "--until-eof", "--populate", "256M"]
        if self._commit_log:
            command += ["--data-dir", folder / "data", "--commit-log", self._commit_log]
        core = min(os.sched_getaffinity(0))
        try:
            # A file, for nobody reads a pipe while it runs.
            with said.open("wb") as errors:
                self._process = subprocess.Popen(  # pylint: disable=consider-using-with
                    [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
                    preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        except OSError as error:
            raise Failure(f"{self._program}: {error.strerror}") from error
        end = time.monotonic() + START_SECONDS_MAX
        while not ready.exists():
            if self._process.poll() is not None or time.monotonic() > end:
                lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["it says nothing"]
                raise Failure(f"{self._program} serve: {lines[-1]}")
            time.sleep(0.01)
        self.address = f"127.0.0.1:{json.loads(ready.read_text(encoding='utf-8'))['cql_port']}"

    def _end(self):
        if self._process is not None:
            self._process.communicate()
        self._folder.cleanup()
