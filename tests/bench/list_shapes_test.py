#!/usr/bin/env python3
"""list_shapes from end to end, for a moment of every shape; how fast it was is nobody's error.

    tests/bench/list_shapes_test.py PROGRAM
"""

import json
import subprocess
import sys
import unittest

PROGRAM = sys.argv.pop(1)
SECONDS_MAX = 300  # ends what hangs

LATENCIES = (
    [f"{shape}_{operation}" for shape in ("long_list", "long_list_small", "long_values", "long_values_small")
     for operation in ("get10", "add1", "remove")]
    + ["hits", "churn_ours", "churn_plain", "random_select", "hot_select", "random_insert", "hot_insert", "select_alone",
       "select_beside_idle"])
NUMBERS = ("expiry_burst_ours", "expiry_burst_linked", "expiry_spread_ours", "expiry_spread_linked",
           "hits_additions", "churn_ours_written", "churn_plain_written", "hot_select_per_s", "hot_insert_per_s",
           "select_journal_ratio", "insert_journal_core_ratio", "stage_key", "stages_get10", "stages_multiget16",
           "wire_stage_frame", "wire_stages_select10", "model_relational_per_core_s", "model_cost_ratio")


def run(*arguments):
    return subprocess.run([PROGRAM, "--quick", *arguments], capture_output=True, text=True, check=False,
                          timeout=SECONDS_MAX)


class ListShapesTest(unittest.TestCase):
    def test_every_shape_is_measured(self):
        told = run("--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        got = json.loads(told.stdout)
        for key in LATENCIES:
            self.assertGreater(got[f"{key}_p50_ns"], 0, key)
            self.assertGreaterEqual(got[f"{key}_p999_ns"], got[f"{key}_p50_ns"], key)
        for key in NUMBERS:
            self.assertGreater(got[key], 0, key)
        self.assertIn("idle_connection_bytes", got)
        stages = [got[f"stage_{name}"] for name in ("key", "absent", "one_row", "ten_rows", "memory")]
        self.assertAlmostEqual(sum(stages), got["stages_get10"], delta=0.01 * got["stages_get10"])

    def test_one_shape_alone_as_people_read_it(self):
        told = run("--only", "long-list")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn("a list of 20000 items, beside one of 20", told.stdout)
        self.assertIn("remove, by the small list, p99", told.stdout)
        self.assertNotIn("over the wire", told.stdout)

    def test_a_program_that_is_not_there_is_named(self):
        told = run("--only", "hot-list", "--program", "/nonexistent/liststore")
        self.assertEqual(told.returncode, 2)
        self.assertIn("list_shapes: hot-list: cannot start /nonexistent/liststore: No such file", told.stderr)

    def test_more_connections_than_files_may_be_open_are_refused(self):
        told = subprocess.run(["sh", "-c", 'ulimit -n 300; exec "$0" "$@"', PROGRAM, "--only", "idle", "--idle", "500",
                               "--seconds", "0.01"],
                              capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
        self.assertEqual(told.returncode, 2)
        self.assertIn("a process may open 300 files here; the idle connections take 700", told.stderr)


if __name__ == "__main__":
    unittest.main()
