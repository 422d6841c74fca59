"""What Feast's Cassandra store does alone."""

import datetime

import pandas

from conftest import row


def test_rows_outlive_the_ttl_of_their_view(session, make_store, make_view):
    """It writes no TTL: how old a value may be is for Feast to say, when it reads."""
    store = make_store()
    store.apply(make_view(ttl=datetime.timedelta(hours=1)))
    store.write_to_online_store("stats", pandas.DataFrame([row(1000, 0)]))
    session.execute("UPDATE liststore.clock SET advance = 30d WHERE key = 'clock'")
    assert [found.time_left for found in session.execute(
        "SELECT ttl(value) AS time_left FROM feast.shop_stats")] == [None] * 3
