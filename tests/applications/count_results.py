#!/usr/bin/env python3
"""Counts what tests of an application came to; the last line is `N passed, N failed, N skipped`.

    count_results.py [--known FILE] [--status STATUS] go|cargo|tap|junit FILE...

FILE is what `go test -v`, `cargo test` or a TAP reporter printed, or a report of JUnit. A test that has tests of
its own counts as these. A test's name is that of its file, without its ending, a space and its own name. A file without
a test counts as one that failed, and so does one of `go test` that does not come to its end; JUnit's reports have
empty ones of suites of suites, and count as one.

--known names failures whose reason is outside of liststore, a line each, `NAME: REASON`; NAME may end with `*`.
Such a failure is printed with its reason and counts as skipped. One that passed or did not run fails: what the file
says has to be true. STATUS is that of the command that ran the tests: one that failed without a failing test counts
as one. The status is that of the count.
"""

import argparse
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

GO = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \(")
GO_END = re.compile(r"^(PASS|FAIL)\b", re.MULTILINE)
CARGO = re.compile(r"^test (.+?) \.\.\. (ok|FAILED|ignored)", re.MULTILINE)
TAP = re.compile(r"^ *(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO).*)?$", re.MULTILINE)
PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


def go(text):
    results = {name: result for result, name in GO.findall(text)}
    several = {name.rsplit("/", 1)[0] for name in results if "/" in name}
    several |= {"/".join(parts[:n]) for parts in (name.split("/") for name in results)
                for n in range(1, len(parts))}
    # One with tests of its own may fail by itself.
    failed = {name for name, result in results.items() if result == FAIL}
    alone = {name for name in failed & several
             if not any(other.startswith(name + "/") for other in failed)}
    return {name: result for name, result in results.items() if name not in several or name in alone}


def cargo(text):
    return {name: {"ok": PASS, "FAILED": FAIL, "ignored": SKIP}[result]
            for name, result in CARGO.findall(text)}


def tap(text):
    return {name: SKIP if directive else PASS if result == "ok" else FAIL
            for result, name, directive in TAP.findall(text)}


def junit(text):
    results = {}
    for case in xml.fromstring(text or "<none/>").iter("testcase"):
        name = f'{case.get("classname", "").rsplit(".", 1)[-1]}.{case.get("name")}'
        bad = case.find("failure") is not None or case.find("error") is not None
        results[name] = FAIL if bad else SKIP if case.find("skipped") is not None else PASS
    return results


def read_known(path):
    known = {}
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, reason = line.split(": ", 1)
            known[name] = reason
    return known


def reason_of(name, known):
    for pattern, reason in known.items():
        if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1])):
            return pattern, reason
    return None, None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--known", type=pathlib.Path)
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("format", choices=("go", "cargo", "tap", "junit"))
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    known = read_known(arguments.known) if arguments.known else {}
    results = {}
    counts = {PASS: 0, FAIL: 0, SKIP: 0}
    for path in arguments.files:
        text = path.read_text(errors="replace") if path.exists() else ""
        found = globals()[arguments.format](text)
        results.update({f"{path.stem} {name}": result for name, result in found.items()})
        if not found and arguments.format != "junit":
            print(f"failed: {path.stem}: no test ran")
            counts[FAIL] += 1
        elif arguments.format == "go" and not GO_END.search(text):
            print(f"failed: {path.stem}: the tests did not come to their end")
            counts[FAIL] += 1
    seen = set()
    for name, result in sorted(results.items()):
        pattern, reason = reason_of(name, known)
        if result == FAIL and reason is not None:
            seen.add(pattern)
            result = SKIP
            print(f"skipped: {name}: {reason}")
        elif result == FAIL:
            print(f"failed: {name}")
        counts[result] += 1
    for pattern in known.keys() - seen:
        print(f"failed: {pattern}: named in {arguments.known.name}, but it did not fail")
        counts[FAIL] += 1
    if not results and counts[FAIL] == 0:
        print("failed: no test ran")
        counts[FAIL] += 1
    if arguments.status != 0 and counts[FAIL] == 0 and not seen:
        print(f"failed: the tests ended with status {arguments.status}")
        counts[FAIL] += 1
    print(f"{counts[PASS]} passed, {counts[FAIL]} failed, {counts[SKIP]} skipped")
    return counts[FAIL] != 0


if __name__ == "__main__":
    sys.exit(main())
