"""The command line of bench/instructions."""

import argparse
import json
import pathlib
import sys

from instructions_lib.callgrind import CountedServer, NotThere
from instructions_lib.requests import LISTS, ITEMS, Requests, WrongAnswer

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77

DESCRIPTION = """\
Counts the instructions that a server spends on a request of the list model, by callgrind: the same on every
machine, for the same compiler. A SELECT reads the newest ten of twenty items of 24 bytes, an INSERT adds one;
64 are under way on one connection. Counted is the program alone, from the bytes of requests to those of
answers, with the journal on; neither the sockets nor the system."""

EPILOG = """\
stages:
  decode    frames and their values
  join      what the statement takes out of its values: key, bound, row
  engine    tokens, lanes, look-up, the read or the write
  rows      rows of an answer
  journal   the request as the journal keeps it
  rest      everything else

examples:
  bench/instructions                       build/release/bin/liststore; a table
  bench/instructions --check               fails when a stage is above its budget
  bench/instructions --program P --json -

exit status: 0; 1 above a budget; 2 it could not be counted; 77 there is no valgrind."""

# Instructions a request, g++ 12 with -O3. They may go down with any change; up only with a note in
# docs/decisions.
BUDGETS = {
    "select": {"decode": 430, "join": 380, "engine": 595, "rows": 1230, "journal": 215, "rest": 360},
    "insert": {"decode": 475, "join": 475, "engine": 2235, "rows": 0, "journal": 230, "rest": 450},
}
# Blocks of the journal and of lists begin now and then, and on a busy machine a group may come in two parts,
# each a turn of its own.
TOLERANCE = 1.04
FEW, MANY = 3_200, 9_600

# What a stage is, by functions with all that they call: a kind of request calls one of them.
SESSION = "liststore::cql_face::CqlSession::OnBytes"
HANDLER = "liststore::instruments::JournalingHandler::Handle"
PROCESSOR = "liststore::execute::QueryProcessor::Handle"
STAGES = {
    "decode": ("liststore::cql_face::Dispatcher::Take",),
    "join": ("liststore::execute::ExecuteGroup::AddItemRead",
             "liststore::execute::ExecuteGroup::AddItemInsert"),
    "engine": ("liststore::shard::Engine::ExecuteGroup",),
    "rows": ("liststore::execute::ExecuteGroup::Slot::OnPackedRun",),
}


def _count(program, kind, requests):
    with CountedServer(program) as server:
        client = Requests(server.port)
        try:
            if kind == "select":
                client.select(0, requests)
            else:
                client.insert(LISTS * ITEMS, requests)
        finally:
            client.close()
    return server.counts


def _per_request(few, many):
    """Instructions a request of each stage, and in all."""
    def of(*names):
        counted = [name for name in names if name in many]
        if not counted:
            raise KeyError(f"no function {names[0]} was counted: it has another name now, or is part of another")
        return sum(many[name] - few.get(name, 0) for name in counted) / (MANY - FEW)
    stages = {stage: of(*names) if names[0] in many or stage != "rows" else 0.0 for stage, names in STAGES.items()}
    stages["engine"] -= stages["rows"]  # which are made while a list is read
    stages["journal"] = of(HANDLER) - of(PROCESSOR)
    total = of(SESSION)
    stages["rest"] = total - sum(stages.values())
    return stages, total


def _table(results, check):
    lines = []
    exceeded = []
    for kind, (stages, total) in results.items():
        lines.append(f"{kind:8} {'instructions':>12} {'budget':>8}")
        for stage, count in stages.items():
            budget = BUDGETS[kind][stage]
            is_over = count > budget * TOLERANCE and count > budget + 2
            if is_over:
                exceeded.append(f"{kind}, {stage}: {count:.0f} instructions a request, its budget is {budget}")
            lines.append(f"  {stage:8} {count:10.0f} {budget:8}{'  above' if is_over else ''}")
        lines.append(f"  {'all':8} {total:10.0f} {sum(BUDGETS[kind].values()):8}")
    print("\n".join(lines))
    if check and exceeded:
        print("\n".join(exceeded), file=sys.stderr)
        print("Take the instructions out again, or raise the budget in bench/instructions_lib/main.py and say why "
              "in docs/decisions.", file=sys.stderr)
        return 1
    return 0


def main(arguments):
    parser = argparse.ArgumentParser(prog="bench/instructions", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/liststore"), metavar="P",
                        help="the liststore that is counted [build/release/bin/liststore]")
    parser.add_argument("--check", action="store_true", help="fail when a stage is above its budget")
    parser.add_argument("--json", metavar="FILE", help="write the counts as JSON; - is standard output")
    options = parser.parse_args(arguments)
    try:
        results = {}
        for kind in BUDGETS:
            few = _count(options.program, kind, FEW)
            many = _count(options.program, kind, MANY)
            results[kind] = _per_request(few, many)
    except NotThere as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    except (KeyError, RuntimeError, WrongAnswer, OSError) as error:
        print(f"bench/instructions: {error}", file=sys.stderr)
        return 2
    if options.json:
        text = json.dumps({kind: dict(stages, all=total) for kind, (stages, total) in results.items()}, indent=1)
        if options.json == "-":
            print(text)
            return 0
        pathlib.Path(options.json).write_text(text + "\n")
    return _table(results, options.check)
