"""Time as a test sees it: frozen, moved, jumped, scaled, all through liststore.clock."""

import time

import pytest
from cassandra import InvalidRequest

THIRTY_DAYS = 30 * 86_400
TABLE = """
    CREATE TABLE feat.clicks (
      user text, ts timeuuid, item bigint, score float, PRIMARY KEY (user, ts)
    ) WITH CLUSTERING ORDER BY (ts DESC)
"""


def set_clock(session, assignment):
    session.execute(f"UPDATE liststore.clock SET {assignment} WHERE key = 'clock'")


def clock(session):
    return session.execute("SELECT mode, now, now_nanos FROM liststore.clock").one()


def add(session, item, ttl):
    session.execute("INSERT INTO feat.clicks (user, ts, item) VALUES ('u1', now(), %s) USING TTL %s",
                    (item, ttl))


def clicks(session):
    """(item, seconds left), in no order."""
    rows = session.execute("SELECT item, TTL(item) AS ttl FROM feat.clicks WHERE user = 'u1'")
    return sorted((row.item, row.ttl) for row in rows)


@pytest.fixture
def clicked(make_server):
    def make(*arguments):
        connection = make_server(*arguments).connect()
        connections.append(connection)
        session = connection.__enter__()
        session.execute("CREATE KEYSPACE feat WITH replication = "
                        "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        session.execute(TABLE)
        return session

    connections = []
    yield make
    for connection in connections:
        connection.__exit__(None, None, None)


def test_thirty_days_pass_at_once(clicked):
    session = clicked("--clock", "manual")
    assert clock(session).mode == "manual"
    assert clock(session).now_nanos == clock(session).now_nanos, "it stands still"
    add(session, 7, THIRTY_DAYS)
    assert clicks(session) == [(7, THIRTY_DAYS)]
    set_clock(session, "advance = 29d23h59m59s")
    assert clicks(session) == [(7, 1)]
    set_clock(session, "advance = 1s")
    assert clicks(session) == []

    # What is written now carries the moved time, though the driver sends the machine's.
    add(session, 8, THIRTY_DAYS)
    row = session.execute("SELECT WRITETIME(item) AS micros, ts FROM feat.clicks").one()
    now = clock(session).now_nanos // 1000
    assert 0 <= row.micros - now < 1000
    assert row.micros / 1e6 > time.time() + THIRTY_DAYS - 86_400
    # now() too; a timeuuid counts 100 ns since 1582.
    assert 0 <= (row.ts.time - 0x01B21DD213814000) // 10 - now < 1000


def test_jumps_take_one_element_each(clicked):
    session = clicked("--clock", "manual:1700000000", "--shards", "3")
    for item, ttl in ((1, 500), (2, 60), (3, THIRTY_DAYS), (4, 0)):
        add(session, item, ttl)
    seen = []
    for _ in range(3):
        set_clock(session, "jump = 'next_expiry'")
        seen.append((clock(session).now_nanos, [item for item, _ in clicks(session)]))
    start = 1_700_000_000
    assert seen == [((start + 60) * 10**9, [1, 3, 4]), ((start + 500) * 10**9, [3, 4]),
                    ((start + THIRTY_DAYS) * 10**9, [4])]
    with pytest.raises(InvalidRequest, match="nothing expires"):
        set_clock(session, "jump = 'next_expiry'")


def test_frozen_while_it_runs(clicked):
    session = clicked()
    assert clock(session).mode == "real"
    assert clock(session).now_nanos / 1e9 >= time.time() - 60
    with pytest.raises(InvalidRequest, match="freeze it first"):
        set_clock(session, "advance = 1d")
    set_clock(session, "mode = 'manual'")
    add(session, 1, 3600)
    set_clock(session, "advance = 1h")
    assert clicks(session) == []
    add(session, 2, 3600)
    written = session.execute("SELECT WRITETIME(item) AS micros FROM feat.clicks").one().micros
    assert 0 <= written - clock(session).now_nanos // 1000 < 1000, "not the driver's timestamp"
    with pytest.raises(InvalidRequest, match="ahead of the machine's"):
        set_clock(session, "mode = 'real'")
    assert clock(session).mode == "manual"


def test_time_flies(clicked):
    session = clicked("--clock", "scaled:3600")
    assert clock(session).mode == "scaled:3600"
    set_clock(session, "mode = 'scaled:1000000'")
    add(session, 1, THIRTY_DAYS)
    # An hour passes in 3.6 ms.
    while clicks(session)[0][1] > THIRTY_DAYS - 3600:
        pass
    set_clock(session, "advance = 30d")
    assert clicks(session) == []
    set_clock(session, "mode = 'manual'")
    assert clock(session).now_nanos == clock(session).now_nanos
    assert clock(session).now_nanos / 1e9 > time.time() + 29 * 86_400


def test_the_same_output_ten_times(clicked):
    session = clicked("--clock", "manual:1700000000")
    outputs = set()
    for _ in range(10):
        session.execute("TRUNCATE feat.clicks")
        add(session, 7, THIRTY_DAYS)
        before = clicks(session)
        set_clock(session, "advance = 29d23h59m59s")
        last = clicks(session)
        set_clock(session, "advance = 1s")
        outputs.add(str((before, last, clicks(session))))
    assert outputs == {str(([(7, THIRTY_DAYS)], [(7, 1)], []))}
