"""The one object that a run ends in: what was measured, the ratios, and what they are held against."""

import statistics

from compare_lib import forms

SCHEMA = 1
# Lines of the wire that stand at the top: as many requests under way as a busy service has.
WIRE_LINES = {"wire_select": "select10_64", "wire_insert": "insert1_64"}
# What ratios beside a server are called, and the lines that they are made of.
RATIO_LINES = {**WIRE_LINES, "select10_1x64": "select10_1x64"}
LIMIT_LINES = {line: line for line in forms.WIRE_NAMES}


def _median(values):
    return statistics.median(values) if values else 0.0


def lines_beside(peer):
    """{name of the ratio: line} of a server."""
    return LIMIT_LINES if peer in forms.LIMITS else RATIO_LINES


def embedded_ratios(embedded):
    """{name: ratios of the rounds}, of the time that each side had a core."""
    return {f"{kind}_vs_{peer}": raw[f"{kind}_vs_{peer}_rounds"]
            for peer, raw in embedded.items() for kind in forms.KINDS}


def wire_ratios(wire):
    """{name: ratios of the rounds}, by the wall clock: each server has a core of its own."""
    ratios = {}
    for peer in forms.SERVER_PEERS:
        for name, line in lines_beside(peer).items():
            rounds = [ours[line] / theirs[line]
                      for ours, theirs in zip(wire.get("liststore", []), wire.get(peer, []))
                      if theirs[line] > 0]
            if rounds:
                ratios[f"{name}_vs_{peer}"] = rounds
    return ratios


def core_ratios(wire):
    """{name: median of the rounds}, by the time that the servers had on their cores: what the client could not
    ask for, and what others had of the machine, is not in it. Of servers that tell it."""
    ratios = {}
    for peer in forms.SERVER_PEERS:
        for name, line in lines_beside(peer).items():
            key = f"{line}_per_core_second"
            rounds = [ours[key] / theirs[key] for ours, theirs in zip(wire.get("liststore", []), wire.get(peer, []))
                      if ours.get(key, 0) > 0 and theirs.get(key, 0) > 0]
            if rounds:
                ratios[f"{name}_vs_{peer}"] = _median(rounds)
    return ratios


def bars_of(form):
    """The bars that a run of this form is held against: those of its peers."""
    return {name: bar for name, bar in form.bars.items() if name.rpartition("_vs_")[2] in form.peers}


def judge(ratios, bars):
    """What is below the floor of its bar, and what was not measured."""
    missed = [{"ratio": name, "bar": bar, "floor": floor_of(name, bar), "value": ratios[name]}
              for name, bar in bars.items()
              if name in ratios and ratios[name] < floor_of(name, bar)]
    return missed, [name for name in bars if name not in ratios]


def floor_of(name, bar):
    """What a ratio must not fall below."""
    return forms.FLOOR * min(bar, forms.REACHED.get(name, bar))


def wire_figures(wire):
    """Requests a second of each side, medians of the rounds."""
    figures = {}
    for side, rounds in wire.items():
        prefix = "" if side == "liststore" else f"{side}_"
        for name, line in WIRE_LINES.items():
            figures[f"{prefix}{name}_per_s"] = _median([raw[line] for raw in rounds])
            of_core = [raw[f"{line}_per_core_second"] for raw in rounds
                       if f"{line}_per_core_second" in raw]
            figures[f"{prefix}{name}_per_core_second"] = _median(of_core)
    return figures


def open_loop_figures(wire):
    """{side: figures of its open loop}: of each, the median of the rounds."""
    keys = ["open_loop_per_s", "open_loop_achieved_per_s"]
    keys += [f"open_loop_{kind}_{percentile}_ns" for kind in ("select", "insert", "machine")
             for percentile in ("p50", "p99", "p999")]
    figures = {side: {key: _median([raw[key] for raw in rounds]) for key in keys}
               for side, rounds in wire.items() if rounds}
    # Not of a server that is not on this machine, and not where the kernel keeps no account of waits.
    quiet = ["open_loop_quiet_share"] + [f"open_loop_quiet_{percentile}_ns" for percentile in ("p50", "p99", "p999")]
    for side, of_side in figures.items():
        told = [raw for raw in wire[side] if quiet[0] in raw]
        if told:
            of_side |= {key: _median([raw[key] for raw in told]) for key in quiet}
    return figures


def memory_figures(embedded, wire):
    """Bytes of an item and seconds to load, of each side."""
    figures = {}
    if embedded:
        figures["bytes_per_item"] = _median([raw["bytes_per_item"] for raw in embedded.values()])
        figures["load_seconds"] = _median([raw["load_seconds"] for raw in embedded.values()])
    for peer, raw in embedded.items():
        figures[f"bytes_per_item_{peer}"] = raw[f"bytes_per_item_{peer}"]
        figures[f"load_seconds_{peer}"] = raw[f"load_seconds_{peer}"]
    if wire.get("redis"):
        figures["bytes_per_item_redis"] = _median(
            [raw["used_memory_bytes"] / (raw["lists"] * raw["items_per_list"]) for raw in wire["redis"]])
    for side, rounds in wire.items():
        if side in forms.SERVER_PEERS and rounds:
            figures[f"load_seconds_{side}"] = _median([raw["load_seconds"] for raw in rounds])
    return figures


def machine_facts(facts, embedded, wire, growth, shares):
    """`facts` with what the programs know of themselves and what the run met."""
    raws = [*embedded.values(), *wire.get("liststore", []), *growth]
    machine = {**facts, **shares}
    machine["compiler"] = raws[0]["compiler"] if raws else "unknown"
    machine["version"] = raws[0]["version"] if raws else "unknown"
    core_shares = [raw["core_share"] for raw in embedded.values()]
    if core_shares:
        machine["core_share"] = min(core_shares)
    return machine


def put_together(form, *, facts, shares, commit, started, elapsed, embedded, wire, growth, growth_left_out,
                 skipped):
    """The result of a run."""
    rounds = {**embedded_ratios(embedded), **wire_ratios(wire)}
    ratios = {name: _median(values) for name, values in rounds.items()}
    bars = bars_of(form)
    missed, not_judged = judge(ratios, bars)
    return {
        "schema": SCHEMA,
        "form": form.name,
        "started": started,
        "elapsed_seconds": elapsed,
        "commit": commit,
        "machine": machine_facts(facts, embedded, wire, growth, shares),
        "lists": form.lists,
        "items_per_list": form.items,
        "value_bytes": form.value_bytes,
        "rounds": form.rounds,
        "skipped": skipped,
        "ratios": ratios,
        "ratio_rounds": rounds,
        "core_ratios": core_ratios(wire),
        "bars": bars,
        "floor": forms.FLOOR,
        "floors": {name: floor_of(name, bar) for name, bar in bars.items()},
        "missed": missed,
        "not_judged": not_judged,
        **wire_figures(wire),
        **memory_figures(embedded, wire),
        "open_loop": open_loop_figures(wire),
        "embedded": embedded,
        "wire": wire,
        "growth": growth,
        "growth_left_out": growth_left_out,
    }
