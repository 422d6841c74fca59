"""The blocks of docs/dynamodb.md, as somebody types them who has the page alone: against a server of their own."""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import endpoint

pytestmark = pytest.mark.own
PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/dynamodb.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def server(command, tmp_path):
    """`liststore serve` as the page has it, but for ports; what it says of itself."""
    words = re.sub(r"(--\w+-port) \d+", r"\1 0", command).split()
    assert words[:2] == ["liststore", "serve"]
    ready = tmp_path / "ready.json"
    arguments = [*words[1:], "--cql-port", "0", "--ready-file", str(ready), "--until-eof"]
    with subprocess.Popen(
        [os.environ["LISTSTORE_BINARY"], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()  # a line once it listens
        try:
            yield json.loads(ready.read_text())
        finally:
            process.stdin.close()
            process.stdout.read()


def shell(command, **environment):
    done = subprocess.run(
        ["bash", "-euc", command], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_blocks(tmp_path):
    if endpoint.kind() != "liststore":
        pytest.skip("of liststore alone")
    pytest.importorskip("awscli")
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert [language for language, _ in blocks] == ["sh", "python", "sh", "sh"]
    (_, serve), (_, program), (_, query), (_, from_cql) = blocks
    with server(serve, tmp_path) as facts:
        url = f"http://127.0.0.1:{facts['dynamodb_port']}"
        assert program.count("http://127.0.0.1:8000") == query.count("http://127.0.0.1:8000") == 1
        script = tmp_path / "page.py"
        script.write_text(program.replace("http://127.0.0.1:8000", url))
        shell(f"{sys.executable} -B {script}")
        aws = f"aws() {{ {sys.executable} -B -m awscli --output json \"$@\"; }}\n"
        none = str(tmp_path / "none")
        said = shell(aws + query.replace("http://127.0.0.1:8000", url), AWS_CONFIG_FILE=none, AWS_SHARED_CREDENTIALS_FILE=none)
        assert json.loads(said)["Items"] == [{"user": {"S": "u1"}, "ts": {"N": "1"}, "item": {"S": "story-1"}}]
        liststore = f"liststore() {{ {os.environ['LISTSTORE_BINARY']} \"$@\"; }}\n"
        said = shell(liststore + from_cql, LISTSTORE_ADDRESS=f"127.0.0.1:{facts['cql_port']}")
        assert "u1" in said
