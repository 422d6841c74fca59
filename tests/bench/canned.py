"""Results of programs as they print them, made up: for tests of what is done with them."""

from compare_lib import forms

CURVE = [100 + 10 * at for at in range(len(forms.PERCENTILES))]


def latency(key):
    return {f"{key}_p50_ns": CURVE[4], f"{key}_p99_ns": CURVE[8], f"{key}_p999_ns": CURVE[10],
            f"{key}_latency_ns": CURVE}


def embedded(peer, ratio, lists=200_000, items=20):
    """Three rounds in which ours was `ratio`, half of it and twice of it as fast as the peer."""
    raw = {"version": "0.1.0", "compiler": "g++ 12", "lists": lists, "items_per_list": items, "core_share": 0.97,
           "bytes_per_item": 75.0, "load_seconds": 2.0, f"bytes_per_item_{peer}": 450.0,
           f"load_seconds_{peer}": 9.0}
    for kind in forms.KINDS:
        raw |= {kind: int(1e6 * ratio), f"{peer}_{kind}": 1_000_000,
                f"{kind}_rounds": [5e5 * ratio, 1e6 * ratio, 2e6 * ratio],
                f"{peer}_{kind}_rounds": [1e6, 1e6, 1e6],
                f"{kind}_vs_{peer}": ratio, f"{kind}_vs_{peer}_rounds": [ratio / 2, ratio, ratio * 2]}
        raw |= latency(kind) | latency(f"{peer}_{kind}")
    return raw


def wire(rate):
    """A round of a server that answers `rate` requests a second of every kind."""
    raw = {"version": "0.1.0", "compiler": "g++ 12", "lists": 200_000, "items_per_list": 20,
           "load_seconds": 4.0, "used_memory_bytes": 186_000_000, "server_resident_bytes": 300_000_000}
    raw |= {"open_loop_per_s": rate / 2, "open_loop_achieved_per_s": rate / 2}
    for kind in ("open_loop", "open_loop_select", "open_loop_insert", "open_loop_machine", "open_loop_quiet"):
        raw |= latency(kind)
    raw |= {"open_loop_quiet_share": 0.75}
    for line in forms.WIRE_NAMES:
        raw |= {line: rate, f"{line}_per_core_second": int(rate * 1.1), f"{line}_reply_bytes": 776} | latency(line)
    return raw


# Of a machine whose name needs escaping.
FACTS = {"cpu": "A <processor> & more", "cores": 2, "memory_bytes": 2**34, "kernel": "Linux 6", "virtual": True,
         "governor": "unknown", "huge_pages": "madvise", "load_before": 0.25}
