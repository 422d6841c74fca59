#!/usr/bin/env python3
"""Runs blocks of README.md and of pages of docs/ that have no test of their own: each as it stands, but for ports,
which are free ones here, and for names of machines, which are this one.

    tests/docs/blocks_test.py ROOT LISTSTORE

Ends with 1 when a block does not do what its page says, and with 77 where the driver, pytest, curl or openssl are
missing.
"""

import contextlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import page
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import console_sessions

LAST_LINE = re.compile(r"^(liststore serve(?:[^\n]*\\\n)*[^\n]*?)( &)?$", re.MULTILINE)
# How a statement of docs/cql_support.md finds what it is about, by a word of its block.
SCHEMAS = (
    ("INSERT INTO t JSON", ['CREATE TABLE t (p int, c int, tags set<text>, "Name" text, PRIMARY KEY (p, c))']),
    ("SET m = m +", ["CREATE TYPE person (name text, age int)", "CREATE TABLE t (p int PRIMARY KEY, m map<text, int>, "
                     "s set<int>, l list<text>, u person)",
                     "INSERT INTO t (p, s, l, u) VALUES (1, {3}, ['a'], {name: 'y', age: 2})"]),
    ("by_item", ["CREATE TABLE clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))"]),
    ("next_expiry", ["CREATE TABLE clicks (user text PRIMARY KEY, item bigint)",
                     "INSERT INTO clicks (user, item) VALUES ('u1', 7) USING TTL 315360000"]),
    ("feat.clicks", ["CREATE TABLE clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))"]),
)
# Who runs the blocks of pages that this does not.
ELSEWHERE = {
    "docs/cql_errors.md": "tests/over_cql/error_table_test.cc", "docs/dynamodb.md": "tests/drivers/dynamodb/test_page.py",
    "docs/embedding.md": "tests/install/install_test",
    "docs/migration.md": "tests/peers/run_tests", "docs/python_cache.md": "tests/fixtures/python_cache/run_tests",
    "docs/moving_to_fixtures.md": "tests/docs/moving_test.py",
    "docs/test_double.md": "tests/docs/test_double_test.py"}
# Pages whose blocks are no code, or take what no test has: a package that was built, an operating system to install in.
NOT_RUN = ("docs/architecture.md", "docs/data_model.md", "docs/packages.md")
FIXTURES = "docs/fixtures/"  # docs_test.py compares these with the files that tests/fixtures runs
KEYSPACE = "CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


def blocks_of(root, name):
    return page.BLOCK.findall((root / name).read_text(encoding="utf-8"))


class NotServed(Exception):
    """A server that a block starts has not come."""


class Blocks(page.Page):
    """A shell in which servers that blocks start are waited for, and in which curl fails where it is refused."""

    def __init__(self, root, program, name):
        super().__init__(name, root, program)
        # Of what runs in it the page shows nothing; but that it fails is told.
        self.run_sh("trap 'echo \"failed: $BASH_COMMAND\"' ERR\n"
                    'curl() { command curl -sS --fail-with-body "$@"; }; export -f curl')

    def started(self, text):
        """The block with its server in the background, at free ports, and waited for."""
        def changed(match):
            command = re.sub(r"--(cql|http)-port \d+", "", match.group(1)).replace("--tls-port 9142", "")
            return (f"{command} --cql-port 0 --ready-file ready.json > server.log 2>&1 &\n"
                    "until [ -s ready.json ] || ! kill -0 $!; do :; done; cat ready.json > /dev/null")
        return LAST_LINE.sub(changed, text)

    def ready(self, name):
        """A port of the server."""
        ready = self.path / "ready.json"
        if not ready.exists():
            raise NotServed(f"{self.name}: no server: {(self.path / 'server.log').read_text(encoding='utf-8')}")
        found = re.search(rf'"{name}":(\d+)', ready.read_text(encoding="utf-8"))
        return int(found.group(1)) if found else None

    def end_server(self):
        self.run_sh("kill -TERM $!; wait $! 2> /dev/null; rm -f ready.json")


@contextlib.contextmanager
def shown(root, program, name):
    blocks = Blocks(root, program, name)
    try:
        yield blocks
    finally:
        blocks.close()


def check_readme(root, program):
    """The server, the program that asks it, and the test with pytest."""
    with shown(root, program, "README.md") as blocks:
        for language, text in blocks_of(root, "README.md"):
            if language == "sh":
                yield from problems(text, blocks.run_sh(blocks.started(text)))
            elif language == "python" and page.FILE_NAME.match(text):
                yield from problems(text, blocks.run_python(text), "1 passed\n")
            elif language == "python":
                text = text.replace("port=9042", f"port={blocks.ready('cql_port')}")
                yield from problems(text, blocks.run_python(text), "Row(cluster_name='liststore')\n")
            elif language != "cpp":  # docs_test.py has that
                yield f"README.md: nobody runs blocks of {language!r}"


def problems(block, printed, expected=""):
    if not page.fits(expected, printed):
        yield f"{block}printed\n{printed}and not\n{expected}"


