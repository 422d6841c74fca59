#!/usr/bin/env python3
"""What bench/compare makes of results, without measuring anything.

    tests/bench/compare_test.py ROOT
"""

import contextlib
import dataclasses
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock
from xml.etree import ElementTree

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/bench")]

import canned  # noqa: E402
from compare_lib import forms, growth, html_report, machine, main, measure, result, svg, table  # noqa: E402
from compare_lib.bare_cql_server import BareCqlServer  # noqa: E402
from compare_lib.cassandra_server import LAUNCHER, CassandraServer, Missing  # noqa: E402
from compare_lib.programs import Failure  # noqa: E402

ALWAYS_THERE = {
    "schema", "form", "started", "elapsed_seconds", "commit", "machine", "rounds", "lists", "items_per_list",
    "value_bytes", "skipped", "ratios", "ratio_rounds", "core_ratios", "bars", "floor", "floors", "missed", "not_judged",
    "wire_select_per_s", "wire_insert_per_s", "bytes_per_item", "bytes_per_item_plain", "embedded", "wire",
    "growth", "growth_left_out", "open_loop"}


def outcome(plain=20.0, bare=1.0, ours=(2_000_000, 1_000_000, 3_000_000), share=1.0, redis=200_000,
            form=forms.SHORT, growth=()):
    """A result whose ratios are these; `share`: of echo and of bare CQL; `redis` 0: it was skipped."""
    wire = {"liststore": [canned.wire(rate) for rate in ours]}
    wire |= {limit: [canned.wire(round(rate / share)) for rate in ours] for limit in forms.LIMITS}
    skipped = []
    if redis:
        wire["redis"] = [canned.wire(redis) for _ in ours]
    else:
        skipped.append({"peer": "redis", "why": "redis-server is not installed"})
    return result.put_together(
        form, facts=canned.FACTS, shares={"idle_share": 0.5, "stolen_share": 0.021}, commit="abc123-dirty",
        started="2026-11-22 05:00:00", elapsed=200.0,
        embedded={"plain": canned.embedded("plain", plain), "bare": canned.embedded("bare", bare)},
        wire=wire, growth=list(growth), growth_left_out=[],
        skipped=skipped)


class Options:
    no_skip = False
    attempts = 1


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

    def test_the_open_loop_is_told_for_each_server(self):
        got = outcome(ours=(400_000, 1_000_000, 600_000), redis=200_000)["open_loop"]
        self.assertEqual(got["liststore"]["open_loop_per_s"], 300_000)
        self.assertEqual(got["redis"]["open_loop_per_s"], 100_000)
        self.assertEqual(got["redis"]["open_loop_select_p99_ns"], canned.CURVE[8])
        self.assertEqual(got["redis"]["open_loop_quiet_p99_ns"], canned.CURVE[8])
        text = "\n".join(table.lines(outcome()))
        self.assertIn("due at a rate", text)
        self.assertIn("of the 75% due while nobody else had one of the two cores", text)

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

    def test_where_a_bar_was_not_reached_the_floor_goes_by_what_was(self):
        reached = forms.REACHED["multiget16_vs_plain"]
        self.assertLess(reached, forms.BARS["multiget16_vs_plain"])
        for factor, missed in ((0.71, False), (0.69, True)):
            with self.subTest(factor=factor):
                got = outcome(plain=reached * factor)
                names = [miss["ratio"] for miss in got["missed"]]
                self.assertEqual("multiget16_vs_plain" in names, missed)
                self.assertAlmostEqual(got["floors"]["multiget16_vs_plain"], 0.7 * reached)
                self.assertIn("BELOW", "\n".join(table.lines(got)))

    def test_over_the_wire_ours_is_judged_by_its_share_of_the_limits(self):
        got = outcome(share=0.5, redis=1_900_000)
        self.assertEqual(got["ratios"]["select10_64_vs_echo"], 0.5)
        self.assertEqual(got["ratios"]["insert1_16_vs_bare_cql"], 0.5)
        self.assertEqual(got["bars"]["select10_16_vs_echo"], 0.55)
        self.assertEqual(got["bars"]["select10_64_vs_bare_cql"], 0.85)
        self.assertEqual(got["bars"]["insert1_64_vs_bare_cql"], 0.8)
        # Shown, and held against nothing.
        self.assertNotIn("insert1_64_vs_echo", got["bars"])
        self.assertNotIn("wire_select_vs_redis", got["bars"])
        self.assertAlmostEqual(got["ratios"]["wire_select_vs_redis"], 20 / 19)
        self.assertEqual(got["bars"]["select10_1x64_vs_redis"], 1.2)
        missed = {miss["ratio"] for miss in outcome(share=0.1, redis=3_000_000)["missed"]}
        self.assertLessEqual({name for name in forms.BARS if name.rpartition("_vs_")[2] in forms.LIMITS}, missed)
        self.assertIn("select10_1x64_vs_redis", missed)
        self.assertAlmostEqual(got["core_ratios"]["select10_16_vs_echo"], 0.5)
        self.assertAlmostEqual(got["core_ratios"]["wire_select_vs_redis"], 20 / 19)
        text = "\n".join(table.lines(got))
        self.assertRegex(text, "over the wire .* echo .* of core .* ratio")
        self.assertRegex(text, r"SELECT 10, 1 on 64 .* 0\.50x")

    def test_it_is_measured_again_while_it_misses(self):
        options = Options()
        options.attempts = 3
        bad, good = {"bare": 0.2}, {}
        for runs, missed in (([good], []), ([bad, good], []), ([bad, {"plain": 0.3}], []),
                             ([bad, {"plain": 0.3, "bare": 0.2}, bad],
                              [name for name in forms.BARS if name.endswith("_bare")])):
            with self.subTest(runs=runs), contextlib.redirect_stderr(io.StringIO()), \
                    mock.patch.object(main, "run", side_effect=[outcome(**each) for each in runs]) as run:
                got = main.run_again(forms.SHORT, options)
                self.assertEqual(run.call_count, len(runs))
                self.assertEqual(sorted(miss["ratio"] for miss in got["missed"]), sorted(missed))

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
        self.assertEqual(got["not_judged"], ["select10_1x64_vs_redis"])
        self.assertNotIn("wire_select_vs_redis", got["ratios"])
        self.assertEqual(self.status(redis=0), 0)
        self.assertEqual(self.status(redis=0, no_skip=True), 1)


