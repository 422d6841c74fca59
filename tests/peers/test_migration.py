"""docs/migration.md from top to bottom, with Cassandra as the cluster."""

import pathlib

import page

from server import BINARY

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/migration.md"


def test_the_page(cassandra, cassandra_address, monkeypatch):
    cassandra.execute("DROP KEYSPACE IF EXISTS shop")
    monkeypatch.setenv("CLUSTER", cassandra_address)
    blocks = page.BLOCK.findall((ROOT / PAGE).read_text(encoding="utf-8"))
    shown = page.Page(PAGE, ROOT, pathlib.Path(BINARY))
    (shown.path / "tools").symlink_to(ROOT / "tools")
    try:
        broken = list(page.check(shown, blocks))
    finally:
        shown.close()
    assert not broken, "\n".join(broken)
