"""A result as one HTML file that needs nothing else: no script, no network; one column, light or dark."""

import html
import math

from compare_lib import forms, growth, svg, table

STYLE = """
:root { --text: #1c2024; --dim: #5b6470; --page: #ffffff; --grid: #d8dde3; --good: #1a7f37; --bad: #b42318;
  --liststore: #1f6feb; --plain: #9a6700; --bare: #57606a; --redis: #cf222e; --rocksdb: #8250df;
  --lmdb: #1b7c83; --sqlite: #bc4c00; --cassandra: #bf3989; --echo: #8c959f; --bare_cql: #4d2d00; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --dim: #9aa4af; --page: #0d1117;
  --grid: #30363d; --good: #3fb950; --bad: #ff7b72; --liststore: #58a6ff; --plain: #d29922; --bare: #8b949e;
  --redis: #ff7b72; --rocksdb: #bc8cff; --lmdb: #39c5cf; --sqlite: #f0883e; --cassandra: #f778ba; --echo: #6e7681;
  --bare_cql: #e3b341; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 44rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .25rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p, li { color: var(--dim); margin: .25rem 0; } ul { padding-left: 1.2rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th, td { padding: .25rem .5rem; text-align: right; border-bottom: 1px solid var(--grid); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.facts { white-space: normal; text-align: left; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
svg { display: block; width: 100%; height: auto; margin: .5rem 0; font-family: system-ui, sans-serif; }
svg text { fill: var(--text); } svg .strong { font-weight: 600; }
.grid { stroke: var(--grid); stroke-width: 1; } .curve { fill: none; stroke-width: 2; }
""" + "".join(f".side-{side} {{ fill: var(--{side}); }} .curve.side-{side} {{ fill: none; stroke: var(--{side}); }}\n"
              for side in ("liststore", *forms.PEERS))

NAMES = [("liststore", "liststore"), *forms.PEERS.items()]
# Kinds whose latencies and growth are drawn.
DRAWN = ("get10", "multiget16", "add1", "remove")
# Places on an axis where each further nine takes as much room as the one before.
PERCENTILE_TICKS = ((50, "50 %"), (90, "90"), (99, "99"), (99.9, "99.9"), (99.99, "99.99"))


def _nines(percent):
    return -math.log10(1 - percent / 100)


def _escape(content):
    return html.escape(str(content))