class TableTest(unittest.TestCase):
    def test_a_missed_ratio_is_named_with_its_bar_and_value(self):
        text = "\n".join(table.lines(outcome(bare=0.25)))
        self.assertIn("get10_vs_bare is 0.25, below 0.595: 0.7 of its bar 0.85", text)
        self.assertIn("multiget16_vs_bare is 0.25, below 0.252: 0.7 of what was reached before", text)
        self.assertIn("13 of 18 ratios have reached their bars, 13 are above their floors", text)
        self.assertIn("commit abc123-dirty", text)
        self.assertIn("stolen by the host: 2.1%", text)

    def test_a_skipped_peer_is_said_to_be(self):
        text = "\n".join(table.lines(outcome(redis=0)))
        self.assertIn("SKIPPED Redis: redis-server is not installed", text)
        self.assertIn("NOT JUDGED, for want of their peer: select10_1x64_vs_redis", text)

    def test_a_disturbed_run_says_so(self):
        def said(stolen, core):
            return list(table.disturbances({"machine": {"stolen_share": stolen, "core_share": core}}))
        self.assertEqual(said(0.02, 0.95), [])
        self.assertEqual(said(0.218, 0.95), ["the host has stolen 21.8%, more than 2%: measure again"])
        self.assertEqual(said(0, 0.61), ["the timed thread had 61% of its core, less than 95%: measure again"])
        self.assertEqual(list(table.disturbances({"machine": {}})), [])
        self.assertIn("DISTURBED: the host has stolen 2.1%", "\n".join(table.lines(outcome())))
        self.assertIn("disturbed: the host has stolen 2.1%", html_report.page(outcome()))

    def test_times_have_three_digits(self):
        for value, text in ((0, "0 ns"), (999, "999 ns"), (1234, "1.23 us"), (45_678, "45.7 us"),
                            (1_500_000, "1.5 ms"), (2e9, "2 s")):
            self.assertEqual(table.nanos(value), text)


def grown(axis, lists, items, peer):
    return {"axis": axis, **canned.embedded(peer, 2.0, lists=lists, items=items), "peer": peer,
            "items": lists * items}


