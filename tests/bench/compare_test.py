#!/usr/bin/env python3
"""What bench/compare makes of results, without measuring anything.

    tests/bench/compare_test.py ROOT
"""

import contextlib
import dataclasses
import io
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/bench")]

import canned  # noqa: E402
from compare_lib import forms, machine, main, measure, result, table  # noqa: E402
from compare_lib.programs import Failure  # noqa: E402

ALWAYS_THERE = {
    "schema", "form", "started", "elapsed_seconds", "commit", "machine", "rounds", "lists", "items_per_list",
    "value_bytes", "skipped", "ratios", "ratio_rounds", "bars", "floor", "missed", "not_judged",
    "wire_select_per_s", "wire_insert_per_s", "bytes_per_item", "bytes_per_item_plain", "embedded", "wire",
    "growth"}


def outcome(plain=20.0, bare=1.0, ours=(2_000_000, 1_000_000, 3_000_000), redis=200_000, form=forms.SHORT,
            growth=()):
    """A result whose ratios are these; `redis` 0: it was skipped."""
    wire = {"liststore": [canned.wire(rate) for rate in ours]}
    skipped = []
    if redis:
        wire["redis"] = [canned.wire(redis) for _ in ours]
    else:
        skipped.append({"peer": "redis", "why": "redis-server is not installed"})
    return result.put_together(
        form, facts=canned.FACTS, shares={"idle_share": 0.5, "stolen_share": 0.021}, commit="abc123-dirty",
        started="2026-11-22 05:00:00", elapsed=200.0,
        embedded={"plain": canned.embedded("plain", plain), "bare": canned.embedded("bare", bare)},
        wire=wire, growth=list(growth), skipped=skipped)


class Options:
    no_skip = False


class ResultTest(unittest.TestCase):
    def test_it_holds_every_figure(self):
        got = outcome()
        self.assertLessEqual(ALWAYS_THERE, set(got))
        self.assertEqual(set(forms.BARS), set(got["ratios"]) & set(forms.BARS))
        self.assertEqual(got, json.loads(json.dumps(got)))

    def test_ratios_are_medians_of_the_rounds(self):
        got = outcome(plain=20, ours=(400_000, 1_000_000, 600_000), redis=200_000)
        self.assertEqual(got["ratios"]["get10_vs_plain"], 20)
        self.assertEqual(got["ratio_rounds"]["get10_vs_plain"], [10, 20, 40])
        self.assertEqual(got["ratio_rounds"]["wire_select_vs_redis"], [2, 5, 3])
        self.assertEqual(got["ratios"]["wire_select_vs_redis"], 3)
        self.assertEqual(got["wire_select_per_s"], 600_000)
        self.assertEqual(got["redis_wire_select_per_s"], 200_000)

    def test_bytes_of_an_item(self):
        got = outcome()
        self.assertEqual(got["bytes_per_item"], 75)
        self.assertEqual(got["bytes_per_item_plain"], 450)
        self.assertEqual(got["bytes_per_item_redis"], 46.5)

    def test_below_seven_tenths_of_its_bar_a_ratio_is_missed(self):
        for plain, missed in ((2.8, False), (2.79, True)):  # the bar of get10 is 4
            with self.subTest(plain=plain):
                names = [miss["ratio"] for miss in outcome(plain=plain)["missed"]]
                self.assertEqual("get10_vs_plain" in names, missed)

    def test_the_machine_is_told(self):
        told = outcome()["machine"]
        self.assertEqual(told["stolen_share"], 0.021)
        self.assertEqual(told["core_share"], 0.97)
        self.assertEqual(told["compiler"], "g++ 12")

    def test_only_bars_of_peers_that_were_asked_for_count(self):
        form = dataclasses.replace(forms.SHORT, peers=("plain", "redis"))
        self.assertNotIn("get10_vs_bare", outcome(form=form)["bars"])
        self.assertEqual(outcome(form=dataclasses.replace(form, bars={}), plain=0.1)["missed"], [])


