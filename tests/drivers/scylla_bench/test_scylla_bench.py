#!/usr/bin/env python3
"""The load generator scylla-bench: its own workloads, run without an error.

    test_scylla_bench.py SCYLLA_BENCH PROGRAM

Prints a last line `N passed, N failed, N skipped`. How fast it was is nobody's error.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BENCH, PROGRAM = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
SECONDS_MAX = 120  # ends what hangs
PARTITIONS, ROWS = 50, 100  # of each partition


class ScyllaBenchTest(unittest.TestCase):
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

    def bench(self, mode, workload, *options):
        """What it printed; the first error ends it, and fails."""
        told = subprocess.run(
            [BENCH, "-nodes", self.address, "-mode", mode, *(["-workload", workload] if workload else []),
             "-partition-count", str(PARTITIONS), "-clustering-row-count", str(ROWS), "-concurrency", "8",
             "-retry-number", "0", "-error-limit", "1", *options],
            capture_output=True, text=True, check=False, timeout=SECONDS_MAX, cwd=self.folder)
        said = told.stdout + told.stderr
        self.assertEqual(told.returncode, 0, said)
        self.assertNotRegex(said, r"(?i)total errors:\s*[1-9]|critical errors")
        return told.stdout

    def figure(self, said, name):
        found = re.search(rf"(?m)^{name}:\s*(\d+)", said)
        self.assertIsNotNone(found, said)
        return int(found.group(1))

    def operations(self, *arguments):
        return self.figure(self.bench(*arguments), "Total ops")

    def test_sequential(self):
        rows = PARTITIONS * ROWS
        self.assertEqual(self.operations("write", "sequential", "-validate-data"), rows)
        self.assertEqual(self.operations("read", "sequential", "-validate-data"), rows)
        self.bench("write", "sequential", "-rows-per-request", "10")  # in batches
        for options in (["-in-restriction"], ["-provide-upper-bound"], ["-no-lower-bound"],
                        ["-select-order-by", "none,asc,desc"], ["-bypass-cache"]):
            with self.subTest(options):
                self.bench("read", "sequential", "-rows-per-request", "10", *options)
        self.bench("scan", None, "-range-count", "8")

    def test_uniform(self):
        for mode in ("write", "read", "mixed"):
            with self.subTest(mode):
                self.assertGreater(self.operations(mode, "uniform", "-duration", "2s"), 0)

    def test_timeseries(self):
        rate = 2000
        written = self.bench("write", "timeseries", "-max-rate", str(rate), "-duration", "2s")
        self.assertGreater(self.figure(written, "Total ops"), 0)
        self.bench("read", "timeseries", "-write-rate", str(rate // PARTITIONS), "-duration", "2s",
                   "-start-timestamp", str(self.figure(written, "Start timestamp")))

    def test_counters(self):
        rows = PARTITIONS * ROWS
        self.assertEqual(self.operations("counter_update", "sequential"), rows)
        self.assertEqual(self.operations("counter_read", "sequential"), rows)


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    failed = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - failed} passed, {failed} failed, {len(done.skipped)} skipped")
    sys.exit(failed > 0)
