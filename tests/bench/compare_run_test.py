#!/usr/bin/env python3
"""bench/compare from end to end, for a moment, against something that answers like Redis.

    tests/bench/compare_run_test.py ROOT BUILD
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in (sys.argv.pop(1), sys.argv.pop(1)))
FAKE_REDIS = ROOT / "tests/bench/fake_redis.py"
KINDS = ("get10", "get50", "multiget16", "add1", "add10", "mixed", "remove")
LINES = ("select10_64", "select10_16", "insert1_64", "insert1_16", "select10_1x64")
SECONDS_MAX = 300  # ends what hangs


def compare(*arguments):
    return subprocess.run(
        [sys.executable, ROOT / "bench/compare", "--tiny", "--build", BUILD, *arguments],
        capture_output=True, text=True, timeout=SECONDS_MAX, check=False)


class RunTest(unittest.TestCase):
    def test_everything_is_measured_and_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "result.json")
            page = pathlib.Path(folder, "result.html")
            run = compare("--growth", "--json", path, "--html", page, "--redis-server", FAKE_REDIS)
            self.assertEqual(run.returncode, 0, run.stderr)
            got = json.loads(path.read_text(encoding="utf-8"))
            charts = list(ElementTree.parse(page).iter("svg"))
        for peer in ("plain", "bare"):
            for kind in KINDS:
                self.assertGreater(got["ratios"][f"{kind}_vs_{peer}"], 0)
        self.assertGreater(got["ratios"]["wire_select_vs_redis"], 0)
        self.assertGreater(got["ratios"]["wire_insert_vs_redis"], 0)
        for limit in ("echo", "bare_cql"):
            for line in LINES:
                self.assertGreater(got["ratios"][f"{line}_vs_{limit}"], 0)
                self.assertGreater(got["wire"][limit][0][f"{line}_per_core_second"], 0)
        self.assertGreater(got["ratios"]["select10_1x64_vs_redis"], 0)
        # Echo is not believed; the lists that bare CQL holds are read back.
        self.assertEqual(got["wire"]["echo"][0]["replies_verified"], 0)
        self.assertGreater(got["wire"]["bare_cql"][0]["replies_verified"], 1_000)
        # Ten rows, a value of 24 bytes and a key of 44 each, from all of them.
        sides = ("liststore", "echo", "bare_cql")
        self.assertEqual({got["wire"][side][0]["select10_64_reply_bytes"] for side in sides},
                         {16 + 10 * (4 + 24 + 4 + 44)})
        self.assertGreater(got["wire_select_per_s"], 0)
        self.assertGreater(got["wire_insert_per_s"], 0)
        self.assertEqual(got["wire"]["redis"][0]["server"], "redis 0.0.fake")
        self.assertGreater(got["wire"]["redis"][0]["replies_verified"], 1_000)
        self.assertGreater(got["open_loop"]["liststore"]["open_loop_select_p50_ns"], 0)
        self.assertGreater(got["open_loop"]["redis"]["open_loop_insert_p50_ns"], 0)
        self.assertEqual(got["bytes_per_item_redis"], 100)  # as the fake counts
        skipped = {entry["peer"] for entry in got["skipped"]}
        self.assertLessEqual(skipped, {"rocksdb", "lmdb", "sqlite"})
        self.assertEqual({"plain", "bare"} | ({"rocksdb", "lmdb", "sqlite"} - skipped), set(got["embedded"]))
        self.assertIn("multi-get of 16", run.stdout)
        self.assertEqual({(entry["axis"], entry["peer"]) for entry in got["growth"]},
                         {("lists", "plain"), ("lists", "bare"), ("items", "plain"), ("items", "bare")})
        self.assertEqual(len(charts), 2 + 6 + 1 + 2 * 7)

    def test_a_redis_that_cannot_be_started_ends_the_run(self):
        run = compare("--json", "-", "--peers", "redis", "--redis-server", "/nonexistent/redis-server")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("bench/compare: /nonexistent/redis-server: No such file or directory", run.stderr)


class DurabilityTest(unittest.TestCase):
    def test_every_mode_is_measured_beside_the_others(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "result.json")
            run = subprocess.run(
                [sys.executable, ROOT / "bench/durability", "--build", BUILD, "--rounds", "1", "--seconds", "0.02",
                 "--lists", "1000", "--dir", folder, "--redis-server", FAKE_REDIS, "--json", path],
                capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            rounds = json.loads(path.read_text(encoding="utf-8"))["rounds"]
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["result.json"])
        self.assertEqual(list(rounds), ["none", "off", "os", "periodic", "sync", "redis-no", "redis-everysec",
                                        "redis-always"])
        for mode, (said,) in rounds.items():
            self.assertGreater(said["insert1_64"], 0, mode)
        self.assertIn("times Redis always", run.stdout)
        self.assertEqual(len([line for line in run.stdout.splitlines() if line.startswith("| ")]), 9)

    def test_a_mode_that_there_is_not_is_named(self):
        run = subprocess.run([sys.executable, ROOT / "bench/durability", "--modes", "os,fsync"],
                             capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("fsync is not a mode; use some of none, off", run.stderr)


class BareCqlTest(unittest.TestCase):
    """compare_bare_cql by itself, and `bench wire` beside it."""

    def serve(self, *arguments):
        return subprocess.Popen([BUILD / "bin/compare_bare_cql", *arguments], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ask(self, server_arguments, *arguments, lists=2_000):
        with self.serve("--lists", str(lists), *server_arguments) as server:
            port = json.loads(server.stdout.readline())["cql_port"]
            run = subprocess.run(
                [BUILD / "bin/liststore", "bench", "wire", "--quick", "--via", f"127.0.0.1:{port}", "--lists", "2000",
                 "--seconds", "0.02", *arguments], capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
            _, said = server.communicate(timeout=SECONDS_MAX)  # ends its standard input
        self.assertEqual(server.returncode, 0, said)
        return run

    def test_lists_are_kept_rightly(self):
        run = self.ask([], "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreaterEqual(json.loads(run.stdout)["replies_verified"], 1_000)

    def test_canned_answers_pass_unchecked_alone(self):
        run = self.ask(["--echo"], "--unchecked")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("what the replies held was not looked at", run.stdout)
        run = self.ask(["--echo"])
        self.assertEqual(run.returncode, 2)
        self.assertIn("row 0 is not item 19", run.stderr)

    def test_more_than_was_announced_is_refused(self):
        run = self.ask([], lists=1_999)
        self.assertEqual(run.returncode, 2)
        self.assertIn("no more lists than --lists", run.stderr)

    def test_unchecked_is_for_others(self):
        run = subprocess.run([BUILD / "bin/liststore", "bench", "wire", "--unchecked"], capture_output=True, text=True,
                             timeout=SECONDS_MAX, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--unchecked and --server-pid are for a server that is there (--via)", run.stderr)

    def test_an_input_that_does_not_end_is_refused(self):
        with open("/dev/null", "rb") as nothing:
            run = subprocess.run([BUILD / "bin/compare_bare_cql", "--echo"], stdin=nothing, capture_output=True,
                                 text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("standard input must be a pipe", run.stderr)


class WrongAnswersTest(unittest.TestCase):
    """Whatever is wrong with an answer ends the measurement."""

    def measure(self, wrong):
        with subprocess.Popen([sys.executable, FAKE_REDIS, "--port", "0", "--wrong", wrong],
                              stdout=subprocess.PIPE, text=True) as server:
            try:
                port = server.stdout.readline().strip()
                return subprocess.run(
                    [BUILD / "bin/compare_redis", "--port", port, "--lists", "1000", "--seconds", "0.01"],
                    capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
            finally:
                server.kill()

    def test_wrong_answers_are_found(self):
        for wrong, message in (("order", "member 0 is another than expected"),
                               ("short", "9 members came, expected 10"),
                               ("added", "a ZADD of 20 members was answered with 0"),
                               ("garbage", "an answer that is no RESP")):
            with self.subTest(wrong=wrong):
                run = self.measure(wrong)
                self.assertEqual(run.returncode, 2)
                self.assertIn(message, run.stderr)
                self.assertEqual(run.stdout, "")

    def test_a_server_that_is_not_there_is_named(self):
        run = subprocess.run([BUILD / "bin/compare_redis", "--port", "1"], capture_output=True, text=True,
                             timeout=SECONDS_MAX, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("cannot connect to 127.0.0.1:1: Connection refused", run.stderr)


if __name__ == "__main__":
    unittest.main()
