"""Time to live by a clock that the test moves.

Source: Amazon DynamoDB Developer Guide, "Using time to live (TTL)". There deletion comes within days; here at the time.
"""

import json
import subprocess
import urllib.request

import pytest

import conftest
import endpoint
from wire import Number, get, item, items, put, query, scan, update

START = 1_767_225_600  # 2026-01-01 00:00 UTC
DAY = 86_400
pytestmark = pytest.mark.own


class Clocked:
    def __init__(self, facts):
        self._clock = f"http://127.0.0.1:{facts['http_port']}/api/clock"
        self.client = endpoint.connect(f"http://127.0.0.1:{facts['dynamodb_port']}")

    def advance(self, seconds):
        request = urllib.request.Request(
            self._clock, json.dumps({"advance": f"{seconds}s"}).encode(), {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(request, timeout=60).close()

    def create(self, name, *rows, schema="SN", enabled=True):
        conftest.create(self.client, name, schema)
        if enabled:
            self.enable(name)
        for row in rows:
            self.run(name, put(row))

    def enable(self, name, enabled=True):
        self.run(
            name,
            (
                "UpdateTimeToLive",
                {"TableName": name, "TimeToLiveSpecification": {"AttributeName": "t", "Enabled": enabled}},
            ),
        )

    def run(self, name, call):
        return endpoint.call(self.client, name, *call)

    def left(self, name):
        return sorted(int(one["sk"]["N"]) for one in self.run(name, scan())["Items"])


@pytest.fixture(scope="module")
def clocked():
    if endpoint.kind() != "liststore":
        pytest.skip("of liststore alone")
    command = [
        endpoint.BINARY,
        "serve",
        "--cql-port",
        "0",
        "--dynamodb-port",
        "0",
        "--http-port",
        "0",
        "--until-eof",
        "--clock",
        f"manual:{START}",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Clocked(json.loads(process.stdout.readline()))
        process.communicate()


@pytest.fixture
def now(clocked):
    """Seconds: read from what the server says of a table, which is when it was created."""
    conftest.create(clocked.client, "when", "S")
    made = clocked.run("when", ("DeleteTable", {"TableName": "when"}))["TableDescription"]["CreationDateTime"]
    return int(made.timestamp())


def test_items_end_at_their_time(clocked, now):
    clocked.create(
        "ends", *({"pk": "a", "sk": number, "t": now + number * 10} for number in range(1, 5)), {"pk": "a", "sk": 9}
    )
    assert clocked.left("ends") == [1, 2, 3, 4, 9]
    clocked.advance(21)
    assert clocked.left("ends") == [3, 4, 9]
    assert clocked.run("ends", get({"pk": "a", "sk": 1})) == {}
    assert clocked.run("ends", query("pk = :p", values={":p": "a"}))["Count"] == 3
    clocked.advance(DAY)
    assert clocked.left("ends") == [9]


def test_they_leave_indexes_too(clocked, now):
    clocked.create(
        "indexed", {"pk": "a", "sk": 1, "v": "x", "t": now + 10}, {"pk": "a", "sk": 2, "v": "x"}, schema="lists"
    )
    clocked.advance(11)
    found = clocked.run("indexed", query("pk = :p AND v = :v", values={":p": "a", ":v": "x"}, IndexName="by_v"))
    assert [one["sk"]["N"] for one in found["Items"]] == ["2"]


def test_an_update_moves_the_time(clocked, now):
    clocked.create("moved", *({"pk": "a", "sk": number, "t": now + 10} for number in range(4)))
    clocked.run("moved", update({"pk": "a", "sk": 0}, "SET t = :t", values={":t": now + 100}))
    clocked.run("moved", update({"pk": "a", "sk": 1}, "REMOVE t"))
    clocked.run("moved", put({"pk": "a", "sk": 2}))
    clocked.run("moved", update({"pk": "a", "sk": 3}, "SET w = :t", values={":t": 1}))
    clocked.advance(11)
    assert clocked.left("moved") == [0, 1, 2]
    clocked.advance(100)
    assert clocked.left("moved") == [1, 2]


def test_other_types_and_long_past_times_do_not_count(clocked, now):
    others = [str(now + 5), None, [now + 5], {"x": 1}, {now + 5}, True, now - 5 * 366 * DAY, 0, -1, Number("1E50")]
    clocked.create("others", *({"pk": "a", "sk": number, "t": other} for number, other in enumerate(others)))
    clocked.advance(10)
    assert clocked.left("others") == list(range(len(others)))


def test_enabled_later_and_disabled(clocked, now):
    clocked.create(
        "later", {"pk": "a", "sk": 1, "t": now + 10}, {"pk": "a", "sk": 2, "t": now + 100_000}, enabled=False
    )
    clocked.advance(20)
    assert clocked.left("later") == [1, 2]
    clocked.enable("later")
    clocked.advance(1)
    assert clocked.left("later") == [2]


def test_a_new_item_after_an_expired_one(clocked, now):
    clocked.create("again", {"pk": "a", "sk": 1, "t": now + 10, "v": 1})
    clocked.advance(11)
    clocked.run("again", put({"pk": "a", "sk": 1, "w": 2}, ConditionExpression="attribute_not_exists(pk)"))
    assert clocked.run("again", scan())["Items"] == items([{"pk": "a", "sk": 1, "w": 2}])


def test_an_update_after_the_end_sees_nothing_of_it(clocked, now):
    clocked.create("after", {"pk": "a", "sk": 1, "t": now + 10, "v": 1})
    clocked.advance(11)
    found = clocked.run("after", update({"pk": "a", "sk": 1}, "SET w = :w", values={":w": 2}, ReturnValues="ALL_NEW"))
    assert found["Attributes"] == item({"pk": "a", "sk": 1, "w": 2})


def test_fractions_of_a_second(clocked, now):
    clocked.create(
        "fractions",
        {"pk": "a", "sk": 1, "t": Number(f"{now + 10}.5")},
        {"pk": "a", "sk": 2, "t": Number(f"{now + 1000}.5")},
    )
    clocked.advance(12)
    assert clocked.left("fractions")[-1:] == [2]
