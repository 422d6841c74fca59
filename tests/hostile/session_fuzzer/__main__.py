"""Runs the fuzzer against a server of its own.

    python3 tests/hostile/session_fuzzer PROGRAM [--seconds S] [--seed N] [--size BYTES] [--slower FACTOR]
                                            [--account SECONDS]

Starts `PROGRAM serve`, sends requests of all kinds for S seconds, and fails where the server ends, does not
answer, has its loops spend more processor time on a request than its bytes may cost, spends more on it in
all than the time-outs allow, holds more memory than its limit, or loses a row of a table that nobody else
touches. The requests before a failure are kept in
session_fuzzer_failure.bin, which --replay sends again, one after the other.
"""

import argparse
import collections
import json
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import time

if __package__ in (None, ""):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
    __package__ = "session_fuzzer"  # pylint: disable=redefined-builtin

from . import judge, memory, mutations, wire  # noqa: E402
from .statements import CREATE_HEAVY, KEYSPACES, Statements  # noqa: E402

MIB = 1 << 20
MEMORY_LIMIT_MIB = 192
WITNESS_ROWS = 64
KEPT_REQUESTS = 64
FAILURE_FILE = "session_fuzzer_failure.bin"


class Failure(Exception):
    """What must not happen did."""


def start_server(program):
    """(process, port). The server ends when its standard input is closed."""
    process = subprocess.Popen(
        [program, "serve", "--cql-port", "0", "--memory-limit", f"{MEMORY_LIMIT_MIB}M", "--until-eof",
         "--log-level", "error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if not line:
        raise Failure(f"{program} did not start")
    return process, json.loads(line)["cql_port"]


class Witness:
    """A client that behaves well: it is always answered, and nothing that it wrote is lost."""

    def __init__(self, port, seconds):
        self.client = wire.Client(port, seconds)
        self.run(b"CREATE KEYSPACE witness WITH replication = {'class': 'NetworkTopologyStrategy', "
                 b"'replication_factor': 1}")
        self.run(b"CREATE TABLE witness.rows (p int, c int, v text, PRIMARY KEY (p, c))")
        for i in range(WITNESS_ROWS):
            self.run(f"INSERT INTO witness.rows (p, c, v) VALUES ({i % 8}, {i}, 'kept {i}')".encode())
        self.expected = self.rows()

    def run(self, text):
        opcode, body = self.client.ask(wire.QUERY, wire.query(text))
        if opcode == wire.ERROR:
            raise Failure(f"the witness was refused {text!r}: {body[:300]!r}")
        return body

    def account(self, process):
        """Who has the memory: as the kernel says, and as the server does."""
        return f"{memory.text(memory.resident(process.pid))} | {memory.text(memory.counted(self.client))}"

    def rows(self):
        return self.run(b"SELECT p, c, v FROM witness.rows")

    def look(self):
        opcode, _ = self.client.ask(wire.OPTIONS, b"")
        if opcode != wire.SUPPORTED:
            raise Failure("OPTIONS was not answered")
        opcode, body = self.client.ask(wire.QUERY, wire.query(b"SELECT p, c, v FROM witness.rows"))
        if wire.error_code(opcode, body) == wire.OVERLOADED:
            return  # a refusal loses nothing
        if body != self.expected:
            raise Failure("rows of the witness were lost or changed")


class Fuzzer:
    """The client that does not behave well."""

    def __init__(self, port, process, arguments):
        self.port, self.seconds = port, arguments.answer_seconds
        self.rng = random.Random(arguments.seed)
        self.statements = Statements(self.rng, arguments.size)
        self.size = arguments.size
        self.process = judge.Process(process.pid)
        self.resident_bytes_max = MEMORY_LIMIT_MIB * MIB * 105 // 100
        # Others wait for what a loop does. What leaves it reads as much as it likes, until it times out.
        self.budgets = (judge.Budget("of loops", int(100e6 * arguments.slower), int(1000 * arguments.slower)),
                        judge.Budget("in all", int(11e9 * arguments.slower), int(2000 * arguments.slower)))
        self.client = None
        self.sent = collections.deque(maxlen=KEPT_REQUESTS)
        self.counts = collections.Counter()
        self.prepared = []  # (id, markers)
        self.paging = None
        self.worst = (0.0, b"")

    # --- Making requests ------------------------------------------------------------------------

    def text(self, statement):
        data = statement.encode()
        # A table that is not made leaves nothing to ask for.
        if self.rng.random() < 0.15 and not statement.startswith("CREATE TABLE"):
            self.counts["mutated texts"] += 1
            data = mutations.text(self.rng, data, 4 * self.size)
        return data

    def options(self):
        rng = self.rng
        options = {}
        if rng.random() < 0.5:
            options["page_size"] = rng.choice((1, 2, 100, 5000, 0, -1, 2 ** 31 - 1))
        if self.paging is not None and rng.random() < 0.3:
            state = self.paging if rng.random() < 0.8 else mutations.text(rng, self.paging, 4096)
            options["paging_state"] = state
        if rng.random() < 0.05:
            options["timestamp"] = rng.randrange(-2 ** 63, 2 ** 63)
        if rng.random() < 0.05:
            options["serial"] = rng.choice((8, 9, 1, 77))
        if rng.random() < 0.1:
            options["consistency"] = rng.choice((0, 1, 2, 3, 4, 5, 6, 8, 9, 10)) if rng.random() < 0.95 else 99
        return options

    def bound(self, markers):
        count = markers if self.rng.random() < 0.9 else self.rng.randrange(20)
        return [mutations.bound_value(self.rng, self.size) for _ in range(min(count, 5000))]

    def request(self):
        """(opcode, body) of a sound frame."""
        draw = self.rng.random()
        if draw < 0.15:
            return wire.PREPARE, wire.long_string(self.text(self.statements.data()))
        if draw < 0.45 and self.prepared:
            statement_id, markers = self.rng.choice(self.prepared)
            return wire.EXECUTE, wire.execute(statement_id, bound=self.bound(markers), **self.options())
        if draw < 0.5:
            children = []
            for _ in range(self.rng.randrange(1, 20)):
                if self.prepared and self.rng.random() < 0.4:
                    statement_id, markers = self.rng.choice(self.prepared)
                    children.append((statement_id, True, self.bound(markers)))
                else:
                    children.append((self.statements.write().encode(), False, []))
            return wire.BATCH, wire.batch(self.rng.choice((0, 1, 1, 1, 1, 2, 3)), children)
        if draw < 0.51:
            return wire.OPTIONS, b""
        return wire.QUERY, wire.query(self.text(self.statements.any()), **self.options())

    def heavy_request(self):
        return wire.QUERY, wire.query(self.text(self.statements.heavy()))

    # --- Sending them ---------------------------------------------------------------------------

    def connected(self):
        if self.client is None:
            self.client = wire.Client(self.port, self.seconds)
            for keyspace in KEYSPACES:
                self.client.ask(wire.QUERY, wire.query(
                    f"CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = {{'class': "
                    f"'NetworkTopologyStrategy', 'replication_factor': 1}}".encode()))
            self.client.ask(wire.QUERY, wire.query(CREATE_HEAVY.encode()))
        return self.client

    def drop_connection(self):
        if self.client is not None:
            self.client.close()
        self.client = None

    def one(self):
        opcode, body = self.heavy_request() if self.rng.random() < 0.03 else self.request()
        data = wire.frame(opcode, body)
        client = self.connected()
        self.sent.append(data)
        self.counts["requests"] += 1
        client.send(data)
        answer = client.answer()
        code = wire.error_code(*answer)
        self.counts["answered" if code is None else f"refused 0x{code:04x}"] += 1
        if code == wire.UNPREPARED:
            self.prepared = [made for made in self.prepared if made[0] not in body]
        if opcode == wire.PREPARE:
            made = wire.prepared_id(*answer)
            if made:
                self.prepared = self.prepared[-60:] + [made]
        self.paging = wire.paging_state(*answer) or self.paging
        return 1, len(data), client.received

    def burst(self):
        """Requests together, and answers that are not always read."""
        count = self.rng.randrange(2, 40)
        if self.rng.random() < 0.15:
            make, count = self.heavy_request, min(count, 8)
        else:
            make = self.request
        frames = [wire.frame(*make(), stream=i) for i in range(count)]
        client = self.connected()
        self.sent.append(b"".join(frames))
        self.counts["requests in bursts"] += len(frames)
        client.send(b"".join(frames))
        received = 0
        if self.rng.random() < 0.2:
            self.drop_connection()  # what it is owed has nobody to go to
        else:
            for _ in frames:
                client.answer()
                received += client.received
        return len(frames), sum(len(data) for data in frames), received

    def damaged(self):
        data = mutations.frame(self.rng, wire.frame(*self.request()))
        self.sent.append(data)
        self.counts["damaged frames"] += 1
        client = wire.Client(self.port, self.seconds, starts=self.rng.random() < 0.8)
        try:
            client.send(data)
            client.read_to_the_end()
        finally:
            client.close()
        return 2, len(data), 0

    def step(self):
        before = self.process.cpu_nanos()
        draw = self.rng.random()
        action = self.one if draw < 0.93 else self.burst if draw < 0.96 else self.damaged
        try:
            cost = action()
        except wire.Gone:
            # Of a connection, the end is an answer.
            self.counts["connections ended"] += 1
            self.drop_connection()
            cost = (40, len(self.sent[-1]), 0)
        after = self.process.cpu_nanos()
        self.check(action, [now - then for now, then in zip(after, before)], cost)

    def check(self, action, spent, cost):
        for budget, nanos in zip(self.budgets, spent):
            allowed = budget.allowed_nanos(*cost)
            if nanos / allowed > self.worst[0]:
                self.worst = (nanos / allowed, f"{nanos / 1e6:.1f} ms {budget.name}, {cost[1]} bytes, {action.__name__}")
            if nanos > allowed:
                raise Failure(f"{cost[0]} request(s) of {cost[1]} bytes, answered by {cost[2]}, took {nanos / 1e6:.0f} ms "
                              f"of processor time {budget.name}; {allowed / 1e6:.0f} are allowed")
        held = self.process.resident_bytes()
        self.counts["resident MiB, at most"] = max(self.counts["resident MiB, at most"], held // MIB)
        if held > self.resident_bytes_max:
            raise Failure(f"{held // MIB} MiB are resident; the limit of {MEMORY_LIMIT_MIB} MiB and 5 % are allowed; in MiB: "
                          + memory.text(memory.resident(self.process.pid)))


def replay(port, path, process):
    looks = judge.Process(process.pid)
    with open(path, "rb") as file:
        frames = pickle.load(file)
    for i, data in enumerate(frames):
        before = looks.cpu_nanos()[1]
        client = wire.Client(port, 60)
        try:
            client.send(data)
            client.read_to_the_end()
        except wire.Gone:
            pass
        client.close()
        print(f"{i:3}  {len(data):8} bytes  {(looks.cpu_nanos()[1] - before) / 1e6:9.1f} ms  "
              f"{looks.resident_bytes() // MIB:5} MiB  {data[9:80]!r}")


def account_at_the_end(witness, process):
    try:
        return witness.account(process)
    except (TimeoutError, ConnectionError, wire.Gone):
        return "the server does not say"


def run(arguments, process, port):
    witness = Witness(port, arguments.answer_seconds)
    fuzzer = Fuzzer(port, process, arguments)
    ends = time.monotonic() + arguments.seconds
    steps = 0
    began = accounted = time.monotonic()
    try:
        while time.monotonic() < ends:
            fuzzer.step()
            steps += 1
            if steps % 100 == 0:
                witness.look()
            if arguments.account and time.monotonic() - accounted >= arguments.account:
                accounted = time.monotonic()
                print(f"{accounted - began:6.0f} s  {steps:7} steps  {witness.account(process)}", flush=True)
            if process.poll() is not None:
                raise Failure(f"the server ended with status {process.returncode}")
        witness.look()
    except (Failure, TimeoutError, ConnectionError, wire.Gone) as error:
        time.sleep(0.2)  # a process that crashes needs a moment to be seen dead
        status = process.poll()
        with open(FAILURE_FILE, "wb") as file:
            pickle.dump(list(fuzzer.sent), file)
        what = str(error) if isinstance(error, Failure) else f"no answer ({type(error).__name__})"
        if status is not None:
            what = f"the server ended with status {status}"
        else:
            what += f"\nin MiB, a moment later: {account_at_the_end(witness, process)}"
        raise Failure(f"step {steps}: {what}\nthe last requests are in {FAILURE_FILE}; the last one begins with "
                      f"{fuzzer.sent[-1][:400] if fuzzer.sent else b''!r}") from error
    for name, count in sorted(fuzzer.counts.items()):
        print(f"  {name:24} {count}")
    print(f"  nearest to its allowance {fuzzer.worst[0]:.2f} ({fuzzer.worst[1]})")


def parse(words):
    parser = argparse.ArgumentParser(prog="session_fuzzer", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", help="the liststore program")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("LISTSTORE_FUZZ_SECONDS", 60)))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("LISTSTORE_SEED", 1712)))
    parser.add_argument("--size", type=int, default=200_000, help="of large values, in bytes")
    parser.add_argument("--slower", type=float, default=1, help="factor on the time that requests may take")
    parser.add_argument("--answer-seconds", type=float, default=60)
    parser.add_argument("--account", type=float, metavar="SECONDS", help="print who has the memory, as often as that")
    parser.add_argument("--replay", metavar="FILE", help="send these requests again, and say what each costs")
    return parser.parse_args(words)


def main(words):
    arguments = parse(words)
    print(f"seed={arguments.seed} (replay with LISTSTORE_SEED={arguments.seed})", flush=True)
    process, port = start_server(arguments.program)
    try:
        if arguments.replay:
            replay(port, arguments.replay, process)
        else:
            run(arguments, process, port)
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
    if process.returncode != 0:
        print(f"FAILED: the server ended with status {process.returncode}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
