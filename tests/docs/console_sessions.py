"""Sessions of docs/console.md: lines that begin with `$ `, each with what it prints below."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import page

PAGE = "docs/console.md"
# What differs from run to run or from machine to machine; columns are as wide as it is.
VARIES = ((r"127\.0\.0\.1:\d{2,}", "HOST:PORT"), (r"\d+(?:\.\d+)? ms\b", "N ms"), (r'"pid":\d+', '"pid":N'),
          (r'("clock":"real")[^}]*', r"\1"),
          # A row whose time was over may not have been given back so far.
          (r"\| +1 \| +1 \| +\d+ \| +\d+$", "| 1 | 1 | N | N"), (r"1 table, \d rows? \([^)]*\)", "1 table, N rows"),
          (r"memory limit [\d.]+ [GMK]iB", "memory limit N"), (r"shard-aware \d+", "shard-aware N"))
# A line of the table of requests: how long they took, and how wide the table is thereby.
TABLE = re.compile(r"[ -]+")
JOURNAL_LINE = re.compile(r"^( +\d+ \| 20[^|]*\|[^|]*\|[^|]*\|[^|]*\|[^|]*\|) +\d+ (\|.*)$", re.MULTILINE)
SETUP = ("CREATE KEYSPACE feat WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; "
         "CREATE TABLE feat.clicks (user text, ts int, item bigint, PRIMARY KEY (user, ts))")
# Commands that draw, ask at a terminal or look at the machine: tests/tools has them.
ELSEWHERE = ("liststore console", "liststore selftest", "liststore top --once")


def masked(text):
    text = JOURNAL_LINE.sub(r"\1 N \2", text)
    for pattern, mask in VARIES:
        text = re.sub(pattern, mask, text, flags=re.MULTILINE)
    return "\n".join(TABLE.sub(" ", line).rstrip() for line in text.split("\n"))


def sessions(root):
    """Commands and what the page says that they print, block by block."""
    for language, text in page.BLOCK.findall((root / PAGE).read_text(encoding="utf-8")):
        if language == "text":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, printed = part.partition("\n")
                yield command, printed


def check(root, program):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "liststore").symlink_to(program)
        environment = {**{name: value for name, value in os.environ.items() if not name.startswith("LISTSTORE_")},
                       "PATH": f"{folder}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        server = subprocess.Popen([program, "serve", "--cql-port", "0", "--clock", "manual:1767225600"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True)
        try:
            # Its first line says that clients can connect.
            port = json.loads(server.stdout.readline())["cql_port"]
            environment["LISTSTORE_ADDRESS"] = f"127.0.0.1:{port}"
            subprocess.run([program, "query", SETUP], env=environment, check=True, timeout=60)
            for command, expected in sessions(root):
                yield from one(command, expected, folder, environment)
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate()


def one(command, expected, folder, environment):
    if command.startswith(ELSEWHERE):
        return
    if "LISTSTORE_CQL_PRT" in command:
        # The one that starts a server: by free ports, and ended when it has said that it is there.
        environment = {**environment, "LISTSTORE_CQL_PORT": "0", "LISTSTORE_SHARD_AWARE_PORT": "0"}
        environment.pop("LISTSTORE_ADDRESS")
        command = f"{command} --until-eof"
        expected = re.sub(r'"(cql|shard_aware)_port":\d+', r'"\1_port":N', expected.replace("port 9042", "port N"))
    run = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=60,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    printed = run.stdout
    if "--until-eof" in command:
        printed = re.sub(r'"(cql|shard_aware)_port":\d+', r'"\1_port":N', re.sub(r", port \d+", ", port N", printed))
        # Behind what the page shows it says that it ends.
        printed = "".join(printed.splitlines(keepends=True)[:len(expected.splitlines())])
    if masked(printed) != masked(expected):
        yield f"{PAGE}: $ {command}\nprinted\n{printed}and not\n{expected}"
