"""`liststore export` and `liststore import` with a Cassandra at the other end."""

import random
import re

import pytest

from conftest import connected

KEYSPACE = ("CREATE KEYSPACE feat WITH replication = "
            "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}")
CELLS = ("item", "score", "tags", "home", "s")
TTL_SECONDS_LOST_MAX = 60  # on a machine that is busy


def create_list_tables(session):
    session.execute(KEYSPACE)
    session.execute("CREATE TYPE feat.zip (code int)")
    session.execute("CREATE TYPE feat.address (street text, zip frozen<zip>)")
    session.execute(
        "CREATE TABLE feat.clicks (user text, seq int, item text, score double, tags frozen<list<text>>,"
        " home frozen<address>, s text static, PRIMARY KEY (user, seq)) WITH CLUSTERING ORDER BY (seq DESC)")
    session.execute("CREATE TABLE feat.hits (user text, seq int, n counter, m counter, PRIMARY KEY (user, seq))")
    session.execute("CREATE TABLE feat.keys (a int, b int, PRIMARY KEY (a, b)) WITH default_time_to_live = 5000")


def fill_list_tables(session):
    """Rows whose cells have timestamps and TTLs of their own."""
    rng = random.Random(1712)
    for step in range(400):
        using = f"USING TIMESTAMP {1000 + step}" + (f" AND TTL {rng.randrange(500, 90_000)}"
                                                    if rng.random() < 0.6 else "")
        user, seq = f"u{rng.randrange(9)}", rng.randrange(30)
        where = f"WHERE user = '{user}' AND seq = {seq}"
        session.execute(rng.choice((
            f"INSERT INTO feat.clicks (user, seq, item, tags) VALUES ('{user}', {seq}, 'i{step}', ['a', '']) {using}",
            f"UPDATE feat.clicks {using} SET score = {step}.5 {where}",
            f"UPDATE feat.clicks {using} SET home = {{street: 'x', zip: {{code: {step}}}}}, item = '' {where}",
            f"UPDATE feat.clicks {using} SET s = 's{step}' WHERE user = '{user}{rng.randrange(2)}'")))
    for number in range(50):
        session.execute(f"UPDATE feat.hits SET n = n + {number}, m = m - 1 WHERE user = 'u{number % 3}' AND seq = 1")
        session.execute(f"UPDATE feat.hits SET n = n + {number} WHERE user = 'u{number % 3}' AND seq = {number}")
        session.execute(f"INSERT INTO feat.keys (a, b) VALUES ({number % 5}, {number})")


def rows_of(session, table, keys, cells):
    """Key -> for each cell its value, timestamp and TTL."""
    columns = [*keys, *(text for cell in cells for text in (cell, f"WRITETIME({cell})", f"TTL({cell})"))]
    rows = session.execute(f"SELECT {', '.join(columns)} FROM {table}")
    return {tuple(row[:len(keys)]): [tuple(row[i:i + 3]) for i in range(len(keys), len(columns), 3)]
            for row in map(tuple, rows)}


def assert_alike(source, target, table, keys, cells):
    """The same rows, as both servers tell them to the driver; TTLs but for what passed meanwhile."""
    ours, theirs = (rows_of(session, table, keys, cells) for session in (source, target))
    assert ours.keys() == theirs.keys() and ours
    for key, cells_of_ours in ours.items():
        for cell, (one, other) in zip(cells, zip(cells_of_ours, theirs[key])):
            assert (str(one[0]), one[1]) == (str(other[0]), other[1]), (key, cell)
            assert (one[2] is None) == (other[2] is None), (key, cell)
            assert one[2] is None or abs(one[2] - other[2]) <= TTL_SECONDS_LOST_MAX, (key, cell)


def assert_all_alike(source, target):
    assert_alike(source, target, "feat.clicks", ("user", "seq"), CELLS)
    assert_alike(source, target, "feat.keys", ("a", "b"), ())
    assert (sorted(map(tuple, source.execute("SELECT user, seq, n, m FROM feat.hits")), key=str)
            == sorted(map(tuple, target.execute("SELECT user, seq, n, m FROM feat.hits")), key=str))


def test_export_and_import(cassandra, cassandra_address, make_server, run_program):
    """A server's tables to Cassandra, and from there into another server."""
    first, second = make_server(), make_server()
    with first.connect() as source, second.connect() as target:
        create_list_tables(source)
        source.execute("CREATE INDEX clicks_by_item ON feat.clicks ((user), item)")
        fill_list_tables(source)
        run = run_program("export", "--via", f"127.0.0.1:{first.port}", "--to", cassandra_address)
        assert run.returncode == 0, run.stdout + run.stderr
        assert run.stdout.count("  the same\n") == 3
        assert "index feat.clicks_by_item becomes one of all partitions" in run.stderr
        assert_all_alike(source, cassandra)
        assert [row.seq for row in cassandra.execute(
            "SELECT seq FROM feat.clicks WHERE user = 'u1' AND item = ''")] == [
                row.seq for row in source.execute("SELECT seq FROM feat.clicks WHERE user = 'u1' AND item = ''")]

        run = run_program("import", "--from", cassandra_address, "--via", f"127.0.0.1:{second.port}",
                          "--keyspace", "feat", "--page-rows", "7")
        assert run.returncode == 0, run.stdout + run.stderr
        assert_all_alike(source, target)
        # Read before, and written again: the same.
        run = run_program("import", "--from", cassandra_address, "--via", f"127.0.0.1:{second.port}",
                          "--table", "feat.clicks", "--table", "feat.keys")
        assert run.returncode == 0, run.stdout + run.stderr


