"""Rows up to the limit, and then tables without end: the process stays within its limit.

    python3 tests/hostile/table_flood.py PROGRAM [--limit MIB] [--tables N]

What tables take beside their rows is counted with what the system says of the process (docs/memory.md). Fails
where more is resident than the limit and 5 %, where nothing is ever refused, or where, once tables are
dropped, none can be made again.
"""

import argparse
import json
import pathlib
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from session_fuzzer import judge, memory, wire  # noqa: E402

MIB = 1 << 20
ROWS_OF_A_TABLE = 48  # in most lanes
COLUMNS = ", ".join(f"v{i} text" for i in range(30))


class Failure(Exception):
    """What must not happen did."""


class Flood:
    def __init__(self, process, port, limit_mib):
        self.process, self.limit_bytes = judge.Process(process.pid), limit_mib * MIB
        self.client = wire.Client(port, 60)
        self.most = 0
        self.must("CREATE KEYSPACE k WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}")

    def ask(self, opcode, body):
        """The error, or None."""
        opcode, body = self.client.ask(opcode, body)
        held = self.process.resident_bytes()
        self.most = max(self.most, held)
        if held > self.limit_bytes * 105 // 100:
            raise Failure(f"{held / MIB:.1f} MiB are resident, of a limit of {self.limit_bytes // MIB}: "
                          f"{memory.text(memory.resident(self.process.pid))} | {memory.text(memory.counted(self.client))}")
        return body if wire.error_code(opcode, body) is not None else None

    def run(self, text):
        return self.ask(wire.QUERY, wire.query(text.encode()))

    def must(self, text):
        if error := self.run(text):
            raise Failure(f"{text}: {error[:200]!r}")

    def fill(self):
        """Rows of one table, until they are refused."""
        self.must("CREATE TABLE k.rows (p int PRIMARY KEY, v blob)")
        opcode, body = self.client.ask(wire.PREPARE, wire.long_string(b"INSERT INTO k.rows (p, v) VALUES (?, ?)"))
        statement, _ = wire.prepared_id(opcode, body)
        for p in range(10 ** 6):
            if self.ask(wire.EXECUTE, wire.execute(statement, bound=[struct.pack(">i", p), b"v" * 20_000])):
                return

    def tables(self, most):
        """Tables with rows, until one is refused; how many."""
        for number in range(most):
            if self.run(f"CREATE TABLE k.t{number} (p int PRIMARY KEY, {COLUMNS})"):
                return number
            for p in range(ROWS_OF_A_TABLE):
                self.run(f"INSERT INTO k.t{number} (p, v0) VALUES ({p}, '{'x' * 300}')")  # refused, where rows are
        raise Failure(f"{most} tables were made; {self.most / MIB:.1f} MiB were resident at most")

    def goes_on(self, tables):
        """Once there is room."""
        for number in range(tables // 2):
            self.must(f"DROP TABLE k.t{number}")
        self.must("TRUNCATE k.rows")
        for _ in range(100):
            if not self.run("CREATE TABLE IF NOT EXISTS k.another (p int PRIMARY KEY)"):
                return
            time.sleep(0.1)
        raise Failure("half of the tables and all rows are gone, and no table can be made")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program", help="the liststore program")
    parser.add_argument("--limit", type=int, default=64, help="of the process, in MiB")
    parser.add_argument("--tables", type=int, default=20_000, help="at most")
    arguments = parser.parse_args(words)
    process = subprocess.Popen(
        [arguments.program, "serve", "--cql-port", "0", "--memory-limit", f"{arguments.limit}M", "--until-eof",
         "--log-level", "error"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        flood = Flood(process, json.loads(process.stdout.readline())["cql_port"], arguments.limit)
        flood.fill()
        tables = flood.tables(arguments.tables)
        flood.goes_on(tables)
        print(f"{tables} tables, {flood.most / MIB:.1f} MiB resident at most")
    except (Failure, wire.Gone, TimeoutError) as failure:
        print(f"FAILED: {failure or type(failure).__name__}")
        return 1
    finally:
        process.stdin.close()
        process.wait(30)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