class GrowthTest(unittest.TestCase):
    GROWTH = [grown("lists", 10_000, 20, "plain"), grown("lists", 100_000, 20, "plain"),
              grown("lists", 100_000, 20, "bare"), grown("items", 20, 100_000, "bare")]

    def test_curves_have_a_point_for_each_size(self):
        got = growth.curves(self.GROWTH, "lists", growth.cost_nanos("get10"))
        self.assertEqual(got, {"liststore": [(10_000, 500), (100_000, 500)],
                               "plain": [(10_000, 1000), (100_000, 1000)], "bare": [(100_000, 1000)]})
        self.assertEqual(growth.curves(self.GROWTH, "items", growth.load_nanos_per_item),
                         {"liststore": [(100_000, 1000)], "bare": [(100_000, 4500)]})

    def test_the_points_are_those_of_the_table(self):
        points = list(growth.points(forms.GROWTH))
        self.assertEqual([lists for axis, lists, _ in points if axis == "lists"],
                         [10_000, 100_000, 1_000_000, 5_000_000])
        self.assertEqual([(lists, items) for axis, lists, items in points if axis == "items"],
                         [(2_000_000, 1), (200_000, 10), (20_000, 100), (2_000, 1_000), (200, 10_000),
                          (20, 100_000)])

    def test_ours_is_measured_alone_where_no_peer_fits(self):
        started = []

        def run_json(command):
            words = [str(word) for word in command]
            started.append("--peer" in words and words[words.index("--peer") + 1])
            return canned.embedded(started[-1] or "plain", 2.0) | {"peer": started[-1] or ""}

        with (mock.patch.object(growth, "run_json", run_json),
              mock.patch.object(growth, "points", lambda form: [("lists", 5_000_000, 20)]),
              mock.patch.object(machine, "available_bytes", lambda: 14 * 2**30),
              contextlib.redirect_stderr(io.StringIO())):
            results, left_out = growth.measure_growth(measure.Bench(forms.GROWTH, pathlib.Path("/bin"), None))
        self.assertEqual(started, [False])
        self.assertEqual(len(results), 1)
        self.assertEqual([entry["point"] for entry in left_out],
                         ["5,000,000 lists of 20 items, liststore beside plain structure",
                          "5,000,000 lists of 20 items, liststore beside bare reference"])
        self.assertIn("GiB are available", left_out[0]["why"])


class ReportTest(unittest.TestCase):
    def page(self, **ratios):
        text = html_report.page(outcome(growth=GrowthTest.GROWTH, **ratios))
        return text, ElementTree.fromstring(text.partition("\n")[2])

    def test_it_is_well_formed_and_needs_nothing_else(self):
        text, root = self.page()
        self.assertTrue(text.startswith("<!DOCTYPE html>\n<html lang=\"en\">"))
        self.assertEqual({element.tag for element in root.iter()} & {"script", "link", "img", "iframe"}, set())
        for reference in ("http://", "https://", "url(", "@import", "src="):
            self.assertNotIn(reference, text)
        self.assertIn(("viewport", "width=device-width, initial-scale=1"),
                      [(meta.get("name"), meta.get("content")) for meta in root.iter("meta")])

    def test_text_is_escaped(self):
        text, root = self.page()
        self.assertIn("A &lt;processor&gt; &amp; more", text)
        self.assertIn("A <processor> & more", "".join(root.itertext()))

    def test_every_section_has_its_charts(self):
        _, root = self.page()
        self.assertEqual([heading.text for heading in root.iter("h2")],
                         ["Ratios", "Throughput in the process", "Throughput over the wire", "Latency", "Memory",
                          "Growth"])
        titles = [chart.get("aria-label") for chart in root.iter("svg")]
        # Two of throughput, six of latency, one of memory, and seven of growth on each of two axes.
        self.assertEqual(len(titles), 2 + 6 + 1 + 2 * 7)
        self.assertEqual(titles[:2], ["Operations a second", "Requests a second over the wire"])

    def test_charts_stay_within_their_frame(self):
        _, root = self.page()
        for chart in root.iter("svg"):
            _, _, width, height = map(float, chart.get("viewBox").split())
            for element in chart.iter():
                for name, bound in (("x", width), ("y", height), ("cx", width), ("cy", height), ("x1", width),
                                    ("x2", width), ("y1", height), ("y2", height)):
                    if element.get(name) is not None:
                        self.assertTrue(0 <= float(element.get(name)) <= bound, ElementTree.tostring(element))
                for point in (element.get("points") or "").split():
                    x, y = map(float, point.split(","))
                    self.assertTrue(0 <= x <= width and 0 <= y <= height, point)

    def test_a_missed_bar_and_a_skipped_peer_can_be_seen(self):
        text, _ = self.page(bare=0.25, redis=0)
        self.assertIn('<td class="bad">below 0.595</td>', text)
        self.assertIn("Redis was skipped: redis-server is not installed", text)
        self.assertIn("not judged, for want of its peer: select10_1x64_vs_redis", text)

    def test_what_was_not_measured_has_no_section(self):
        bare_result = result.put_together(
            forms.GROWTH, facts=canned.FACTS, shares={}, commit="abc", started="now", elapsed=1.0, embedded={},
            wire={}, growth=GrowthTest.GROWTH, growth_left_out=[{"point": "5M", "why": "no room"}], skipped=[])
        text = html_report.page(bare_result)
        self.assertEqual(text.count("<h2>"), 1)
        self.assertIn("5M: no room", text)


