#!/usr/bin/env python3
"""Counts the tests of one ctest run: `passed failed skipped` on one line.

    tools/count_tests.py CTEST_JUNIT_XML GTEST_RESULTS_DIR

A ctest that is a GoogleTest program counts as the tests inside of it, by the XML file of its name that
it has left in GTEST_RESULTS_DIR; every other ctest counts as one.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """passed, failed or skipped, of a <testcase> as ctest or GoogleTest writes it."""
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed"
    if (case.find("skipped") is not None or case.get("result") == "skipped"
            or case.get("status") in ("notrun", "disabled")):
        return "skipped"
    return "passed"


def count(junit, results):
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for test in ElementTree.parse(junit).iter("testcase"):
        own = outcome(test)
        inside = results / f"{test.get('name')}.xml"
        cases = list(ElementTree.parse(inside).iter("testcase")) if inside.is_file() else []
        for case in cases:
            totals[outcome(case)] += 1
        # A program that failed although all its tests passed, a leak for example, is a failure too.
        if not cases or (own == "failed" and not any(outcome(case) == "failed" for case in cases)):
            totals[own] += 1
    return totals


def main():
    totals = count(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    print(totals["passed"], totals["failed"], totals["skipped"])


if __name__ == "__main__":
    main()