ELEMENTS = ("l", "m", "t", "u", "sl", "sm")


def create_element_tables(session):
    session.execute(KEYSPACE)
    session.execute("CREATE TYPE feat.address (street text, city text)")
    session.execute(
        "CREATE TABLE feat.e (p int, c int, l list<text>, m map<text, int>, t set<decimal>, u address, v int,"
        " sl list<int> static, sm map<int, int> static, PRIMARY KEY (p, c))")


def fill_element_tables(session):
    """Lists change at both ends and in the middle; each write has a timestamp and a TTL of its own, or none."""
    rng = random.Random(2003)
    for step in range(400):
        using = f"USING TIMESTAMP {1_600_000_000_000_000 + 10 * step - rng.randrange(30)}" + (
            f" AND TTL {rng.randrange(500, 90_000)}" if rng.random() < 0.6 else "")
        row = f"WHERE p = {rng.randrange(5)} AND c = {rng.randrange(5)}"
        session.execute(rng.choice((
            f"UPDATE feat.e {using} SET l = l + ['a{step}', 'b'] {row}",
            f"UPDATE feat.e {using} SET l = ['p{step}', 'q'] + l {row}",
            f"UPDATE feat.e {using} SET l = ['w', 'w{step}'], v = {step} {row}",
            f"UPDATE feat.e {using} SET l = l - ['b'] {row}",
            f"UPDATE feat.e {using} SET m['k{step % 6}'] = {step} {row}",
            f"UPDATE feat.e {using} SET m = {{'z': {step}}}, t = t + {{{step}, 3.50}} {row}",
            f"UPDATE feat.e {using} SET t = t - {{3.5}}, u.city = 'c{step}' {row}",
            f"UPDATE feat.e {using} SET u = {{street: 's{step}'}} {row}",
            f"UPDATE feat.e {using} SET sl = sl + [{step}], sm[{step % 4}] = {step} WHERE p = {step % 6}")))


def elements_of(session):
    """The values alone: the driver reads no list with a null in it, as Cassandra's TTL(m) is."""
    rows = session.execute(f"SELECT p, c, v, {', '.join(ELEMENTS)} FROM feat.e")
    return sorted((str(tuple(row)) for row in rows))


def test_each_element(cassandra, cassandra_address, make_server, run_program):
    """With its timestamp, its TTL and its place: the program compares these, the drivers the values."""
    first, second = make_server(), make_server()
    with first.connect() as source, second.connect() as target:
        create_element_tables(source)
        fill_element_tables(source)
        export = ["export", "--via", f"127.0.0.1:{first.port}", "--to", cassandra_address]
        run = run_program(*export, "--page-rows", "3")
        assert run.returncode == 0, run.stdout + run.stderr
        assert not run.stderr
        assert "  the same\n" in run.stdout
        assert elements_of(source) == elements_of(cassandra)
        times = ("SELECT JSON p, c, {0}(l) AS l, {0}(m) AS m, {0}(t) AS t, {0}(sl) AS sl, {0}(sm) AS sm FROM feat.e")
        assert (sorted(row[0] for row in source.execute(times.format("liststore.writetimes")))
                == sorted(row[0] for row in cassandra.execute(times.format("WRITETIME"))))

        run = run_program(*export)
        assert run.returncode == 2
        assert "lists there can only be added to, and feat.e is not empty; truncate it" in run.stderr

        fetch = ["import", "--from", cassandra_address, "--via", f"127.0.0.1:{second.port}", "--keyspace", "feat"]
        for _ in range(2):  # the same again changes nothing
            run = run_program(*fetch)
            assert run.returncode == 0, run.stdout + run.stderr
        assert elements_of(source) == elements_of(target)


