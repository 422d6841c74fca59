"""A Redis server of our own for a round: on a free port, on one core."""

import os
import socket
import subprocess
import tempfile
import time

from compare_lib.programs import Failure

START_SECONDS_MAX = 30
PORTS_TRIED = 5


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
    except OSError:
        return False


class RedisServer:
    """Runs while the `with` block does; ended by its pid.

    `append_fsync`: what its append-only file is synchronised by (`everysec`, `always`); None: there is none,
    and nothing is kept. `parent`: where its folder is made; None: where temporary files are.
    """

    def __init__(self, program, append_fsync=None, parent=None):
        self._program = program
        self._parent = parent
        self._kept = ["--appendonly", "no"]
        if append_fsync:
            self._kept = ["--appendonly", "yes", "--appendfsync", append_fsync]
        self._folder = None
        self._process = None
        self.port = 0

    @property
    def pid(self):
        return self._process.pid

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="compare-redis-", dir=self._parent)
        # Somebody else may take the port between the look and the start.
        try:
            for _ in range(PORTS_TRIED):
                self.port = _free_port()
                if self._start():
                    return self
            raise Failure(f"{self._program} does not start, on {PORTS_TRIED} ports")
        except BaseException:
            if self._process is not None:
                self._stop()
            self._folder.cleanup()
            raise

    def __exit__(self, *exception):
        self._stop()
        self._folder.cleanup()

    def _start(self):
        # The same core that a server of ours gets: the first that this process may use.
        core = min(os.sched_getaffinity(0))
        try:
            self._process = subprocess.Popen(
                [self._program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                 *self._kept, "--daemonize", "no", "--dir", self._folder.name],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                preexec_fn=lambda: os.sched_setaffinity(0, {core}))
        except OSError as error:
            raise Failure(f"{self._program}: {error.strerror}") from error
        end = time.monotonic() + START_SECONDS_MAX
        while time.monotonic() < end:
            if self._process.poll() is not None:
                return False
            if _answers(self.port):
                return True
            time.sleep(0.02)
        raise Failure(f"{self._program} does not answer within {START_SECONDS_MAX} s")

    def _stop(self):
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