class ScaleTest(unittest.TestCase):
    def test_a_logarithmic_scale_puts_decades_at_equal_distances(self):
        scale = svg.LogScale([1, 1000], 0, 300)
        self.assertEqual([round(scale(value)) for value in (1, 10, 100, 1000)], [0, 100, 200, 300])
        self.assertEqual(scale.ticks(), [1, 10, 100, 1000])

    def test_one_value_alone_has_a_place(self):
        scale = svg.LogScale([70], 0, 100)
        self.assertEqual((scale.low, scale.high), (10, 100))
        self.assertTrue(0 < scale(70) < 100)
        exact = svg.LogScale([100], 0, 100)
        self.assertEqual((exact.low, exact.high), (100, 1000))

    def test_a_linear_scale_begins_at_zero(self):
        scale = svg.LinearScale([50, 100], 4, 104)
        self.assertEqual([scale(value) for value in (0, 50, 100)], [4, 54, 104])

    def test_counts_have_three_digits(self):
        for value, text in ((0, "0"), (999, "999"), (1234, "1.23K"), (999_900, "1M"), (5.5e6, "5.5M")):
            self.assertEqual(svg.count(value), text)


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
        self.assertEqual(self.form("--growth"), forms.GROWTH)
        self.assertTrue(self.form("--short", "--growth").growth)
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

    def run_bench(self, form, redis_server, cassandra=None):
        """`cassandra`: its address; None where it is missing."""
        started = []

        def run_json(command):
            words = [str(word) for word in command]
            started.append(words)
            if "embedded" in " ".join(words):
                return canned.embedded(words[words.index("--peer") + 1], 3.0)
            return canned.wire(1_000)

        class Server:
            port, pid = 7, 8
            address = cassandra
            __enter__ = __exit__ = lambda self, *_: self

        class Limit(Server):
            address = "127.0.0.1:9"

        def start_cassandra():
            if cassandra is None:
                raise Missing("Maven is not installed")
            return Server()

        bench = measure.Bench(form, pathlib.Path("/bin/of/build"), redis_server)
        with (mock.patch.object(measure, "run_json", run_json),
              mock.patch.object(measure, "RedisServer", lambda program: Server()),
              mock.patch.object(measure, "CassandraServer", start_cassandra),
              mock.patch.object(measure, "BareCqlServer",
                                lambda *words: started.append([str(word) for word in words]) or Limit()),
              mock.patch.object(measure, "which", lambda name: None),
              mock.patch.object(measure.Bench, "_with_libraries", lambda self: ["sqlite"]),
              contextlib.redirect_stderr(io.StringIO())):
            bench.redis_server = redis_server
            return bench, bench.embedded(), bench.wire(), started

    def test_servers_are_measured_in_turn(self):
        _, _, wire, started = self.run_bench(forms.SHORT, "/usr/bin/redis-server")
        programs = [words[0].rpartition("/")[2] for words in started if "--peer" not in words]
        limit = ["compare_bare_cql", "liststore"]
        self.assertEqual(programs, ["liststore", *limit, *limit, "compare_redis"] * forms.SHORT.rounds)
        self.assertEqual({side: len(rounds) for side, rounds in wire.items()},
                         dict.fromkeys(("liststore", "echo", "bare_cql", "redis"), forms.SHORT.rounds))

    def test_limits_are_asked_as_ours_is_and_only_one_may_answer_what_it_likes(self):
        form = dataclasses.replace(forms.SHORT, peers=("echo", "bare_cql"), rounds=1)
        _, _, _, started = self.run_bench(form, None)
        ours, echo, echo_asked, bare, bare_asked = started
        for asked in (echo_asked, bare_asked):
            self.assertEqual(asked[:len(ours)], ours)
            self.assertEqual(asked[len(ours):][:4], ["--via", "127.0.0.1:9", "--server-pid", "8"])
        self.assertEqual(echo_asked[-1], "--unchecked")
        self.assertNotIn("--unchecked", bare_asked)
        self.assertEqual(echo[-1], "--echo")
        self.assertNotIn("--echo", bare)
        for server in (echo, bare):
            self.assertEqual(server[1:7], ["--lists", "200000", "--items", "20", "--value-bytes", "24"])

    def test_a_limit_that_answers_with_other_sizes_is_none(self):
        wire = {"liststore": [canned.wire(1)], "echo": [canned.wire(1) | {"select10_16_reply_bytes": 700}]}
        with self.assertRaisesRegex(Failure, "echo answers a SELECT with 700 bytes, ours with 776"):
            measure.check_sizes(wire)
        measure.check_sizes({"liststore": [canned.wire(1)], "echo": [canned.wire(1)]})

    def test_both_servers_get_the_same_sizes(self):
        _, _, _, started = self.run_bench(forms.SHORT, "/usr/bin/redis-server")
        ours, theirs = [next(words for words in started if words[0].endswith(program) and "--peer" not in words)
                        for program in ("liststore", "compare_redis")]
        for option in ("--lists", "--items", "--value-bytes", "--rounds", "--seconds", "--seed"):
            self.assertEqual(ours[ours.index(option) + 1], theirs[theirs.index(option) + 1], option)

    def test_what_is_not_there_is_skipped_with_its_reason(self):
        bench, embedded, wire, _ = self.run_bench(forms.FULL, None)
        self.assertEqual([entry["peer"] for entry in bench.skipped], ["rocksdb", "lmdb", "redis", "cassandra"])
        self.assertIn("not installed", bench.skipped[2]["why"])
        self.assertEqual(bench.skipped[3]["why"], "Maven is not installed")
        self.assertEqual(set(embedded), {"plain", "bare", "sqlite"})
        self.assertEqual(set(wire), {"liststore", "echo", "bare_cql"})

    def test_cassandra_is_asked_as_ours_is_with_fewer_lists_and_no_local_index(self):
        form = dataclasses.replace(forms.FULL, peers=("cassandra",), rounds=2)
        bench, _, wire, started = self.run_bench(form, None, cassandra="127.0.0.1:7")
        self.assertEqual(bench.skipped, [])
        self.assertEqual({side: len(rounds) for side, rounds in wire.items()}, {"liststore": 2, "cassandra": 2})
        ours, theirs = started[:2]
        self.assertEqual(ours[:4], theirs[:4])
        self.assertEqual(ours[ours.index("--lists") + 1], "1000000")
        self.assertEqual(theirs[theirs.index("--lists") + 1], "100000")
        self.assertEqual(theirs[-3:], ["--via", "127.0.0.1:7", "--no-index"])
        self.assertNotIn("--no-index", ours)

    def test_slow_peers_get_fewer_lists(self):
        _, _, _, started = self.run_bench(forms.FULL, None)
        lists = {words[words.index("--peer") + 1]: words[words.index("--lists") + 1]
                 for words in started if "--peer" in words}
        self.assertEqual(lists, {"plain": "1000000", "bare": "1000000", "sqlite": "100000"})


