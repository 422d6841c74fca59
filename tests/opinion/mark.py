#!/usr/bin/env python3
"""Marks the rows that deviate, and takes away marks that no longer hold.

    build/release/bin/opinion_test | tests/opinion/mark.py ["reason"]
"""

import re
import sys

FAILURE = re.compile(r"^(/.*\.txt):(\d+): Failure")
ANSWERS = ("<", "with ", "- ", "  ")


def main():
    reason = sys.argv[1] if len(sys.argv) > 1 else "to be mended"
    failed = {}
    text = sys.stdin.read()
    for block in re.split(r"(?m)^(?=/.*: Failure)", text):
        head = FAILURE.match(block)
        if head and "must succeed" not in block:
            failed.setdefault(head[1], {})[int(head[2])] = "take the mark away" in block
    for path, rows in failed.items():
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for row in sorted(rows, reverse=True):
            end = row
            while end < len(lines) and lines[end].startswith(ANSWERS):
                end += 1
            marked = end < len(lines) and lines[end].startswith("! ")
            if rows[row] and marked:
                del lines[end]
            elif not rows[row] and not marked:
                lines.insert(end, f"! {reason}")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))


if __name__ == "__main__":
    main()