class StatusTest(unittest.TestCase):
    def status(self, form=forms.SHORT, no_skip=False, **ratios):
        options = Options()
        options.no_skip = no_skip
        return main.status_of(form, outcome(form=form, **ratios), options)

    def test_a_judged_run_fails_below_a_floor(self):
        self.assertEqual(self.status(), 0)
        self.assertEqual(self.status(bare=0.3), 1)
        self.assertEqual(self.status(form=forms.FULL, bare=0.3), 0)

    def test_a_skipped_peer_neither_fails_nor_passes(self):
        got = outcome(redis=0)
        self.assertEqual(got["not_judged"], ["wire_select_vs_redis", "wire_insert_vs_redis"])
        self.assertNotIn("wire_select_vs_redis", got["ratios"])
        self.assertEqual(self.status(redis=0), 0)
        self.assertEqual(self.status(redis=0, no_skip=True), 1)


class TableTest(unittest.TestCase):
    def test_a_missed_ratio_is_named_with_its_bar_and_value(self):
        text = "\n".join(table.lines(outcome(bare=0.25)))
        self.assertIn("get10_vs_bare is 0.25, below 0.595: 0.7 of its bar 0.85", text)
        self.assertIn("8 of 13 ratios are at or above", text)
        self.assertIn("commit abc123-dirty", text)
        self.assertIn("stolen by the host: 2.1%", text)

    def test_a_skipped_peer_is_said_to_be(self):
        text = "\n".join(table.lines(outcome(redis=0)))
        self.assertIn("SKIPPED Redis: redis-server is not installed", text)
        self.assertIn("NOT JUDGED, for want of their peer: wire_select_vs_redis, wire_insert_vs_redis", text)

    def test_times_have_three_digits(self):
        for value, text in ((0, "0 ns"), (999, "999 ns"), (1234, "1.23 us"), (45_678, "45.7 us"),
                            (1_500_000, "1.5 ms"), (2e9, "2 s")):
            self.assertEqual(table.nanos(value), text)


class MachineTest(unittest.TestCase):
    def test_stolen_time_is_a_share_of_all_time(self):
        texts = iter(["cpu  100 0 50 800 10 0 0 40 7 0\ncpu0 1", "cpu  150 0 60 1000 10 0 0 80 7 0\ncpu0 1"])
        times = machine.CoreTimes(read=lambda: next(texts))
        self.assertEqual(times.shares(), {"idle_share": 200 / 300, "stolen_share": 40 / 300})

    def test_a_kernel_that_says_nothing_is_believed(self):
        self.assertEqual(machine.CoreTimes(read=lambda: "").shares(), {})

    def test_facts_are_told(self):
        facts = machine.facts()
        self.assertEqual(set(facts), set(canned.FACTS))
        self.assertGreater(facts["memory_bytes"], 0)


class OptionsTest(unittest.TestCase):
    def form(self, *arguments):
        return main.form_of(main.parse(arguments))

    def test_forms(self):
        self.assertEqual(self.form("--short"), forms.SHORT)
        self.assertEqual(self.form(), forms.FULL)
        changed = self.form("--short", "--lists", "5000", "--seconds", "0.5", "--peers", "bare,redis")
        self.assertEqual((changed.lists, changed.seconds, changed.wire_seconds, changed.peers),
                         (5000, 0.5, 1.0, ("bare", "redis")))

    def test_what_cannot_be_is_refused(self):
        with self.assertRaisesRegex(Failure, "--peers: memcached; there are plain, bare"):
            self.form("--peers", "plain,memcached")
        with self.assertRaisesRegex(Failure, "--rounds is 0, must be above 0"):
            self.form("--rounds", "0")

    def test_what_does_not_fit_into_memory_is_refused(self):
        measure.check_memory(("liststore", "plain"), 1_000_000, 20, 24, 16 * 2**30)
        with self.assertRaisesRegex(Failure, "1,000,000 lists of 20 items take 11.0 GiB in liststore and plain"):
            measure.check_memory(("liststore", "plain"), 1_000_000, 20, 24, 8 * 2**30)


