"""What a request may cost: processor time and memory of the server's process, as the kernel counts them."""

import pathlib

PAGE_BYTES = 4096


class Process:
    """The server, looked at from outside. Linux only."""

    def __init__(self, pid):
        self.tasks = pathlib.Path(f"/proc/{pid}/task")
        self.statm = pathlib.Path(f"/proc/{pid}/statm")

    def cpu_nanos(self):
        """Of all threads that live, since they began."""
        total = 0
        for task in self.tasks.iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                continue
        return total

    def resident_bytes(self):
        return int(self.statm.read_text().split()[1]) * PAGE_BYTES


class Budget:
    """Time: so much for any request, and so much for each byte of it and of its answer. Memory: a limit."""

    def __init__(self, request_nanos, byte_nanos, resident_bytes):
        self.request_nanos = request_nanos
        self.byte_nanos = byte_nanos
        self.resident_bytes = resident_bytes

    def allowed_nanos(self, requests, request_bytes, answer_bytes):
        return requests * self.request_nanos + self.byte_nanos * (request_bytes + answer_bytes)
