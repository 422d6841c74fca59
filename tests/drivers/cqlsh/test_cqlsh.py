"""cqlsh, unmodified: what somebody types or keeps in files, from DESCRIBE to COPY.

Each run is a process of its own, with the history and settings of nobody.
"""

import csv
import os
import pathlib
import random
import re
import subprocess
import sys

import pytest

from server import Server

KEYSPACE = "CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
CLICKS = ("CREATE TABLE feat.clicks (user text, ts int, item bigint, score double, note text, tags frozen<set<text>>,"
          " PRIMARY KEY (user, ts)) WITH CLUSTERING ORDER BY (ts DESC) AND default_time_to_live = 864000")
COPY_ROWS = 100_000
DIALECT = {"escapechar": "\\", "doublequote": False}  # COPY's own


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path, *os.environ.get("LISTSTORE_LOOK", "").split())
    yield server.start()
    server.stop()


@pytest.fixture
def shell(server, tmp_path):
    """shell(statement, ...) is what it prints; it must not complain, unless `complains` says so. `at`: another server."""
    def run(*statements, complains=False, at=server):
        script = tmp_path / "script.cql"
        # A line each: ScyllaDB's shell sends all of a line that begins with DESCRIBE.
        script.write_text("".join(f"{statement};\n" for statement in statements))
        done = subprocess.run(
            [pathlib.Path(sys.executable).parent / "cqlsh", "--no-color",
             "--connect-timeout", "60", "--request-timeout", "60", "127.0.0.1", str(at.port), "-f", script],
            capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL, cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        complaint = re.sub(r"(?m)^.*(DeprecationWarning|pkg_resources|warnings?\.warn).*\n?", "", done.stderr)
        if complains:
            return done.stdout, complaint
        assert (complaint, done.returncode) == ("", 0), done.stdout
        return done.stdout

    return run


@pytest.fixture
def clicks(shell):
    shell(KEYSPACE, CLICKS, "CREATE INDEX clicks_by_item ON feat.clicks((user), item)")
    return shell


def column(said):
    """The numbers of a column that stands alone."""
    return [int(number) for number in re.findall(r"^ +(\d+)$", said, re.MULTILINE)]


def test_it_meets_a_node(shell):
    said = shell("SHOW VERSION", "DESCRIBE CLUSTER")
    assert re.search(r"\[cqlsh [0-9.]+ \| (Cassandra|Scylla) [0-9.]+ \| CQL spec 3[0-9.]+ "
                     r"\| Native protocol v4\]", said)
    assert re.search(r"(?m)^Cluster: liststore$", said)


def test_what_describe_says_makes_the_same_again(clicks, tmp_path):
    listing = clicks("DESCRIBE KEYSPACES", "USE feat", "DESCRIBE TABLES", "DESCRIBE INDEX clicks_by_item")
    for name in ("feat", "clicks", "CREATE INDEX clicks_by_item ON feat.clicks((user), item)"):
        assert name in listing
    described = clicks("DESCRIBE KEYSPACE feat")
    assert "WITH CLUSTERING ORDER BY (ts DESC)" in described
    (tmp_path / "schema.cql").write_text(described)
    clicks("DROP KEYSPACE feat", f"SOURCE '{tmp_path}/schema.cql'")
    assert clicks("DESCRIBE KEYSPACE feat") == described


def test_copy_there_and_back(clicks, tmp_path):
    """With quotes, commas, spaces, nulls. Not with control characters and backslashes, which COPY mistakes."""
    notes = ["", "plain", "a,b", "it's \"so\"", "  two", "größer", " ", "'quoted'", "a;b", "NULL"]
    draw = random.Random(1712)
    with open(tmp_path / "in.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, **DIALECT)
        for i in range(COPY_ROWS):
            writer.writerow([f"user-{i % 997}", i, draw.randrange(-2**63, 2**63), draw.randrange(10**9) / 64,
                             "" if i % 10 == 0 else f"{notes[i % len(notes)]}{i // 7}",
                             "{'a', 'b'}" if i % 3 else ""])

    def rows(name):
        with open(tmp_path / name, newline="", encoding="utf-8") as file:
            return sorted((user, int(ts), int(item), float(score), *rest)
                          for user, ts, item, score, *rest in csv.reader(file, **DIALECT))

    table = "feat.clicks (user, ts, item, score, note, tags)"
    wanted = rows("in.csv")
    assert len(wanted) == COPY_ROWS
    # What came out goes in again, and is the same once more.
    for source, copy in (("in.csv", "out.csv"), ("out.csv", "again.csv")):
        said = clicks("TRUNCATE feat.clicks", f"COPY {table} FROM '{tmp_path}/{source}'",
                      f"COPY {table} TO '{tmp_path}/{copy}'")
        assert f"{COPY_ROWS} rows imported from 1 files" in said
        assert f"{COPY_ROWS} rows exported to 1 files" in said
        assert rows(copy) == wanted


def test_pages_and_formats(clicks):
    clicks(*(f"INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', {i}, {i * i})" for i in range(95)))
    said = clicks("TRUNCATE liststore.requests", "PAGING 10", "SELECT item FROM feat.clicks WHERE user = 'u1'")
    assert "Page size: 10" in said and "(95 rows)" in said
    assert column(said) == [i * i for i in reversed(range(95))]
    assert column(clicks("SELECT page_size FROM liststore.requests WHERE tbl = 'feat.clicks' ALLOW FILTERING"
                         )) == [10] * 10
    said = clicks("EXPAND ON", "SELECT * FROM feat.clicks WHERE user = 'u1' AND ts = 7")
    assert re.search(r"^ item +\| 49$", said, re.MULTILINE)


def test_what_is_refused_is_said_with_its_line(clicks):
    said, complaint = clicks("SELECT * FROM feat.nothing", "CREATE TRIGGER x ON feat.clicks USING 'y'", "SELECT user FROM feat.clicks",
                             complains=True)
    assert ":2:InvalidRequest: Error from server: code=2200" in complaint
    assert "unconfigured table nothing" in complaint and "[LS-" in complaint
    assert "(0 rows)" in said, "it goes on with the next"


def test_the_look_that_lets_it_describe_is_named(shell, tmp_path):
    """Apache's shell asks no server that looks older than Cassandra 4 for its schema, ScyllaDB's asks every one."""
    folder = tmp_path / "default_look"
    folder.mkdir()
    default_look = Server(folder).start()
    try:
        said, _ = shell("DESCRIBE KEYSPACES", "SELECT code FROM liststore.unsupported WHERE kind = 'no effect'",
                        complains=True, at=default_look)
    finally:
        default_look.stop()
    refuses = "DESCRIBE does not exist server side prior Cassandra 4.0" in said
    assert refuses != ("system_schema" in said)
    assert refuses == ("LS-0121" in said)


def test_tracing_is_taken_and_has_nothing_to_tell(clicks):
    said = clicks("TRACING ON", "SELECT user FROM feat.clicks", "TRACING OFF",
                  "SELECT feature FROM liststore.unsupported WHERE kind = 'no effect' AND code = 'LS-0118'")
    assert "(0 rows)" in said
    assert re.search(r"^ +tracing$", said, re.MULTILINE)


def test_the_clock_from_the_shell(clicks):
    said = clicks("UPDATE liststore.clock SET mode = 'manual' WHERE key = 'clock'",
                  "INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', 1, 7) USING TTL 60",
                  "UPDATE liststore.clock SET advance = 59s WHERE key = 'clock'",
                  "SELECT TTL(item) FROM feat.clicks",
                  "UPDATE liststore.clock SET advance = 1s WHERE key = 'clock'",
                  "SELECT item FROM feat.clicks")
    assert column(said) == [1]
    assert re.findall(r"\((\d+) rows\)", said) == ["1", "0"]
