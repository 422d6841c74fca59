"""What a request may cost: processor time and memory of the server's process, as the kernel counts them."""

import pathlib
import re

PAGE_BYTES = 4096
LOOP_NAME = re.compile("liststore-[0-9]+")


class Process:
    """The server, looked at from outside. Linux only."""

    def __init__(self, pid):
        self.pid = pid
        self.tasks = pathlib.Path(f"/proc/{pid}/task")
        self.statm = pathlib.Path(f"/proc/{pid}/statm")

    def cpu_nanos(self):
        """(of loops, of all threads) that live, since they began. Clients of a loop wait for what it does."""
        loops, total = 0, 0
        for task in self.tasks.iterdir():
            try:
                nanos = int((task / "schedstat").read_text().split()[0])
                name = (task / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                continue
            total += nanos
            if LOOP_NAME.fullmatch(name):
                loops += nanos
        return loops, total

    def resident_bytes(self):
        return int(self.statm.read_text().split()[1]) * PAGE_BYTES


class Budget:
    """Processor time: so much for any request, and so much for each byte of it and of its answer."""

    def __init__(self, name, request_nanos, byte_nanos):
        self.name = name
        self.request_nanos = request_nanos
        self.byte_nanos = byte_nanos

    def allowed_nanos(self, requests, request_bytes, answer_bytes):
        return requests * self.request_nanos + self.byte_nanos * (request_bytes + answer_bytes)
