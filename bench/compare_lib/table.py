"""A result as a table for people."""

from compare_lib import forms, result as results
from compare_lib.svg import nanos


def median(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    if not ordered:
        return 0
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _ratio(result, name):
    rounds = result["ratio_rounds"][name]
    text = f"{result['ratios'][name]:6.2f}x  {min(rounds):6.2f} - {max(rounds):<6.2f}"
    if name not in result["bars"]:
        return text
    bar = result["bars"][name]
    floor = result["floors"][name]
    if result["ratios"][name] >= bar:
        mark = "reached"
    elif result["ratios"][name] >= result["floor"] * bar:
        mark = "below, above the floor"
    elif result["ratios"][name] >= floor:
        mark = f"BELOW; above {floor:.3g}, {result['floor']:g} of what was reached before"
    else:
        mark = f"BELOW THE FLOOR of {floor:.3g}"
    return f"{text}  {bar:5.4g}  {mark}"


# Beyond these a run says more of the machine's other users than of what it measures.
STOLEN_SHARE_MAX = 0.02
CORE_SHARE_MIN = 0.95


def disturbances(result):
    """Why a run is not to be believed; nothing where it is."""
    machine = result["machine"]
    if machine.get("stolen_share", 0) > STOLEN_SHARE_MAX:
        yield f"the host has stolen {machine['stolen_share']:.1%}, more than {STOLEN_SHARE_MAX:.0%}: measure again"
    if machine.get("core_share", 1) < CORE_SHARE_MIN:
        yield (f"the timed thread had {machine['core_share']:.0%} of its core, less than {CORE_SHARE_MIN:.0%}: "
               "measure again")


def _machine(result):
    machine = result["machine"]
    yield f"bench/compare, {result['form']}: liststore {machine['version']}, commit {result['commit']}"
    yield (f"  {machine['cpu']}, {machine['cores']} cores{', virtual' if machine['virtual'] else ''}, "
           f"{machine['memory_bytes'] / 2**30:.1f} GiB, {machine['kernel']}, huge pages: "
           f"{machine['huge_pages']}, governor: {machine['governor']}")
    yield f"  built by {machine['compiler']}"
    met = [f"load before: {machine['load_before']:.2f}"] if "load_before" in machine else []
    if "stolen_share" in machine:
        met.append(f"stolen by the host: {machine['stolen_share']:.1%}")
    if "core_share" in machine:
        met.append(f"the timed thread had {machine['core_share']:.0%} of its core")
    yield f"  {result['started']} UTC, {result['elapsed_seconds']:.0f} s{''.join(f'; {fact}' for fact in met)}"
    if result["lists"]:
        yield (f"  {result['lists']:,} lists of {result['items_per_list']} items with values of "
               f"{result['value_bytes']} bytes; {result['rounds']} rounds in turn; medians")


def lists_of(raw):
    """How many lists a measurement had: peers that are slow to load get fewer."""
    return f"{raw['lists']:,} lists"


def _embedded(result):
    for peer, raw in result["embedded"].items():
        yield ""
        yield (f"  {lists_of(raw):<16} {'a second':>12} {'p50':>8} {'p99.9':>8} "
               f"{forms.PEERS[peer]:>16} {'p50':>8} {'p99.9':>8}   ratio  rounds             bar")
        for kind in forms.KINDS:
            name = f"{kind}_vs_{peer}"
            yield (f"  {forms.KIND_NAMES[kind]:<16} {raw[kind]:>12,} {nanos(raw[kind + '_p50_ns']):>8} "
                   f"{nanos(raw[kind + '_p999_ns']):>8} {raw[f'{peer}_{kind}']:>16,} "
                   f"{nanos(raw[f'{peer}_{kind}_p50_ns']):>8} {nanos(raw[f'{peer}_{kind}_p999_ns']):>8} "
                   f"{_ratio(result, name)}")


def wire_lines(rounds):
    """Those that were measured: results of before a line was there have it not."""
    return [line for line in forms.WIRE_NAMES if all(line in raw for raw in rounds)]


def _wire(result):
    """Ours beside each server."""
    wire = result["wire"]
    peers = [side for side in wire if side != "liststore"] if wire else []
    for peer in peers or [None] * bool(wire):
        yield ""
        yield (f"  {'over the wire':<20} {'a second':>12} {'p50':>8} {'p99':>8}"
               + (f" {forms.PEERS[peer]:>12} {'p50':>8} {'p99':>8}   of core   ratio  rounds             bar"
                  if peer else ""))
        sides = ["liststore", peer] if peer else ["liststore"]
        names = {line: name for name, line in results.lines_beside(peer).items()}
        for line in wire_lines([raw for side in sides for raw in wire[side]]):
            row = f"  {forms.WIRE_NAMES[line]:<20}"
            for side in sides:
                middle = [median([raw[line + key] for raw in wire[side]]) for key in ("", "_p50_ns", "_p99_ns")]
                row += f" {middle[0]:>12,.0f} {nanos(middle[1]):>8} {nanos(middle[2]):>8}"
            name = f"{names.get(line)}_vs_{peer}"
            of_core = result.get("core_ratios", {}).get(name)
            row += " " * 11 if of_core is None else f" {of_core:>9.2f}x"
            yield row + (f" {_ratio(result, name)}" if name in result["ratios"] else "")


def machine_waits(result, percentile):
    """What requests waited for their cores alone: the median of all servers' runs; None: an earlier result, of
    before that was measured."""
    key = f"open_loop_machine_{percentile}_ns"
    waits = [figures[key] for figures in result["open_loop"].values() if key in figures]
    return median(waits) if waits else None


def _open_loop(result):
    if not result["open_loop"]:
        return
    yield ""
    yield f"  {'due at a rate':<16} {'a second':>12}  SELECT   p50      p99    p99.9   INSERT   p50      p99    p99.9"
    for side, figures in result["open_loop"].items():
        row = f"  {forms.PEERS.get(side, side):<16} {figures['open_loop_achieved_per_s']:>12,.0f} "
        for kind in ("select", "insert"):
            row += " " * 4 + "".join(f" {nanos(figures[f'open_loop_{kind}_{percentile}_ns']):>8}"
                                     for percentile in ("p50", "p99", "p999"))
        yield row
    for side, figures in result["open_loop"].items():
        if "open_loop_quiet_share" in figures:
            quiet = "".join(f" {nanos(figures[f'open_loop_quiet_{percentile}_ns']):>8}"
                            for percentile in ("p50", "p99", "p999"))
            yield (f"  {forms.PEERS.get(side, side) + ', quiet':<16} {'':>12}      {quiet}   of the "
                   f"{figures['open_loop_quiet_share']:.0%} due while nobody else had one of the two cores")
    waits = [machine_waits(result, percentile) for percentile in ("p50", "p99", "p999")]
    if None not in waits:
        machine = "".join(f" {nanos(wait):>8}" for wait in waits)
        yield f"  {'the machine':<16} {'':>12}      {machine}   of the same requests, answered in no time"


def _memory(result):
    sides = [("liststore", "bytes_per_item", "load_seconds")]
    sides += [(forms.PEERS[peer], f"bytes_per_item_{peer}", f"load_seconds_{peer}") for peer in forms.PEERS]
    lines = [f"  {name:<16} {result[size]:8.1f} bytes an item, loaded in {result[load]:.1f} s"
             for name, size, load in sides if size in result]
    if lines:
        yield ""
        yield from lines


def _verdict(result):
    yield ""
    for disturbance in disturbances(result):
        yield f"  DISTURBED: {disturbance}"
    for skipped in result["skipped"]:
        yield f"  SKIPPED {forms.PEERS[skipped['peer']]}: {skipped['why']}"
    if result["not_judged"]:
        yield f"  NOT JUDGED, for want of their peer: {', '.join(result['not_judged'])}"
    for miss in result["missed"]:
        of = f"of its bar {miss['bar']:g}" if miss["ratio"] not in forms.REACHED else (
            f"of what was reached before, its bar being {miss['bar']:g}")
        yield f"  {miss['ratio']} is {miss['value']:.2f}, below {miss['floor']:.3g}: {result['floor']:g} {of}"
    judged = len([name for name in result["bars"] if name in result["ratios"]])
    if judged:
        reached = len([name for name, bar in result["bars"].items() if result["ratios"].get(name, 0) >= bar])
        yield (f"  {reached} of {judged} ratios have reached their bars, "
               f"{judged - len(result['missed'])} are above their floors")


def lines(result):
    """The lines of the table."""
    for part in (_machine, _embedded, _wire, _open_loop, _memory, _verdict):
        yield from part(result)