def _table(head, rows):
    cells = "".join(f"<th>{_escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(
        f'<td class="{cell[1]}">{_escape(cell[0])}</td>' if isinstance(cell, tuple) else f"<td>{_escape(cell)}</td>"
        for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def _section(title, *parts, level=2):
    content = "".join(part for part in parts if part)
    return f"<h{level}>{_escape(title)}</h{level}>{content}" if content else ""


def _note(content):
    return f"<p>{_escape(content)}</p>"


def _machine(result):
    machine = result["machine"]
    rows = [("commit", result["commit"]), ("measured", f"{result['started']} UTC, {result['form']} form, "
                                                       f"{result['elapsed_seconds']:.0f} s"),
            ("processor", f"{machine['cpu']}, {machine['cores']} cores{', virtual' if machine['virtual'] else ''}"),
            ("memory", f"{machine['memory_bytes'] / 2**30:.1f} GiB, huge pages: {machine['huge_pages']}"),
            ("system", f"{machine['kernel']}, governor: {machine['governor']}"),
            ("compiler", machine["compiler"])]
    if "load_before" in machine:
        rows.append(("load before", f"{machine['load_before']:.2f}"))
    if "stolen_share" in machine:
        rows.append(("stolen by the host", f"{machine['stolen_share']:.1%}"))
    if "core_share" in machine:
        rows.append(("the timed thread had", f"{machine['core_share']:.0%} of its core"))
    if result["lists"]:
        rows.append(("data", f"{result['lists']:,} lists of {result['items_per_list']} items, values of "
                             f"{result['value_bytes']} bytes; {result['rounds']} rounds in turn"))
    body = "".join(f'<tr><td>{_escape(name)}</td><td class="facts">{_escape(value)}</td></tr>'
                   for name, value in rows)
    return f'<div class="scroll"><table><tbody>{body}</tbody></table></div>'


def _skipped(result):
    entries = [f"disturbed: {disturbance}" for disturbance in table.disturbances(result)]
    entries += [f"{forms.PEERS[entry['peer']]} was skipped: {entry['why']}" for entry in result["skipped"]]
    entries += [f"not judged, for want of its peer: {name}" for name in result["not_judged"]]
    return "<ul>" + "".join(f"<li>{_escape(entry)}</li>" for entry in entries) + "</ul>" if entries else ""


def _ratios(result):
    rows = []
    for name, value in result["ratios"].items():
        rounds = result["ratio_rounds"][name]
        bar = result["bars"].get(name)
        verdict = ("", "") if bar is None else ("reached", "good") if value >= bar else (
            "below", "") if value >= result["floors"][name] else (f"below {result['floors'][name]:.3g}", "bad")
        rows.append((name.replace("_", " "), f"{value:.2f}", f"{min(rounds):.2f} - {max(rounds):.2f}",
                     "" if bar is None else f"{bar:g}", verdict))
    if not rows:
        return ""
    return _note("Throughput of ours over the peer's: median of the rounds, lowest and highest round, the bar that "
                 "is aimed at.") + _table(("", "ratio", "rounds", "bar", ""), rows)


def _throughput(result):
    ours = {}
    groups = []
    for kind in forms.KINDS:
        values = {peer: raw[f"{peer}_{kind}"] for peer, raw in result["embedded"].items()}
        measured = [raw[kind] for raw in result["embedded"].values()]
        if measured:
            ours[kind] = table.median(measured)
            groups.append((forms.KIND_NAMES[kind], {"liststore": ours[kind], **values}))
    if not groups:
        return ""
    lists = "; ".join(f"{forms.PEERS[peer]}: {table.lists_of(raw)}" for peer, raw in result["embedded"].items())
    return _note(f"Operations a second of one thread; a multi-get of 16 counts as 16. Scale logarithmic. {lists}.") + svg.bars("Operations a second", groups, NAMES, logarithmic=True)


def _wire(result):
    groups = [(name, {side: table.median([raw[line] for raw in rounds])
                      for side, rounds in result["wire"].items() if rounds and line in table.wire_lines(rounds)})
              for line, name in forms.WIRE_NAMES.items()]
    chart = svg.bars("Requests a second over the wire", groups, NAMES) if result["wire"] else ""
    return chart and _note("Requests a second: 8 connections, so many under way on each, or 64 with one; the server on "
                           "one core, the client on the other. Redis: ZREVRANGE and ZADD. Cassandra: our statements. "
                           "Echo answers the same frames with canned ones; bare CQL looks lists up and encodes them, "
                           "and does nothing else.") + chart


def _curve(raw, key):
    values = raw.get(f"{key}_latency_ns", [])
    return [(_nines(percent), value) for percent, value in zip(forms.PERCENTILES, values)
            if 50 <= percent <= 99.99]


def _latency_chart(title, series):
    ticks = [(_nines(percent), label) for percent, label in PERCENTILE_TICKS]
    first = ticks[0][0]
    shifted = {side: [(x - first, y) for x, y in curve] for side, curve in series.items()}
    return svg.lines(title, shifted, NAMES, x_ticks=[(x - first, label) for x, label in ticks],
                     x_name="percentile of calls")


def _latencies(result):
    parts = []
    for kind in DRAWN:
        series = {}
        for peer, raw in result["embedded"].items():
            series.setdefault("liststore", _curve(raw, kind))
            series[peer] = _curve(raw, f"{peer}_{kind}")
        parts.append(_section(forms.KIND_NAMES[kind], _latency_chart(forms.KIND_NAMES[kind], series), level=3))
    rates = ", ".join(f"{forms.PEERS.get(side, side)} {svg.count(figures['open_loop_per_s'])}"
                      for side, figures in result["open_loop"].items())
    waits = table.machine_waits(result, "p99")
    of_machine = "" if waits is None else (
        f" Answered in no time, they would have waited {svg.nanos(waits)} at the 99th percentile: while other users of "
        "the machine had one of the two cores.")
    quiet = [f"{forms.PEERS.get(side, side)} {svg.nanos(figures['open_loop_quiet_p99_ns'])} "
             f"({figures['open_loop_quiet_share']:.0%} of the requests)"
             for side, figures in result["open_loop"].items() if "open_loop_quiet_share" in figures]
    if quiet:
        of_machine += f" While nobody else had one, the 99th percentile was {', '.join(quiet)}."
    for kind in ("select", "insert"):
        series = {side: _curve(_middle_round(rounds, f"open_loop_{kind}_p99_ns"), f"open_loop_{kind}")
                  for side, rounds in result["wire"].items() if rounds}
        title = f"over the wire: {kind.upper()}"
        chart = _latency_chart(title, series)
        note = chart and _note("Requests are sent at a rate, 95 SELECTs to 5 INSERTs, and their time counts from the "
                               f"instant at which they were due. Requests a second: {rates}.{of_machine}")
        parts.append(_section(title, note, chart, level=3))
    content = "".join(parts)
    return content and _note("Both scales are logarithmic: each step to the right is a tenth of the calls that were "
                             "left.") + content


def _middle_round(rounds, key):
    """The round whose figure is the median one."""
    return sorted(rounds, key=lambda raw: raw[key])[len(rounds) // 2]


def _memory(result):
    sides = [("liststore", "bytes_per_item")] + [(peer, f"bytes_per_item_{peer}") for peer in forms.PEERS]
    values = {side: result[key] for side, key in sides if result.get(key, 0) > 0}
    chart = svg.bars("Bytes an item", [("bytes an item", values)], NAMES) if values else ""
    rows = [(dict(NAMES)[side], f"{result[key]:.1f}",
             f"{result['load_seconds' if side == 'liststore' else f'load_seconds_{side}']:.1f} s")
            for side, key in sides if key in result]
    return chart and chart + _table(("", "bytes an item", "loaded in"), rows)


def _growth(result):
    parts = []
    for axis, name in (("lists", "lists in the store, of 20 items each"), ("items", "items in each list")):
        for kind in ("get10", "multiget16", "add1", "add10", "remove"):
            series = growth.curves(result["growth"], axis, growth.cost_nanos(kind))
            parts.append(_section(f"{forms.KIND_NAMES[kind]}, by {axis}",
                                  svg.lines(kind, series, NAMES, x_name=name), level=3))
        for title, value, form in (("bytes an item", growth.bytes_per_item, svg.count),
                                   ("time to load an item", growth.load_nanos_per_item, svg.nanos)):
            series = growth.curves(result["growth"], axis, value)
            parts.append(_section(f"{title}, by {axis}",
                                  svg.lines(title, series, NAMES, x_name=name, y_form=form), level=3))
    content = "".join(parts)
    left_out = "".join(f"<li>{_escape(entry['point'])}: {_escape(entry['why'])}</li>"
                       for entry in result.get("growth_left_out", []))
    return content and _note("The mean time of an operation, from how many there are in a second. A flat line costs "
                             "the same however much there is.") + content + (left_out and f"<ul>{left_out}</ul>")


def page(result):
    """The whole file."""
    version = result["machine"]["version"]
    sections = (
        _section("Ratios", _ratios(result), _skipped(result)),
        _section("Throughput in the process", _throughput(result)),
        _section("Throughput over the wire", _wire(result)),
        _section("Latency", _latencies(result)),
        _section("Memory", _memory(result)),
        _section("Growth", _growth(result)),
    )
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
            f"<title>liststore {_escape(version)} beside its peers</title><style>{STYLE}</style></head><body>"
            f"<h1>liststore {_escape(version)} beside its peers</h1>" + _machine(result) + "".join(sections)
            + _note("Made by bench/compare; docs/benchmarks.md says what each line means, what is compared fairly, "
                    "and what is not.") + "</body></html>\n")