def check_pages(root, program):
    """Pages of a shell, from top to bottom."""
    for name in ("docs/ten_minutes.md", "docs/http.md"):
        with shown(root, program, name) as blocks:
            yield from page.check(blocks, blocks_of(root, name))


def check_cql_support(root, program):
    """Each statement is taken, where there is what it is about."""
    with shown(root, program, "docs/cql_support.md") as blocks:
        blocks.run_sh(blocks.started("liststore serve --clock manual:1700000000"))
        session = page.connect(blocks.ready("cql_port"))
        for _, text in blocks_of(root, "docs/cql_support.md"):
            for action in ("forget", "reset"):
                session.execute(f"UPDATE liststore.data SET action = '{action}' WHERE key = 'data'")
            session.execute(KEYSPACE)
            session.execute("USE feat")
            for statement in next((made for word, made in SCHEMAS if word in text), []):
                session.execute(statement)
            for statement in filter(str.strip, re.split(r";\s*\n", re.sub(r"--[^\n]*", "", text))):
                try:
                    session.execute(statement)
                except Exception as error:  # of whatever kind: a reader would meet it
                    yield f"docs/cql_support.md: {statement.strip()}: {error}"
        session.cluster.shutdown()


def check_tls(root, program):
    """The certificates of docs/tls.md are made, servers take them, and a client believes them."""
    with shown(root, program, "docs/tls.md") as blocks:
        texts = [text for _, text in blocks_of(root, "docs/tls.md")]
        makes = [text for text in texts if text.startswith("openssl req -x509")]
        serves = [text for text in texts if "liststore serve" in text]
        reports = [text for text in texts if text.startswith("liststore report")]
        if (len(makes), len(serves), len(reports)) != (1, 2, 1):
            yield "docs/tls.md: its blocks are others than the test knows"
            return
        yield from problems(makes[0], blocks.run_sh(f"{{\n{makes[0]}}} 2> openssl.log"))
        clients = ("--user cassandra --password secret", "--tls-certificate orders.crt --tls-key orders.key")
        for text, client in zip(serves, clients):
            yield from problems(text, blocks.run_sh(f"{{\n{blocks.started(text)}\n}} 2> openssl.log"))
            port = blocks.ready("tls_port") or blocks.ready("cql_port")
            asked = reports[0].splitlines()[0].replace("db.example:9142", f"localhost:{port}")
            printed = blocks.run_sh(f"{asked} {client}")
            # What a busy machine had to do with the server may stand around it.
            if "nothing found; 0 requests looked at" not in printed or "failed:" in printed:
                yield f"{asked} {client}\nprinted\n{printed}"
            blocks.end_server()


def check_roles(root, program):
    """The superuser of docs/roles.md logs in."""
    with shown(root, program, "docs/roles.md") as blocks:
        (_, text), = blocks_of(root, "docs/roles.md")
        blocks.run_sh("echo secret > password.txt")
        yield from problems(text, blocks.run_sh(blocks.started(text)))
        port = blocks.ready("cql_port")
        asked = (f"LISTSTORE_PASSWORD=secret liststore query --via 127.0.0.1:{port} --user root --format csv "
                 "'LIST ROLES'")
        yield from problems(asked, blocks.run_sh(asked), "role,super,login,options\nroot,True,True,{}\n")


def check_configurations(root, program):
    """Configurations in the documents are such as the program takes."""
    for name in ("docs/operations.md", "docs/settings.md"):
        text = next((text for _, text in blocks_of(root, name) if text.startswith("address = ")), "")
        settings = re.findall(r"^([\w-]+) = ", text, re.MULTILINE)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            printed = subprocess.run([program, "serve", "--config", file.name, "--print-config"], capture_output=True,
                                     text=True, timeout=60, check=False)
            if printed.returncode != 0 or not settings:
                yield f"{name}: no configuration: {printed.stderr or text}"
            for setting in settings:
                if not re.search(rf"^{setting} = .*{re.escape(file.name)}", printed.stdout, re.MULTILINE):
                    yield f"{name}: {setting} is not taken from the file"


def check_all_are_run(root, _):
    """A page with blocks of code is one that somebody runs, or is said not to be."""
    here = {"README.md", "docs/ten_minutes.md", "docs/http.md", "docs/console.md", "docs/cql_support.md", "docs/tls.md",
            "docs/roles.md", "docs/operations.md", "docs/settings.md"}
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        name = path.relative_to(root).as_posix()
        if not page.BLOCK.search(path.read_text(encoding="utf-8")) or name.startswith(FIXTURES):
            continue
        if name not in here and name not in NOT_RUN and not (root / ELSEWHERE.get(name, "nowhere")).exists():
            yield f"{name}: nobody runs its blocks; ELSEWHERE says who does"


def main():
    root, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    for tool in ("curl", "openssl"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool}")
            return 77
    checks = (check_readme, check_pages, check_cql_support, check_tls, check_roles, check_configurations,
              console_sessions.check, check_all_are_run)
    broken = []
    for check in checks:
        try:
            broken += check(root, program)
        except NotServed as problem:
            broken.append(str(problem))
    print("\n".join(broken) if broken else f"{len(checks)} checks of pages, as shown")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
