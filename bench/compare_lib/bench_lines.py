"""What `liststore bench embedded --json` and `bench wire --json` have printed, as a result of bench/compare."""

import dataclasses
import json

from compare_lib import forms, result
from compare_lib.programs import Failure


def _raws(text):
    """The objects of a text that is nothing but lines of JSON; none where it is something else."""
    raws = []
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            raws.append(json.loads(line))
        except ValueError:
            return []
    return raws if all(isinstance(raw, dict) for raw in raws) else []


def _is_embedded(raw):
    return "get10" in raw


def _is_wire(raw):
    return "select10_64" in raw


def are_lines(text):
    """Whether it is lines of these programs."""
    raws = _raws(text)
    return bool(raws) and all(_is_embedded(raw) or _is_wire(raw) for raw in raws)


def _peer_of(path, raw):
    peers = [peer for peer in forms.EMBEDDED_PEERS if f"get10_vs_{peer}" in raw]
    if not peers:
        raise Failure(f"{path}: bench embedded was run without a peer (--no-peer), and there is nothing to compare with")
    return peers[0]


def from_lines(path, text):
    """A result of one measurement of each; several of `bench wire` are rounds. Nothing is judged."""
    raws = _raws(text)
    embedded = {_peer_of(path, raw): raw for raw in raws if _is_embedded(raw)}
    wire = [raw for raw in raws if _is_wire(raw)]
    first = raws[0]
    form = dataclasses.replace(
        forms.FULL, name="liststore bench", lists=first["lists"], items=first["items_per_list"],
        value_bytes=first["value_bytes"], rounds=int(first["rounds"]), peers=tuple(embedded), growth=False, bars={},
        judged=False)
    facts = {"cpu": first["cpu"], "cores": first["cores"], "kernel": first["kernel"], "virtual": False,
             "governor": "unknown", "memory_bytes": first.get("memory_bytes", 0),
             "huge_pages": first.get("huge_pages", "unknown")}
    return result.put_together(
        form, facts=facts, shares={}, commit="unknown", started=first["date"],
        elapsed=sum(raw.get("elapsed_seconds", 0) for raw in raws), embedded=embedded,
        wire={"liststore": wire} if wire else {}, growth=[], growth_left_out=[], skipped=[])
