"""What is measured, in which order. At most two of ours and the peers are in memory at a time."""

import functools
import json
import subprocess

from compare_lib import bench_lines, forms, machine
from compare_lib.bare_cql_server import BareCqlServer
from compare_lib.cassandra_server import CassandraServer, Missing
from compare_lib.programs import Failure, run_json, say, which
from compare_lib.redis_server import RedisServer

# Of available memory; the rest is for the programs themselves, and for what else the machine does.
MEMORY_SHARE = 0.9


def needed_bytes(sides, lists, items, value_bytes):
    """What these need at the same time, roughly."""
    per_item = sum(forms.BYTES_PER_ITEM[side] + value_bytes - 24 for side in sides)
    return lists * items * per_item


def check_memory(sides, lists, items, value_bytes, available):
    """Raises when they do not fit."""
    needed = needed_bytes(sides, lists, items, value_bytes)
    if available and needed > MEMORY_SHARE * available:
        raise Failure(
            f"{lists:,} lists of {items} items take {needed / 2**30:.1f} GiB in {' and '.join(sides)}, "
            f"{available / 2**30:.1f} GiB are available: take fewer with --lists")


def check_sizes(wire):
    """Raises where the limits answer with other sizes than ours: they would be limits of something else."""
    for side in forms.LIMITS:
        for ours, theirs in zip(wire.get("liststore", []), wire.get(side, [])):
            for line in ("select10_64", "select10_16", "select10_1x64"):
                of_ours, of_theirs = ours[f"{line}_reply_bytes"], theirs[f"{line}_reply_bytes"]
                if of_ours != of_theirs:
                    raise Failure(f"{forms.PEERS[side]} answers a SELECT with {of_theirs} bytes, ours with {of_ours}")


class Bench:
    """Runs the programs; what a peer lacks is kept in `skipped`."""

    def __init__(self, form, folder, redis_server):
        self.form = form
        self.folder = folder
        self.redis_server = redis_server or which("redis-server")
        self.skipped = []

    def _skip(self, peer, why):
        say(f"skipping {forms.PEERS[peer]}: {why}")
        self.skipped.append({"peer": peer, "why": why})

    def _with_libraries(self):
        """Names of the peers that compare_embedded was built with."""
        run = subprocess.run([self.folder / "compare_embedded", "--list-peers"], capture_output=True,
                             text=True, check=False)
        return run.stdout.split() if run.returncode == 0 else []

    def embedded_command(self, peer, lists, items, rounds, seconds):
        """`peer` None: ours alone."""
        program = [self.folder / "liststore", "bench", "embedded"]
        if peer and peer not in forms.BUILT_IN_PEERS:
            program = [self.folder / "compare_embedded"]
        return [*program, "--json", "--lines-only", "--threads", 1, *(("--peer", peer) if peer else ("--no-peer",)),
                "--lists", lists, "--items", items, "--value-bytes", self.form.value_bytes,
                "--rounds", rounds, "--seconds", seconds]

    def embedded(self):
        """Ours and one peer after the other in one process each: {peer: what the program said}."""
        form = self.form
        results = {}
        built = set(forms.BUILT_IN_PEERS) | set(self._with_libraries())
        for peer in (peer for peer in forms.EMBEDDED_PEERS if peer in form.peers):
            if peer not in built:
                self._skip(peer, "its library was not there when this was built")
                continue
            lists = min(form.lists, forms.LISTS_MAX.get(peer, form.lists))
            check_memory(("liststore", peer), lists, form.items, form.value_bytes,
                         machine.available_bytes())
            say(f"liststore beside {forms.PEERS[peer]}, {lists:,} lists, in one process")
            results[peer] = run_json(self.embedded_command(
                peer, lists, form.items, form.rounds, form.seconds))
        return results

    def _data(self, side):
        lists = min(self.form.lists, forms.LISTS_MAX.get(side, self.form.lists))
        return ["--lists", lists, "--items", self.form.items, "--value-bytes", self.form.value_bytes]

    def _sizes(self, side):
        return [*self._data(side), "--rounds", 1, "--seconds", self.form.wire_seconds]

    def _bench_wire(self, side, seed, *more):
        return run_json([self.folder / "liststore", "bench", "wire", "--json", *self._sizes(side),
                         "--seed", seed, *more])

    def _limit_round(self, side, seed):
        arguments, asked_with = (["--echo"], ["--unchecked"]) if side == "echo" else ([], [])
        with BareCqlServer(self.folder / "compare_bare_cql", *self._data(side), *arguments) as server:
            return self._bench_wire(side, seed, "--via", server.address, "--server-pid", server.pid, *asked_with)

    def _redis_round(self, seed):
        with RedisServer(self.redis_server) as server:
            return run_json([self.folder / "compare_redis", "--port", server.port, "--server-pid",
                             server.pid, *self._sizes("redis"), "--seed", seed])

    def _cassandra_round(self, seed):
        with CassandraServer() as server:
            return self._bench_wire("cassandra", seed, "--via", server.address, "--no-index")

    def _servers(self):
        """Of each server that is asked over the wire, ours first: what measures a round of it."""
        rounds = {"liststore": lambda seed: self._bench_wire("liststore", seed)}
        for limit in forms.LIMITS:
            if limit in self.form.peers:
                rounds[limit] = functools.partial(self._limit_round, limit)
        if "redis" in self.form.peers:
            if self.redis_server:
                rounds["redis"] = self._redis_round
            else:
                self._skip("redis", "redis-server is not installed (tools/packages.txt, [bench])")
        if "cassandra" in self.form.peers:
            rounds["cassandra"] = self._cassandra_round
        return rounds

    def wire(self):
        """A server of ours for a round, then one of each peer: {side: [what the program said]}."""
        form = self.form
        servers = self._servers()
        results = {side: [] for side in servers}
        for side in servers:
            check_memory((side,), form.lists, form.items, form.value_bytes, machine.available_bytes())
        for number in range(1, form.rounds + 1):
            for side in list(results):
                say(f"over the wire, round {number} of {form.rounds}: {forms.PEERS.get(side, side)}")
                try:
                    results[side].append(servers[side](number))
                except Missing as missing:
                    self._skip(side, str(missing))
                    del results[side]
        check_sizes(results)
        return results


def load(path):
    """A result that an earlier run has written, or lines of `liststore bench --json` as one."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if bench_lines.are_lines(text):
            return bench_lines.from_lines(path, text)
        result = json.loads(text)
    except (OSError, ValueError) as error:
        raise Failure(f"{path}: {error}") from error
    if not isinstance(result, dict) or "ratios" not in result:
        raise Failure(f"{path}: holds no result of bench/compare")
    # Of before floors were told apart from bars.
    result.setdefault("floors", {name: result["floor"] * bar for name, bar in result.get("bars", {}).items()})
    return result
