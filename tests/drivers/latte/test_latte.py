#!/usr/bin/env python3
"""The load generator latte: its own workloads, and lists as one, run without an error.

    test_latte.py LATTE OWN_WORKLOADS PROGRAM

Prints a last line `N passed, N failed, N skipped`. How fast it was is nobody's error.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

LATTE, OWN, PROGRAM = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
HERE = pathlib.Path(__file__).resolve().parent
SECONDS_MAX = 120  # ends what hangs
CYCLES = 20_000


class LatteTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.server = subprocess.Popen([PROGRAM, "serve", "--cql-port", "0", "--until-eof"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        self.address = f"127.0.0.1:{json.loads(self.server.stdout.readline())['cql_port']}"

    def stop(self):
        self.server.stdin.close()
        self.server.wait(SECONDS_MAX)
        self.server.stdout.close()

    def latte(self, command, workload, *options):
        # It writes its log where it is run.
        told = subprocess.run([LATTE, command, workload, self.address, *options], capture_output=True, text=True,
                              check=False, timeout=SECONDS_MAX, cwd=self.folder)
        said = told.stdout + told.stderr
        self.assertEqual(told.returncode, 0, said)
        self.assertIsNone(re.search(r"(?mi)^(error|warn)", said), said)

    def run_all_of(self, workload, *options):
        """Schema, load and CYCLES cycles; what the report says of them."""
        report = pathlib.Path(self.folder) / f"{workload.stem}.json"
        self.latte("schema", workload)
        self.latte("load", workload, *(option for option in options if option.startswith("-P")))
        self.latte("run", workload, "-q", "-w", "0", "-d", str(CYCLES), "-o", str(report), *options)
        result = json.loads(report.read_text())["result"]
        self.assertEqual((result["cycle_count"], result["error_count"], result["errors"]), (CYCLES, 0, []))
        self.assertEqual(result["request_retry_count"], 0)
        print(f"{workload.stem}: {result['cycle_throughput']['value']:,.0f} cycles a second", flush=True)
        return result

    def test_its_reads_find_every_row(self):
        self.assertEqual(self.run_all_of(OWN / "basic/read.rn", "-Prows=5000")["row_count"], CYCLES)

    def test_its_writes(self):
        for workload in ("write", "write-blob"):
            with self.subTest(workload):
                self.assertEqual(self.run_all_of(OWN / f"basic/{workload}.rn")["request_count"], CYCLES)

    def test_lists(self):
        result = self.run_all_of(HERE / "lists.rn", "-Plists=500", "-fread:95", "-fadd:5")
        # About 95 in 100 cycles are reads of ten rows each.
        self.assertGreater(result["row_count"], 9 * CYCLES)
        self.assertLess(result["row_count"], 10 * CYCLES)
        self.assertEqual(result["row_count"] % 10, 0)


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    failed = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - failed} passed, {failed} failed, {len(done.skipped)} skipped")
    sys.exit(failed > 0)
