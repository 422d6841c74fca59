#!/usr/bin/env python3
"""Runs docs/test_double.md from top to bottom, as a reader would; see page.py.

    tests/docs/test_double_test.py ROOT LISTSTORE IN_PROCESS

Ends with 1 when something else is printed than the page says.
"""

import pathlib
import subprocess
import sys

import page

PAGE = "docs/test_double.md"
EXAMPLE = "docs/examples/in_process.cc"


class TestDoublePage(page.Page):
    """With a block of C++, which is the program EXAMPLE."""

    def __init__(self, root, program, example):
        super().__init__(PAGE, root, program)
        self.example = example

    def run_cpp(self, text):
        """The program is built of the file that the page shows. A driver moves its clock meanwhile."""
        if text != (self.root / EXAMPLE).read_text(encoding="utf-8"):
            return f"{PAGE}: its cpp block must be {EXAMPLE}, word for word\n"
        with subprocess.Popen([self.example], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            printed = [process.stdout.readline(), process.stdout.readline()]
            session = page.connect(int(printed[1].split()[1]))
            rows = session.execute("SELECT COUNT(*) FROM feature_store.list_items").one()[0]
            session.execute("UPDATE liststore.clock SET advance = 1s WHERE key = 'clock'")
            session.cluster.shutdown()
            printed += process.communicate()[0]
        return "".join(printed) + ("" if (rows, process.returncode) == (1, 0)
                                   else f"{rows} rows by CQL, status {process.returncode}\n")


def main():
    root, program, example = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    blocks = page.BLOCK.findall((root / PAGE).read_text(encoding="utf-8"))
    shown = TestDoublePage(root, program, example)
    try:
        broken = list(page.check(shown, blocks))
    finally:
        shown.close()
    print("\n".join(broken) if broken else f"{PAGE}: {len(blocks)} blocks, as shown")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