def test_views(cassandra, cassandra_address, make_server, run_program):
    """Made behind their tables, filled by the server that has them, and compared."""
    first, second = make_server(), make_server()
    with first.connect() as source, second.connect() as target:
        source.execute(KEYSPACE)
        source.execute("CREATE TABLE feat.\"Clicks\" (user text, seq int, item text, score int, tags set<text>,"
                       " PRIMARY KEY (user, seq))")
        source.execute(
            "CREATE MATERIALIZED VIEW feat.\"ByItem\" AS SELECT * FROM feat.\"Clicks\" WHERE item IS NOT NULL AND"
            " user IS NOT NULL AND seq IS NOT NULL PRIMARY KEY (item, seq, user) WITH CLUSTERING ORDER BY (seq DESC)")
        source.execute(
            "CREATE MATERIALIZED VIEW feat.high AS SELECT user, seq, tags FROM feat.\"Clicks\" WHERE user IS NOT NULL"
            " AND seq >= 5 PRIMARY KEY (seq, user) WITH comment = 'it''s'")
        for step in range(120):
            using = f"USING TIMESTAMP {1000 + step}" + (" AND TTL 5000" if step % 3 == 0 else "")
            source.execute(f"INSERT INTO feat.\"Clicks\" (user, seq, item, score, tags) VALUES"
                           f" ('u{step % 4}', {step % 20}, 'i{step % 7}', {step}, {{'t{step}'}}) {using}")
        run = run_program("export", "--via", f"127.0.0.1:{first.port}", "--to", cassandra_address)
        assert run.returncode == 0, run.stdout + run.stderr
        assert run.stdout.count("  the same\n") == 3 and "1 table, 20 rows, 2 views in " in run.stdout

        # Cassandra fills a view of a table that has rows behind the answer to CREATE.
        cassandra.execute("DROP MATERIALIZED VIEW feat.high")
        run = run_program("export", "--via", f"127.0.0.1:{first.port}", "--to", cassandra_address)
        assert run.returncode == 0, run.stdout + run.stderr

        run = run_program("import", "--from", cassandra_address, "--via", f"127.0.0.1:{second.port}",
                          "--keyspace", "feat")
        assert run.returncode == 0, run.stdout + run.stderr
        for statement in ("SELECT * FROM feat.\"ByItem\"", "SELECT * FROM feat.high"):
            rows = [sorted(str(tuple(row)) for row in session.execute(statement))
                    for session in (source, cassandra, target)]
            assert rows[0] == rows[1] == rows[2] and rows[0]


def test_what_cassandra_has_and_liststore_has_not(cassandra, cassandra_address, make_server, run_program):
    """It is left out and said, or refused before anything is written."""
    cassandra.execute("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    cassandra.execute("CREATE TABLE other.sai (p int, c decimal, v text, PRIMARY KEY (p, c))")
    cassandra.execute("CREATE INDEX sai_v ON other.sai (v) USING 'sai'")
    for value in ("1", "2.50", "300.000"):
        cassandra.execute(f"INSERT INTO other.sai (p, c, v) VALUES (1, {value}, 'x')")
    cassandra.execute("CREATE TABLE other.vectors (p int PRIMARY KEY, l vector<float, 3>)")
    server = make_server()

    def fetch(*options):
        return run_program("import", "--from", cassandra_address, "--via", f"127.0.0.1:{server.port}", *options)

    with server.connect() as session:
        run = fetch("--table", "other.vectors")
        assert run.returncode == 2
        assert "liststore does not support vectors" in run.stderr and "[LS-0011]" in run.stderr
        run = fetch("--table", "other.sai")
        assert run.returncode == 0, run.stdout + run.stderr
        assert "index other.sai_v becomes an ordinary one" in run.stderr
        assert [str(row.c) for row in session.execute("SELECT c FROM other.sai WHERE v = 'x'")] == [
            "1", "2.5", "300"]


def test_replication_that_the_cluster_has_not(cassandra, cassandra_address, make_server, run_program):
    """Of a data centre that is not there: an error that says what to do, and doing it helps."""
    server = make_server("--data-center", "elsewhere")
    with connected(server.port) as source:
        source.execute("CREATE KEYSPACE feat WITH replication = "
                       "{'class': 'NetworkTopologyStrategy', 'elsewhere': 1}")
        source.execute("CREATE TABLE feat.t (k int PRIMARY KEY, v int)")
        source.execute("INSERT INTO feat.t (k, v) VALUES (1, 2)")
    arguments = ["export", "--via", f"127.0.0.1:{server.port}", "--to", cassandra_address]
    run = run_program(*arguments)
    assert run.returncode == 2
    assert re.search(r"error 0x2300.*elsewhere.*--replication gives another one", run.stderr), run.stderr
    run = run_program(*arguments, "--replication", "{'class': 'NetworkTopologyStrategy', 'datacenter1': 1}")
    assert run.returncode == 0, run.stderr
    assert cassandra.execute("SELECT v FROM feat.t").one().v == 2


@pytest.mark.parametrize("direction", ("export", "import"))
def test_another_schema_is_refused(cassandra, cassandra_address, make_server, run_program, direction):
    server = make_server()
    with server.connect() as session:
        for one, column in ((session, "v int"), (cassandra, "v text")):
            one.execute(KEYSPACE)
            one.execute(f"CREATE TABLE feat.t (k int PRIMARY KEY, {column})")
    run = run_program(direction, "--to" if direction == "export" else "--from", cassandra_address,
                      "--via", f"127.0.0.1:{server.port}", "--keyspace", "feat")
    assert run.returncode == 2
    assert "table feat.t: column v: " in run.stderr and "nothing was written" in run.stderr
