#!/usr/bin/env python3
"""Counts the tests of one ctest run: `passed failed skipped` on one line, then a line for each that failed.

    tools/count_tests.py CTEST_JUNIT_XML GTEST_RESULTS_DIR

A ctest that is a GoogleTest program counts as the tests inside of it, by the XML file of its name that
it has left in GTEST_RESULTS_DIR; every other ctest counts as one.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree

LINES_OF_A_REASON = 6


def outcome(case):
    """passed, failed or skipped, of a <testcase> as ctest or GoogleTest writes it."""
    if case.find("failure") is not None or case.get("status") == "fail":
        return "failed"
    if (case.find("skipped") is not None or case.get("result") == "skipped"
            or case.get("status") in ("notrun", "disabled")):
        return "skipped"
    return "passed"


def reason(case):
    """The first lines of what a failed GoogleTest says."""
    failure = case.find("failure")
    said = failure.get("message", "") if failure is not None else ""
    return " | ".join(line.strip() for line in said.splitlines()[:LINES_OF_A_REASON])


def count(junit, results):
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    failures = []
    for test in ElementTree.parse(junit).iter("testcase"):
        own = outcome(test)
        inside = results / f"{test.get('name')}.xml"
        cases = list(ElementTree.parse(inside).iter("testcase")) if inside.is_file() else []
        for case in cases:
            totals[outcome(case)] += 1
            if outcome(case) == "failed":
                failures.append(f"{test.get('name')}: {case.get('classname')}.{case.get('name')}: {reason(case)}")
        # A program that failed although all its tests passed, a leak for example, is a failure too.
        if not cases or (own == "failed" and not any(outcome(case) == "failed" for case in cases)):
            totals[own] += 1
            if own == "failed":
                failures.append(f"{test.get('name')}: the program as a whole")
    return totals, failures


def main():
    totals, failures = count(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    print(totals["passed"], totals["failed"], totals["skipped"])
    for failure in failures:
        print(failure)


if __name__ == "__main__":
    main()