class OrderTest(unittest.TestCase):
    """Which programs run, in which order; none is started."""

    def run_bench(self, form, redis_server):
        started = []

        def run_json(command):
            words = [str(word) for word in command]
            started.append(words)
            if "embedded" in " ".join(words):
                return canned.embedded(words[words.index("--peer") + 1], 3.0)
            return canned.wire(1_000)

        class Server:
            port, pid = 7, 8
            __enter__ = __exit__ = lambda self, *_: self

        bench = measure.Bench(form, pathlib.Path("/bin/of/build"), redis_server)
        with (mock.patch.object(measure, "run_json", run_json),
              mock.patch.object(measure, "RedisServer", lambda program: Server()),
              mock.patch.object(measure, "which", lambda name: None),
              mock.patch.object(measure.Bench, "_with_libraries", lambda self: ["sqlite"]),
              contextlib.redirect_stderr(io.StringIO())):
            bench.redis_server = redis_server
            return bench, bench.embedded(), bench.wire(), started

    def test_servers_are_measured_in_turn(self):
        _, _, wire, started = self.run_bench(forms.SHORT, "/usr/bin/redis-server")
        programs = [words[0].rpartition("/")[2] for words in started if "--peer" not in words]
        self.assertEqual(programs, ["liststore", "compare_redis"] * forms.SHORT.rounds)
        self.assertEqual({side: len(rounds) for side, rounds in wire.items()},
                         {"liststore": forms.SHORT.rounds, "redis": forms.SHORT.rounds})

    def test_both_servers_get_the_same_sizes(self):
        _, _, _, started = self.run_bench(forms.SHORT, "/usr/bin/redis-server")
        ours, theirs = [words for words in started if "--peer" not in words][:2]
        for option in ("--lists", "--items", "--value-bytes", "--rounds", "--seconds", "--seed"):
            self.assertEqual(ours[ours.index(option) + 1], theirs[theirs.index(option) + 1], option)

    def test_what_is_not_there_is_skipped_with_its_reason(self):
        bench, embedded, wire, _ = self.run_bench(forms.FULL, None)
        self.assertEqual([entry["peer"] for entry in bench.skipped], ["rocksdb", "lmdb", "redis"])
        self.assertIn("not installed", bench.skipped[2]["why"])
        self.assertEqual(set(embedded), {"plain", "bare", "sqlite"})
        self.assertEqual(set(wire), {"liststore"})

    def test_slow_peers_get_fewer_lists(self):
        _, _, _, started = self.run_bench(forms.FULL, None)
        lists = {words[words.index("--peer") + 1]: words[words.index("--lists") + 1]
                 for words in started if "--peer" in words}
        self.assertEqual(lists, {"plain": "1000000", "bare": "1000000", "sqlite": "100000"})


class FilesTest(unittest.TestCase):
    def run_main(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main.main(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def test_an_earlier_result_is_reported_again(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "result.json")
            source.write_text(json.dumps(outcome()), encoding="utf-8")
            status, out, err = self.run_main("--from", str(source), "--json", "-")
            self.assertEqual(status, 0)
            self.assertEqual(json.loads(out), outcome())
            self.assertIn("multi-get of 16", err)

    def test_a_file_that_is_no_result_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "result.json")
            source.write_text("{}", encoding="utf-8")
            status, _, err = self.run_main("--from", str(source))
            self.assertEqual(status, 2)
            self.assertIn("holds no result of bench/compare", err)
            self.assertEqual(self.run_main("--from", str(source) + ".absent")[0], 2)

    def test_a_folder_without_programs_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, err = self.run_main("--tiny", "--build", folder)
            self.assertEqual(status, 2)
            self.assertIn(f"{folder}: holds no build with liststore", err)


if __name__ == "__main__":
    unittest.main()
