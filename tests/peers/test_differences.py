"""The differential test's statements against Cassandra: differs it where docs/cql_support.md says, and nowhere else?"""

import os
import pathlib
import re
import subprocess

import pytest

from server import BINARY

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(BINARY).with_name("differential_test")
SAME = "(the same)"
CHANGES = "(changes of the schema)"
# Rows of the page that no random statement has.
NEVER_GENERATED = {"tuples after columns", "times before 1400"}
COUNTED = re.compile(r"^ *(\d+)  (.+)$", re.MULTILINE)
ROW = re.compile(r"^\| (.+?) \|", re.MULTILINE)


def differences(address, steps):
    """Name -> how often, of a run without any difference that has no name."""
    if not PROGRAM.exists():
        pytest.skip("differential_test is not built")
    run = subprocess.run([PROGRAM, "--against", address], capture_output=True, text=True, check=False,
                         env={**os.environ, "LISTSTORE_STEPS": str(steps)}, timeout=900)
    assert run.returncode == 0, (run.stdout + run.stderr)[-20_000:]
    return {name: int(count) for count, name in COUNTED.findall(run.stdout)}


def documented():
    """The first column of the page's table, below the heading that it has there."""
    page = (ROOT / "docs/cql_support.md").read_text(encoding="utf-8")
    section = page.split("## Where Cassandra differs\n")[1].split("\n## ")[0]
    return set(ROW.findall(section)) - {"difference", "---"}


def test_cassandra_differs_where_the_page_says(cassandra_address):
    found = differences(cassandra_address, 5000)
    assert found.pop(SAME) > 1000
    assert found.pop(CHANGES) > 50
    assert found.keys() <= documented()
    # Most are so frequent that a run without them would mean that they are gone.
    assert {"clustering columns of all partitions", "several relations on a column", "answers of conditions",
            "elements of lists"} <= found.keys()


def documented_as_followed():
    """The rows that a server which is like a Cassandra has too, whole or in part."""
    page = (ROOT / "docs/cql_support.md").read_text(encoding="utf-8")
    section = page.split("## Where Cassandra differs\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \|.*\| ([^|]+) \|$", section, re.MULTILINE)
    return {name for name, like in rows if like != "no"} - {"difference"}


def test_a_server_like_cassandra_differs_as_the_page_says(make_server):
    found = differences(f"127.0.0.1:{make_server('--like', 'cassandra:5.0').port}", 5000)
    assert found.pop(SAME) > 1000
    assert found.pop(CHANGES) > 50
    assert found.keys() <= documented_as_followed()
    assert {"clustering columns of all partitions", "several relations on a column", "answers of conditions",
            "elements of lists"} <= found.keys()


def test_the_page_names_what_is_known():
    folder = ROOT / "tests/conformance"
    rules = (folder / "known_differences.cc").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:return |emplace_back\(|^    \{)"([a-z][a-zA-Z0-9, ]+?)"(?:;|\)|, &)', rules, re.MULTILINE))
    program = (folder / "against.cc").read_text(encoding="utf-8")
    named |= set(re.findall(r'Count\("([a-z][a-z ]+)"\)', program))
    assert named == documented() - NEVER_GENERATED


def test_liststore_does_not_differ(make_server):
    """With a clock that runs, as the other side has."""
    assert differences(f"127.0.0.1:{make_server().port}", 5000).keys() == {SAME, CHANGES}
