"""A server under callgrind, and what its counts say of functions."""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

START_SECONDS = 120


class NotThere(Exception):
    """This machine has no valgrind."""


class CountedServer:
    """A `liststore serve` under callgrind, as a `with` block; `counts` is there behind it."""

    def __init__(self, program):
        if shutil.which("valgrind") is None or shutil.which("callgrind_annotate") is None:
            raise NotThere("there is no valgrind here: install the package valgrind")
        self._program = program
        self.port = 0
        self.counts = None

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="instructions-")
        folder = pathlib.Path(self._folder.name)
        self._out = folder / "callgrind.out"
        ready = folder / "ready"
        self._process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={self._out}", self._program, "serve",
             "--cql-port", "0", "--ready-file", str(ready), "--memory-limit", "1G", "--log-level", "error"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.port = self._wait_for(ready)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind, *rest):
        try:
            # SIGTERM to valgrind is SIGTERM to the server, which stops and leaves the counts.
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(timeout=START_SECONDS)
            if kind is None:
                self.counts = _inclusive(self._out)
        finally:
            self._end()

    def _end(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _wait_for(self, ready):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise RuntimeError(f"{self._program} does not start under valgrind")
            if ready.exists() and ready.stat().st_size > 0:
                return json.loads(ready.read_text())["cql_port"]
            time.sleep(0.05)
        raise RuntimeError(f"{self._program} does not answer within {START_SECONDS} s")


def _inclusive(out):
    """Instructions of each function with all that it calls, by its name without arguments."""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", str(out)],
                          check=True, capture_output=True, text=True).stdout
    counts = {}
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) \([ \d.]+%\)\s+\S*?:(.+?)(?: \[.*\])?$", line)
        if match:
            # A function may have several files.
            name = match.group(2).split("(")[0]
            counts[name] = max(counts.get(name, 0), int(match.group(1).replace(",", "")))
    return counts
