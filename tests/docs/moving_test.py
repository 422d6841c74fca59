#!/usr/bin/env python3
"""Runs docs/moving_to_fixtures.md from top to bottom, as a reader would; see page.py.

    tests/docs/moving_test.py ROOT LISTSTORE

What a page shows as "before" is another tool's, and is not run; programs in Java are files of docs/examples/moving,
which tests/fixtures/moving runs. Ends with 1 when something else is printed than the page says, and with 77
where the driver, pytest or curl are missing.
"""

import pathlib
import shutil
import sys

try:
    import page
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PAGE = "docs/moving_to_fixtures.md"
JAVA = "docs/examples/moving"


class MovingPage(page.Page):
    """With blocks of other tools, and of Java."""

    def __init__(self, root, program):
        super().__init__(PAGE, root, program)
        self.java = {path.read_text(encoding="utf-8"): path.name for path in sorted((root / JAVA).glob("*.java"))}

    def run_java(self, text):
        if not text.startswith("// before\n") and self.java.pop(text, None) is None:
            return f"a block of Java is neither a file of {JAVA}, word for word, nor begins with '// before'\n"
        return ""

    def run_bash(self, text):
        return "" if text.startswith("# before\n") else "a block of bash does not begin with '# before'\n"


def main():
    root, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    if shutil.which("curl") is None:
        print("skipped: there is no curl")
        return 77
    blocks = page.BLOCK.findall((root / PAGE).read_text(encoding="utf-8"))
    shown = MovingPage(root, program)
    try:
        broken = list(page.check(shown, blocks))
    finally:
        shown.close()
    broken += [f"{PAGE}: does not show {JAVA}/{name}" for name in shown.java.values()]
    print("\n".join(broken) if broken else f"{PAGE}: {len(blocks)} blocks, as shown")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
