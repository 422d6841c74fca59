"""A page of docs/ whose blocks are run from top to bottom, as a reader would.

Blocks of `sh` go to one shell, whose server is the one that blocks of `cql` and `python` talk to; files of
pytest, which are named by their first line, are written and run in turn. A block of `text` says what the block before it
prints, with `...` for what differs from run to run.
"""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

from cassandra.cluster import Cluster, EXEC_PROFILE_DEFAULT, ExecutionProfile
from cassandra.policies import RoundRobinPolicy

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"^# (\w+\.py)\n")
SUMMARY = re.compile(r"^(?:\d+ \w+(?:, )?)+", re.MULTILINE)
END_OF_BLOCK = "--- end of the block ---"


def connect(port):
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=60)
    cluster = Cluster(["127.0.0.1"], port=port, protocol_version=4,
                      execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    return cluster.connect()


class Page:
    """What the blocks share: a folder, a shell in it, the session, and the names of Python."""

    def __init__(self, name, root, program, environment=None):
        self.name, self.root, self.program = name, root, program
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        commands = self.path / "bin"
        commands.mkdir()
        (commands / "liststore").symlink_to(program)
        self.environment = {
            **os.environ, "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{commands}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(root / "tools/fixtures/python/src"), "LISTSTORE_BINARY": str(program),
            **(environment or {})}
        self.shell = subprocess.Popen(
            ["bash", "-m"], cwd=self.path, env=self.environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.session = None
        self.names = {}

    def close(self):
        if self.session is not None:
            self.session.cluster.shutdown()
        if "session" in self.names:
            self.names["session"].cluster.shutdown()
        # The page ends its server itself; where it broke off before, this does.
        self.shell.stdin.write("kill %1\nwait\n")
        self.shell.stdin.close()
        self.shell.stdout.close()
        self.shell.wait()
        self.folder.cleanup()

    def run_sh(self, text):
        self.shell.stdin.write(f"{text}\necho '{END_OF_BLOCK}'\n")
        self.shell.stdin.flush()
        lines = iter(self.shell.stdout.readline, "")
        return "".join(iter(lambda: next(lines), f"{END_OF_BLOCK}\n"))

    def run_cql(self, text):
        if self.session is None:
            port = json.loads((self.path / "ready.json").read_text(encoding="utf-8"))["cql_port"]
            self.session = connect(port)
        return "".join(self.answer(statement) for statement in re.split(r";\n", text) if statement)

    def answer(self, statement):
        """Rows as lines, behind the names of their columns; an error as a CQL shell shows it."""
        try:
            result = self.session.execute(statement)
        except Exception as error:  # whatever the driver raises is what a reader sees
            return f"{type(error).__name__}: {error}\n"
        if not result.column_names:
            return ""
        rows = [result.column_names, *result]
        return "".join(" | ".join(map(str, row)) + "\n" for row in rows)

    def run_python(self, text):
        name = FILE_NAME.match(text)
        if name is not None:
            return self.run_pytest(name.group(1), text)
        printed = io.StringIO()
        here = os.getcwd()
        os.chdir(self.path)
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(text, self.name, "exec"), self.names)
        finally:
            os.chdir(here)
        return printed.getvalue()

    def run_pytest(self, name, text):
        """Writes the file, and runs it if it has tests; its summary."""
        (self.path / name).write_text(text, encoding="utf-8")
        if not name.startswith("test_"):
            return ""
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "liststore.pytest_plugin",
             name], cwd=self.path, env=self.environment, capture_output=True, text=True, check=False)
        summary = SUMMARY.findall(run.stdout)
        return f"{summary[-1]}\n" if summary and run.returncode == 0 else run.stdout


def fits(expected, printed):
    pattern = ".*?".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, printed) is not None


def check(page, blocks):
    """Yields a message for each block that prints something else than the page says."""
    printed = None
    for index, (language, block) in enumerate(blocks):
        if language == "text":
            if not fits(block, printed):
                yield f"{page.name}: the page says\n{block}and printed was\n{printed}"
            printed = ""
            continue
        try:
            printed = getattr(page, f"run_{language}")(block)
        except Exception:  # the page goes on, and says which block it was
            printed = f"{block}{traceback.format_exc()}"
        if printed and (index + 1 == len(blocks) or blocks[index + 1][0] != "text"):
            yield f"{page.name}: printed, and not on the page:\n{printed}"
