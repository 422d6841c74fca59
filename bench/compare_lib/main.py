"""The command line of bench/compare."""

import argparse
import dataclasses
import datetime
import json
import pathlib
import signal
import sys
import time

from compare_lib import forms, growth, html_report, machine, measure, result, table
from compare_lib.programs import ROOT, Failure, find, say

DESCRIPTION = """\
Runs liststore beside its peers on this machine, in turn and for several rounds, and says how they compare.

  plain      a hash map of ordered maps with an index by value behind sharded mutexes, in the same process
  bare       blocks of rows in populated memory and nothing else: how far memory would allow to go
  echo       a loop that answers frames of the same sizes with canned ones over the same sockets: how far the
             wire would allow to go
  bare_cql   the same with the lists of `bare` behind it, looked up and encoded
  cassandra  Cassandra 5: our statements, over CQL; fetched by Maven at the first run
  redis      Redis 7: sorted sets over loopback, pipelined as deep as our server is asked
  rocksdb, lmdb, sqlite   in memory, in the same process; built where Debian's packages are installed

Every answer is checked on every side. docs/benchmarks.md says what each line means, what is compared
fairly, and what is not."""

EPILOG = """\
examples:
  bench/compare --short                                  some four minutes; judged
  bench/compare --json result.json --html result.html    everything, with curves of growth: an hour
  bench/compare --growth --html growth.html              the curves alone
  bench/compare --short --peers plain,bare --lists 500000
  bench/compare --from result.json --html result.html    a report of an earlier run, nothing measured
  bench/compare --from bench.json --html bench.html      of lines of `liststore bench embedded --json`, `bench wire --json`

The programs are built first (preset release, in build/release) unless --build says where they are. A peer
that is not installed is skipped, and said to be.

exit status: 0; 1 a judged run had a ratio below its floor, 0.7 of its bar or, where that has not been
reached, of what was, or --no-skip and a peer was skipped; 2 it could not be carried out, or an answer was
wrong."""


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="bench/compare", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--short", action="store_true",
                      help="200,000 lists, three short rounds, plain, bare, echo, bare_cql and redis; fails below the floors")
    form.add_argument("--tiny", action="store_true", help="a moment of everything: shows that it runs")
    parser.add_argument("--growth", action="store_true",
                        help="with --short or --tiny: the curves of growth as well; else: nothing but them")
    parser.add_argument("--peers", metavar="NAMES",
                        help="only these, with commas between them: " + ", ".join(forms.PEERS))
    for name, text in (("lists", "lists in the store"), ("items", "items in each list"),
                       ("rounds", "rounds of each measurement")):
        parser.add_argument(f"--{name}", type=int, metavar="N", help=text)
    parser.add_argument("--seconds", type=float, metavar="S",
                        help="length of one measurement in the process; over the wire twice that")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON; - is standard output")
    parser.add_argument("--html", metavar="FILE", help="write a report with charts, in one file")
    parser.add_argument("--build", metavar="DIR", help="the build that holds the programs")
    parser.add_argument("--redis-server", metavar="PROGRAM", help="the Redis server [the one in PATH]")
    parser.add_argument("--attempts", type=int, default=1, metavar="N",
                        help="measure again, up to N times in all, while a judged run is below its floors; it\n"
                             "fails by what all of them were below")
    parser.add_argument("--no-skip", action="store_true", help="a peer that is skipped is a failure")
    parser.add_argument("--from", dest="source", metavar="FILE", help="report this result, or lines of `liststore bench --json`; measure nothing")
    return parser.parse_args(arguments)


def form_of(options):
    """The sizes of the run that `options` ask for."""
    form = forms.SHORT if options.short else forms.TINY if options.tiny else forms.FULL
    if options.growth:
        form = (dataclasses.replace(form, growth=True) if options.short or options.tiny
                else forms.GROWTH)
    changes = {name: getattr(options, name) for name in ("lists", "items", "rounds")
               if getattr(options, name) is not None}
    if options.seconds is not None:
        changes.update(seconds=options.seconds, wire_seconds=2 * options.seconds)
    if options.peers is not None:
        changes["peers"] = tuple(name for name in options.peers.split(",") if name)
    for name, value in changes.items():
        if name == "peers":
            unknown = [peer for peer in value if peer not in forms.PEERS]
            if unknown:
                raise Failure(f"--peers: {', '.join(unknown)}; there are {', '.join(forms.PEERS)}")
        elif value <= 0:
            raise Failure(f"--{name.replace('wire_', '')} is {value}, must be above 0")
    return dataclasses.replace(form, **changes)


def run(form, options):
    """Measures; returns the result."""
    folder = find(options.build)
    begin = time.monotonic()
    started = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    facts = machine.facts()
    times = machine.CoreTimes()
    bench = measure.Bench(form, folder, options.redis_server)
    embedded = bench.embedded() if form.lists else {}
    wire = bench.wire() if form.lists else {}
    grown, left_out = growth.measure_growth(bench) if form.growth else ([], [])
    return result.put_together(
        form, facts=facts, shares=times.shares(), commit=machine.commit(ROOT), started=started,
        elapsed=time.monotonic() - begin, embedded=embedded, wire=wire, growth=grown,
        growth_left_out=left_out, skipped=bench.skipped)


def run_again(form, options):
    """Up to --attempts runs: machines have others on them, and what is slow is so each time. What counts as
    missed is what all of them missed."""
    outcome = run(form, options)
    for attempt in range(1, options.attempts):
        if not form.judged or not outcome["missed"]:
            break
        names = [miss["ratio"] for miss in outcome["missed"]]
        say(f"below the floor: {', '.join(names)}; measuring again, attempt {attempt + 1} of {options.attempts}")
        outcome = run(form, options)
        outcome["missed"] = [miss for miss in outcome["missed"] if miss["ratio"] in names]
    return outcome


def write(path, text):
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        pathlib.Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from error
    say(f"wrote {path}")


def status_of(form, outcome, options):
    """The exit status of a run."""
    if form.judged and outcome["missed"]:
        return 1
    return 1 if options.no_skip and outcome["skipped"] else 0


def main(arguments):
    options = parse(arguments)
    # Ends what was started, as an interrupt does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        form = form_of(options)
        outcome = measure.load(options.source) if options.source else run_again(form, options)
        text = "\n".join(table.lines(outcome)) + "\n"
        # Where the JSON goes to standard output, the table must not be in its way.
        print(text, file=sys.stderr if options.json == "-" else sys.stdout, end="", flush=True)
        if options.json:
            write(options.json, json.dumps(outcome, indent=1) + "\n")
        if options.html:
            write(options.html, html_report.page(outcome))
        return 0 if options.source else status_of(form, outcome, options)
    except Failure as failure:
        say(f"bench/compare: {failure}")
        return 2
    except KeyboardInterrupt:
        say("bench/compare: interrupted")
        return 130
