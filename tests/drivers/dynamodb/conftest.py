"""One endpoint for all tests, and tables for each."""

import itertools
import json
import os
import pathlib
import re
import uuid

import pytest

pytest.register_assert_rewrite("endpoint")
# pylint: disable=wrong-import-position
import endpoint
import schemas
import wire


@pytest.fixture(scope="session")
def url():
    with endpoint.opened() as address:
        yield address


@pytest.fixture(scope="session")
def client(url):
    return endpoint.connect(url)


@pytest.fixture(scope="session")
def new_name():
    run, numbers = uuid.uuid4().hex[:8], itertools.count()
    return lambda: f"t{run}.{next(numbers)}"


def create(client, name, schema):
    endpoint.call(client, name, "CreateTable", {"TableName": wire.TABLE, **schemas.SCHEMAS[schema]})
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 0.1, "MaxAttempts": 100})
    return name


@pytest.fixture
def make_table(client, new_name):
    """make_table(schema, items...): the name of a table that is gone after the test."""
    made = []

    def make(schema, *items):
        made.append(create(client, new_name(), schema))
        for item in items:
            endpoint.call(client, made[-1], *wire.put(item))
        return made[-1]

    yield make
    for name in made:
        endpoint.outcome(client, name, "DeleteTable", {"TableName": name})


@pytest.fixture(scope="module")
def kept_table(client, new_name):
    """kept_table(schema, items): one that all tests of a module read."""
    made = {}

    def make(schema, key, items):
        if key not in made:
            made[key] = create(client, new_name(), schema)
            for item in items:
                endpoint.call(client, made[key], *wire.put(item))
        return made[key]

    yield make
    for name in made.values():
        endpoint.outcome(client, name, "DeleteTable", {"TableName": name})


@pytest.fixture
def run(client):
    """run(table, call, expected=None): the answer, checked."""

    def one(table, call, expected=None):
        return endpoint.check(client, table, *call, {} if expected is None else expected)

    return one


# What moto answers otherwise, by test: it takes much that is an error, and has texts of its own. Made by a run with
# LISTSTORE_DYNAMODB=moto LISTSTORE_DYNAMODB_RECORD=1.
MOTO = pathlib.Path(__file__).with_name("moto_differs.json")
RECORDED = {}


def pytest_runtest_logreport(report):
    if report.failed and os.environ.get("LISTSTORE_DYNAMODB_RECORD") and endpoint.kind() == "moto":
        said = str(report.longrepr.reprcrash.message).replace("AssertionError: ", "")
        RECORDED[report.nodeid.rpartition("/")[2]] = re.sub("t[0-9a-f]{8}[.][0-9]+", "TABLE", " ".join(said.split()))[
            :100
        ]


def pytest_sessionfinish():
    if RECORDED:
        MOTO.write_text(json.dumps(RECORDED, indent=0, sort_keys=True) + "\n")


def pytest_collection_modifyitems(items):
    """A case that another implementation is known to answer otherwise has to be answered otherwise there."""
    kind = endpoint.kind()
    moto = json.loads(MOTO.read_text()) if kind == "moto" and not os.environ.get("LISTSTORE_DYNAMODB_RECORD") else {}
    for test in items:
        said = moto.get(test.nodeid.rpartition("/")[2])
        if said:
            test.add_marker(pytest.mark.xfail(reason=said, strict=True))
        for mark in test.iter_markers("differs"):
            if kind in mark.kwargs:
                test.add_marker(pytest.mark.xfail(reason=mark.kwargs[kind], strict=True))
        if kind != "liststore" and test.get_closest_marker("own"):
            test.add_marker(pytest.mark.skip(reason="of liststore alone"))


def pytest_configure(config):
    config.addinivalue_line("markers", "differs(local=..., moto=..., why=...): what others answer, and why we do not")
    config.addinivalue_line("markers", "source(text): the page of Amazon's documentation that says so")
    config.addinivalue_line("markers", "own: not asked of other implementations")
