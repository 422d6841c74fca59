"""How the cost of an operation grows: with the number of lists, and with their length."""

from compare_lib import forms, machine, measure
from compare_lib.programs import Failure, run_json, say

LISTS = (10_000, 100_000, 1_000_000, 5_000_000)  # of 20 items each
ITEMS = (1, 10, 100, 1_000, 10_000, 100_000)
# Lists of each length hold so many items together: more than caches do.
ITEMS_TOGETHER = 2_000_000
# A tiny run shows that it works.
TINY_LISTS = (100, 1_000)
TINY_ITEMS = (1, 100)
TINY_ITEMS_TOGETHER = 2_000


def points(form):
    """(axis, lists, items) of each point, in the order in which they are measured."""
    tiny = form.name == forms.TINY.name
    together = TINY_ITEMS_TOGETHER if tiny else ITEMS_TOGETHER
    yield from (("lists", lists, form.items) for lists in (TINY_LISTS if tiny else LISTS))
    yield from (("items", together // items, items) for items in (TINY_ITEMS if tiny else ITEMS))


def measure_growth(bench):
    """Returns what the programs said, each with its `axis`, and what did not fit: [{point, why}]."""
    form = bench.form
    results, left_out = [], []
    peers = [peer for peer in forms.BUILT_IN_PEERS if peer in form.peers]
    for axis, lists, items in points(form):
        alone = True  # ours is measured without a peer where none fits
        for peer in [*peers, None]:
            if peer is None and not alone:
                continue
            sides = ("liststore", peer) if peer else ("liststore",)
            name = f"{lists:,} lists of {items:,} items, {' beside '.join(forms.PEERS.get(s, s) for s in sides)}"
            try:
                measure.check_memory(sides, lists, items, form.value_bytes, machine.available_bytes())
            except Failure as failure:
                say(f"growth: leaving out {name}: {failure}")
                left_out.append({"point": name, "why": str(failure)})
                continue
            say(f"growth: {name}")
            alone = False
            raw = run_json(bench.embedded_command(peer, lists, items, 1, min(form.seconds, 0.3)))
            results.append({"axis": axis, **raw})
    return results, left_out


def curves(growth, axis, value):
    """{side: [(x, y)]} of the points on `axis`. `value(raw, side)` is the y; ours is the median of its
    measurements beside several peers."""
    key = "lists" if axis == "lists" else "items_per_list"
    series = {}
    for raw in growth:
        if raw["axis"] != axis:
            continue
        for side in ("liststore", raw["peer"]):
            if side:
                series.setdefault(side, {}).setdefault(raw[key], []).append(value(raw, side))
    return {side: [(x, sorted(ys)[len(ys) // 2]) for x, ys in places.items()]
            for side, places in series.items()}


def cost_nanos(kind):
    """The time of one operation, by how many there are in a second."""
    return lambda raw, side: 1e9 / raw[kind if side == "liststore" else f"{side}_{kind}"]


def bytes_per_item(raw, side):
    """Resident bytes; small stores are below what the measurement can see."""
    return raw["bytes_per_item" if side == "liststore" else f"bytes_per_item_{side}"]


def load_nanos_per_item(raw, side):
    """Time to load, over the items."""
    seconds = raw["load_seconds" if side == "liststore" else f"load_seconds_{side}"]
    return 1e9 * seconds / raw["items"]
