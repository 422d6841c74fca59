"""What the launchers of DynamoDB Local and moto share: a child that ends with our standard input."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SKIPPED = 77
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 30


def end(status, text):
    print(text, file=sys.stderr, flush=True)
    sys.exit(status)


def cache_of(name):
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "liststore" / name


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


def run(make_command, version):
    """Starts make_command(port, folder), prints a line of JSON when it listens, and ends it with standard input."""
    folder = tempfile.mkdtemp(prefix="dynamodb-peer-")
    port = free_port()
    try:
        with open(os.path.join(folder, "output"), "w+b") as output, subprocess.Popen(
            make_command(port, folder), cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ) as process:
            try:
                begin = time.monotonic()
                while not listens(port):
                    if process.poll() is not None or time.monotonic() - begin > START_SECONDS_MAX:
                        output.seek(0)
                        end(2, f"it does not start: {output.read().decode(errors='replace')[-3000:]}")
                    time.sleep(0.1)
                print(
                    json.dumps({"dynamodb": f"http://127.0.0.1:{port}", "pid": process.pid, "version": version}),
                    flush=True,
                )
                signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
                threading.Thread(
                    target=lambda: (sys.stdin.buffer.read(), os.kill(os.getpid(), signal.SIGTERM)), daemon=True
                ).start()
                process.wait()
                end(2, "it has ended by itself")
            finally:
                if process.poll() is None:
                    process.terminate()
                    try:
                        process.wait(timeout=STOP_SECONDS_MAX)
                    except subprocess.TimeoutExpired:
                        process.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