class BareCqlServerTest(unittest.TestCase):
    """What is made of the ready line of compare_bare_cql and of its end; it is not started."""

    def server(self, script):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        program = pathlib.Path(folder, "compare_bare_cql")
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)
        return BareCqlServer(program, "--echo", "--lists", 5)

    def test_it_is_there_until_its_input_ends(self):
        with self.server("""[ "$*" = "--echo --lists 5" ] || exit 1; echo '{"cql_port":7,"pid":8}'; cat""") as server:
            self.assertEqual(server.address, "127.0.0.1:7")
            process = server._process
            self.assertEqual(server.pid, process.pid)
            self.assertIsNone(process.poll())
        self.assertEqual(process.returncode, 0)

    def test_one_that_does_not_start_ends_the_run(self):
        with self.assertRaisesRegex(Failure, "^compare_bare_cql: no socket$"):
            with self.server("echo 'compare_bare_cql: no socket' >&2; exit 2"):
                self.fail("it has not started")
        with self.assertRaisesRegex(Failure, "/nonexistent/compare_bare_cql: No such file"):
            with BareCqlServer("/nonexistent/compare_bare_cql"):
                self.fail("it is not there")


class CassandraServerTest(unittest.TestCase):
    """What is made of the launcher's ready line and of its end; no Cassandra is started."""

    def server(self, script):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        launcher = pathlib.Path(folder, "launcher")
        launcher.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        launcher.chmod(0o755)
        return CassandraServer(launcher)

    def test_it_is_there_until_its_input_ends(self):
        with self.server("""echo '{"cassandra": "127.0.0.1:7", "pid": 8}'; cat; exit 3""") as server:
            self.assertEqual(server.address, "127.0.0.1:7")
            process = server._process
            self.assertIsNone(process.poll())
        self.assertEqual(process.returncode, 3)

    def test_one_that_cannot_be_had_is_missing(self):
        with self.assertRaisesRegex(Missing, "^no Maven$"):
            with self.server("echo 'cassandra: fetching' >&2; echo 'cassandra: skipped: no Maven' >&2; exit 77"):
                self.fail("it is not there")

    def test_one_that_does_not_start_ends_the_run(self):
        with self.assertRaisesRegex(Failure, "^cassandra: it does not start$"):
            with self.server("echo 'cassandra: it does not start' >&2; exit 2"):
                self.fail("it has not started")

    def test_without_java_the_launcher_says_that_it_is_skipped(self):
        run = subprocess.run([sys.executable, LAUNCHER], env={"PATH": "/nonexistent", "HOME": "/nonexistent"},
                             capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(run.returncode, 77)
        self.assertIn("skipped: Java 17 is not installed", run.stderr)


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

    def test_a_result_of_before_the_machine_was_measured_is_reported_too(self):
        old = outcome()
        del old["floors"], old["core_ratios"]
        for raw in [raw for rounds in old["wire"].values() for raw in rounds]:
            for name in [name for name in raw if name.startswith("select10_1x64")]:
                del raw[name]
        for name in [name for name in old["ratios"] if name.startswith("select10_1x64")]:
            del old["ratios"][name]
        for figures in old["open_loop"].values():
            for name in [name for name in figures if name.startswith(("open_loop_machine_", "open_loop_quiet_"))]:
                del figures[name]
        with tempfile.TemporaryDirectory() as folder:
            source, page = pathlib.Path(folder, "result.json"), pathlib.Path(folder, "report.html")
            source.write_text(json.dumps(old), encoding="utf-8")
            status, out, _ = self.run_main("--from", str(source), "--html", str(page))
            self.assertEqual(status, 0)
            self.assertIn("due at a rate", out)
            self.assertNotIn("the machine  ", out)
            self.assertNotIn("1 on 64", out)
            self.assertNotIn("quiet", out)
            self.assertNotIn("in no time", page.read_text(encoding="utf-8"))
            self.assertNotIn("While nobody else", page.read_text(encoding="utf-8"))

    def test_lines_of_liststore_bench_are_a_result_that_is_not_judged(self):
        of_machine = {"cpu": "A <processor>", "cores": 2, "kernel": "Linux 6", "memory_bytes": 2**34,
                      "huge_pages": "madvise", "date": "2026-11-27 14:00:00", "rounds": 3, "value_bytes": 24}
        lines = [canned.embedded("plain", 20), canned.wire(1_000_000), canned.wire(3_000_000)]
        with tempfile.TemporaryDirectory() as folder:
            source, page = pathlib.Path(folder, "bench.json"), pathlib.Path(folder, "report.html")
            source.write_text("".join(json.dumps(line | of_machine) + "\n" for line in lines), encoding="utf-8")
            status, out, err = self.run_main("--from", str(source), "--json", "-", "--html", str(page))
            self.assertEqual(status, 0, err)
            got = json.loads(out)
            self.assertEqual(got["ratios"]["get10_vs_plain"], 20)
            self.assertEqual((got["wire_select_per_s"], got["bars"], got["missed"]), (2_000_000, {}, []))
            self.assertIn("16.0 GiB", err)
            text = page.read_text(encoding="utf-8")
            self.assertIn("A &lt;processor&gt;, 2 cores", text)
            self.assertIn("Throughput in the process", text)
            self.assertIn("over the wire: SELECT", text)
            self.assertNotIn("load before", text + err)
            ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))
            alone = {key: value for key, value in lines[0].items() if "plain" not in key}
            source.write_text(json.dumps(alone | of_machine), encoding="utf-8")
            self.assertIn("run without a peer", self.run_main("--from", str(source))[2])

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
