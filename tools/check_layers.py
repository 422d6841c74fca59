#!/usr/bin/env python3
"""Fails when an #include breaks the layering of the tree.

    tools/check_layers.py [ROOT]

The rules are the tables below. A layer is a folder of engine/; a file may include its own layer, the
layers in its row, the public headers, the standard library and Abseil. So may a file in a folder of
programs/, bench/ and tools/, whose rows name folders and layers. A folder within a layer stands below the
rest of it. What a file of engine/ defines is in the namespace of its layer. Prints one line for each
violation, `file:line: what`, and ends with status 1 when there was any.
"""

import itertools
import pathlib
import re
import sys

# Layer -> layers below it that it may include.
LAYERS = {
    "base": [],
    "model": ["base"],
    # Where bytes come from: arenas, pages, the limit. Nothing of what is kept in them.
    "memory": ["base"],
    "command": ["model", "base"],
    # Rows and mutations live in model/, so that storage need not know the commands above it.
    "storage": ["memory", "model", "base"],
    "runtime": ["base"],
    # Files, and nothing of what is in them.
    "disk": ["base"],
    # Records in order, on the disk and back. Knows no store.
    "commitlog": ["disk", "command", "model", "base"],
    "shard": ["commitlog", "storage", "memory", "command", "runtime", "model", "base"],
    # Bytes of a saved store <-> stored rows. Knows no store.
    "snapshot": ["disk", "model", "base"],
    # What is kept over the end of a process: a directory, its logs, snapshots, and how they come back.
    "durable": ["snapshot", "commitlog", "disk", "shard", "command", "model", "base"],
    "lists": ["durable", "commitlog", "snapshot", "disk", "shard", "command", "model", "base"],
    # The C face: the public headers, and nothing behind them.
    "c_api": ["base"],
    # Bytes of the wire <-> values. Knows neither statements nor shards.
    "protocol": ["model", "base"],
    # ScyllaDB's settings: a table, values, and what of them statements depend on.
    "settings": ["base"],
    # Who may log in, and who may do what. Knows neither statements nor connections.
    "roles": ["model", "base"],
    # The language. Text -> statements; values <-> texts; plans -> keys and ranges; statements -> plans;
    # statements -> schemas -> texts, and the tables that show them.
    "cql/syntax": ["roles", "model", "base"],
    "cql/values": ["cql/syntax", "model", "base"],
    "cql/plan": ["cql/values", "cql/syntax", "command", "model", "base"],
    "cql/planner": ["cql/plan", "cql/values", "cql/syntax", "settings", "command", "model", "base"],
    "cql/schema": ["cql/planner", "cql/plan", "cql/values", "cql/syntax", "roles", "settings", "shard",
                   "model", "base"],
    # Plans and values -> commands -> rows.
    "execute": ["protocol", "cql/schema", "cql/planner", "cql/plan", "cql/values", "cql/syntax", "roles",
                "settings", "shard", "command", "model", "base"],
    # The clock, faults, the journal, lint: the tables in which they are seen, and their place in a
    # request's way.
    "instruments": ["execute", "protocol", "cql/schema", "cql/planner", "cql/plan", "cql/values",
                    "cql/syntax", "settings", "shard", "command", "model", "base"],
    # What a server keeps beside rows: its schema, roles and clock.
    "keeping": ["execute", "roles", "cql/syntax", "durable", "disk", "shard", "model", "base"],
    # DynamoDB's values, their JSON and bytes, and its expressions. Knows no table and no request.
    "dynamodb": ["model", "base"],
    # Sockets: bytes in, bytes out, TLS between the two, and what clients may cost. Knows no protocol.
    "network": ["memory", "runtime", "base"],
    # A session for each client: requests out of bytes, answers into bytes.
    "faces/cql": ["network", "execute", "protocol", "cql/schema", "cql/syntax", "roles", "runtime", "model",
                  "base"],
    # The same over HTTP. What it asks of the store are statements.
    "faces/http": ["network", "execute", "protocol", "cql/values", "cql/syntax", "roles", "runtime", "model",
                   "base"],
    # DynamoDB's API over the same HTTP: a site of it. Its operations are statements, and rows that they change.
    "faces/dynamodb": ["faces/http", "execute", "protocol", "cql/syntax", "dynamodb", "model", "base"],
    # Options -> a running server. Of lists, the engine of a ListStore that is served, no more.
    "serve": ["keeping", "durable", "commitlog", "disk", "faces/dynamodb", "faces/http", "faces/cql", "network", "instruments", "execute",
              "protocol", "cql/schema", "cql/syntax", "roles", "settings", "lists", "shard", "runtime", "model",
              "base"],
}

# Layer -> its namespace within liststore where that is not the layer's name. None: liststore itself, for the
# vocabulary of all, and for what implements the public classes, whose members are defined where these are.
NAMESPACES = {
    "base": None, "model": None, "command": None, "lists": None, "c_api": None, "serve": None,
    "cql/syntax": "cql", "cql/values": "cql", "cql/plan": "cql", "cql/planner": "cql",
    "cql/schema": "cql",
    "faces/cql": "cql_face", "faces/http": "http_face", "faces/dynamodb": "dynamodb_face",
}
# Sources of other layers that define members of public classes.
OF_PUBLIC_CLASSES = ("engine/instruments/server_clock.cc",)

# Folders of engine/ that hold layers instead of files.
GROUPS_OF_LAYERS = ("cql", "faces")

# Folder outside of engine/ -> the folders named before it, and the layers of engine/, that it may
# include. What measures stands below the program, and what both need below them.
PARTS = {
    "programs/console": ["base"],
    "programs/client": ["programs/console", "protocol", "base"],
    "programs/oplog": ["programs/console", "base"],
    # What every measurement needs; sending requests at a server; what is sent over CQL.
    "bench/measure": ["programs/console", "base"],
    "bench/load": ["bench/measure", "programs/console", "base"],
    "bench/wire": ["bench/load", "bench/measure", "programs/client", "programs/console", "base"],
    "bench/embedded": ["bench/load", "bench/measure", "programs/console", "base"],
    "bench/peers": ["bench/embedded", "bench/wire", "bench/load", "bench/measure", "programs/client", "protocol",
                    "model", "base"],
    "bench/overload": ["bench/peers", "bench/wire", "bench/load", "bench/measure", "programs/client",
                       "programs/console", "base"],
    "bench/target": ["bench/wire", "bench/embedded", "bench/load", "bench/measure", "programs/console",
                     "base"],
    "bench/cache": ["bench/peers", "bench/embedded", "bench/measure", "programs/oplog", "programs/console",
                    "base"],
    "bench/scale": ["bench/load", "bench/measure", "programs/console", "base"],
    "bench/shapes": ["bench/peers", "bench/wire", "bench/load", "bench/measure", "programs/client",
                     "programs/console", "lists", "model", "base"],
    # Of single layers, from within.
    "bench/steps": ["bench/peers", "bench/measure", "programs/console", "lists", "shard", "storage", "memory", "runtime", "model",
                    "base"],
    "bench/micro": ["dynamodb", "cql/syntax", "protocol", "shard", "commitlog", "storage", "memory", "runtime", "model",
                    "base"],
    # Programs of their own.
    "bench": ["bench/shapes", "bench/scale", "bench/peers", "bench/wire", "bench/embedded", "bench/load",
              "bench/measure", "programs/console", "base"],
    # Loaded into Python: the public headers, and nothing behind them.
    "tools/python_cache/extension": [],
    "tools/copy": ["programs/client", "programs/console", "protocol", "cql/syntax", "disk", "model", "base"],
    "tools/query": ["tools/copy", "programs/client", "programs/console", "protocol", "cql/values", "cql/syntax",
                    "model", "base"],
    "tools/console": ["tools/query", "programs/client", "programs/console", "protocol", "cql/syntax", "base"],
    "tools/instruments": ["tools/query", "programs/client", "programs/console", "cql/values", "cql/syntax",
                          "base"],
    "tools/replay": ["programs/client", "programs/oplog", "programs/console", "base"],
    "tools/report": ["programs/client", "programs/console", "base"],
    "tools/selftest": ["bench/wire", "bench/measure", "programs/client", "programs/console", "base"],
    "tools/serve": ["programs/console", "settings", "base"],
    "tools/top": ["programs/client", "programs/console", "protocol", "base"],
    # For tests of other programs: what it asks of a server goes over HTTP.
    "tools/fixtures/cpp": ["base"],
    # The subcommands, as they are typed.
    "tools/liststore": ["tools/console", "tools/copy", "tools/instruments", "tools/query", "tools/replay", "tools/report", "tools/selftest", "tools/serve", "tools/top", "bench/cache",
                        "bench/embedded", "bench/overload", "bench/peers", "bench/target", "bench/wire",
                        "programs/client", "programs/console", "settings"],
}

# Folders outside of engine/. The tests may include any of it, and of these.
ABOVE_THE_ENGINE = ("programs", "bench", "tools", "tests")

# (Layer, layer below it) -> the only headers of the latter that the row above means.
ONLY_THESE_HEADERS = {
    # Of shard/ the language sees the names of tables and nothing that runs.
    ("cql/schema", "shard"): ["engine/shard/catalog.h"],
    # Of the settings the language sees the values, not who changes them.
    ("cql/planner", "settings"): ["engine/settings/statement_settings.h"],
    ("cql/schema", "settings"): ["engine/settings/statement_settings.h"],
    # Of the roles the language sees the values, not where they are kept.
    ("cql/syntax", "roles"): ["engine/roles/permission.h", "engine/roles/resource.h"],
    ("cql/schema", "roles"): ["engine/roles/permission.h", "engine/roles/resource.h",
                              "engine/roles/role_state.h"],
    # Of memory/ the network sees what is granted, not where it comes from.
    ("network", "memory"): ["engine/memory/memory_budget.h"],
}

# Single headers that a layer must not see although its row would allow them.
FORBIDDEN_IN_LAYER = {
    "model": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "command": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "storage": ["liststore/clock.h", "liststore/server_clock.h"],
    "protocol": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "cql/syntax": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "cql/values": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "cql/plan": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "cql/planner": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "cql/schema": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
    "dynamodb": ["liststore/clock.h", "liststore/server_clock.h", "engine/base/mutex.h"],
}

# The pure layers: no threads, no sockets, no streams, no clock of their own.
PURE_LAYERS = ("model", "command", "storage", "protocol", "settings", "cql/syntax", "cql/values",
               "cql/plan", "cql/planner", "cql/schema", "dynamodb")
FORBIDDEN_IN_PURE_LAYERS = {
    "thread", "future", "condition_variable", "shared_mutex", "semaphore", "barrier", "latch",
    "stop_token", "fstream", "iostream", "filesystem", "pthread.h", "fcntl.h", "netdb.h", "poll.h",
    "sys/socket.h", "sys/epoll.h", "netinet/in.h", "arpa/inet.h", "time.h", "sys/time.h",
}
# Time is an argument there: these read it.
CLOCK_READS = re.compile(
    r"\b(NowNanos|clock_gettime|gettimeofday|system_clock|steady_clock|high_resolution_clock)\b")

# What a public header may include beside the public headers and the C++ standard library.
PUBLIC_LIBRARIES = ("absl/status/", "absl/time/", "absl/types/")
# The only one that may include GoogleTest: whoever includes it has that.
FIXTURE_HEADER = "include/liststore/testing/gtest.h"

# Library -> the only places of engine/ that may include it. Whatever is not named here, and is neither
# the standard library, the C library nor Abseil, is not for the engine at all.
LIBRARIES = {
    "xxhash.h": ["engine/base/hash.cc"],
    "sanitizer/": ["engine/memory/memory_poison.h"],
    "boost/asio": ["engine/runtime/event_loop.cc", "engine/network/connection.cc",
                   "engine/network/listener.cc",
                   # A buffer, which Beast takes bytes in.
                   "engine/faces/http/request_parser.cc"],
    "boost/beast": ["engine/faces/http/request_parser.cc"],
    "boost/system": ["engine/runtime/event_loop.cc"],
    "openssl/": ["engine/network/tls.cc", "engine/faces/dynamodb/signature.cc"],
    "crypt.h": ["engine/roles/password_hash.cc"],
    "lz4.h": ["engine/protocol/compression.cc"],
    "snappy.h": ["engine/protocol/compression.cc"],
    "zstd.h": ["engine/snapshot/block_compression.cc"],
    "zstd_errors.h": ["engine/snapshot/block_compression.cc"],
}

# Nowhere in the engine: broken by a growth that the heap refuses. Those of the standard library are not.
NEVER_IN_THE_ENGINE = ("absl/container/flat_hash_", "absl/container/node_hash_")

# Three to nine seconds of compile time each: one .cc may pay for it, a header would make all pay.
NEVER_IN_A_HEADER = (
    "boost/asio", "boost/beast", "boost/json", "CLI/", "spdlog/", "nlohmann/", "rapidjson/",
    "simdjson", "openssl/",
)
# Only the few tests that read golden vectors include it.
MAY_BE_HEAVY = ("tests/support/vectors.h",)

# Library -> the only places outside of engine/ and tests/ that may include it: what is slow to compile is
# compiled once.
LIBRARIES_OF_PARTS = {
    "CLI/": ["programs/console/command_description.cc", "programs/console/command_line.cc",
             "programs/console/config_options.cc"],
    "toml++/": ["programs/console/config_file.cc"],
    "boost/json": ["programs/oplog/", "tools/copy/json_fields.cc"],
    "zlib.h": ["programs/oplog/line_reader.cc"],
    "openssl/": ["programs/client/client_tls.cc", "bench/wire/throwaway_certificate.cc",
                 "tools/liststore/static_program.cc", "tools/liststore/version_text.cc",
                 "tools/replay/md5_hex.cc"],
    "histedit.h": ["tools/console/line_editor.cc"],
    "yaml.h": ["tools/serve/scylla_yaml.cc"],
    "benchmark/": ["bench/micro/"],
    "Python.h": ["tools/python_cache/extension/python.h"],
}

# Headers of the C and C++ standard libraries and of the system.
SYSTEM_HEADER = re.compile(
    r"^([a-z_0-9]+|[a-z0-9_]+\.h|(sys|linux|netinet|arpa)/[a-z_0-9]+\.h)$")
NOT_SYSTEM = ("crypt.h", "histedit.h", "xxhash.h", "zlib.h", "lz4.h", "zstd.h", "zstd_errors.h", "snappy.h",
              "yaml.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Rooted like the project's own headers, by their own custom.
QUOTED_LIBRARIES = ("absl/", "gtest/", "benchmark/")
ROOTS = ("engine/", "liststore/", "tests/", "bench/", "tools/", "programs/")


def layer_of(path):
    """engine/<layer>/... -> layer, else None."""
    parts = path.split("/")[:-1]
    if len(parts) < 2 or parts[0] != "engine":
        return None
    return "/".join(parts[1:3] if parts[1] in GROUPS_OF_LAYERS else parts[1:2])


def part_of(path):
    """programs/<part>/..., bench/<part>/..., tools/<part>/... -> that folder, else None."""
    folder = path.rpartition("/")[0]
    return folder if folder.startswith(ABOVE_THE_ENGINE) and not folder.startswith("tests") else None


def is_project(header):
    return header.startswith(ROOTS)


def is_system(header):
    return header not in NOT_SYSTEM and bool(SYSTEM_HEADER.match(header))


def check_project_include(path, header):
    """What `path` must not include of the project itself."""
    if path.startswith("tests/"):
        return
    if part := part_of(path):
        target = layer_of(header) or part_of(header)
        if target not in (None, part, *PARTS[part]):
            yield f"{part} must not include {target} ({header})"
        elif header.startswith("tests/"):
            yield f"{part} must not include tests ({header})"
        return
    if path.startswith("include/"):
        if not header.startswith("liststore/"):
            yield f"a public header includes {header}"
        return
    if header.startswith(tuple(f"{folder}/" for folder in ABOVE_THE_ENGINE)):
        yield f"the engine includes {header}"
        return
    layer = layer_of(path)
    if header in FORBIDDEN_IN_LAYER.get(layer, ()):
        yield f"{layer} must not see {header}"
    target = layer_of(header)
    folder = path.rpartition("/")[0]
    if target == layer and not folder.startswith(header.rpartition("/")[0]):
        return
    if target == layer and folder != header.rpartition("/")[0]:
        yield f"{folder} stands below the rest of {layer} ({header})"
    if target is None or target == layer:
        return
    if target not in LAYERS:
        yield f"{header} belongs to no known layer"
    elif target not in LAYERS[layer]:
        yield f"{layer} must not include {target} ({header})"
    elif header not in ONLY_THESE_HEADERS.get((layer, target), [header]):
        yield f"{layer} must not see {header}"


def check_library_include(path, header):
    """What `path` must not include from outside of the project."""
    if path.endswith(".h") and path not in MAY_BE_HEAVY and header.startswith(NEVER_IN_A_HEADER):
        yield f"{header} is for a .cc alone, never for a header"
    if path.startswith("include/"):
        if path == FIXTURE_HEADER and header.startswith("gtest/"):
            return
        if not is_system(header) and not header.startswith(PUBLIC_LIBRARIES):
            yield f"a public header includes {header}"
        return
    if part_of(path):
        places = next((p for name, p in LIBRARIES_OF_PARTS.items() if header.startswith(name)), None)
        if places is not None and not path.startswith(tuple(places)):
            yield f"{header} is not for this file (allowed: {', '.join(places)})"
        return
    layer = layer_of(path)
    if layer is None:
        return
    if layer in PURE_LAYERS and header in FORBIDDEN_IN_PURE_LAYERS:
        yield f"{layer} must not see <{header}>"
    if header.startswith(NEVER_IN_THE_ENGINE):
        yield f"{header} is not for the engine: the heap may refuse a growth"
    if is_system(header) or header.startswith("absl/"):
        return
    places = next((p for name, p in LIBRARIES.items() if header.startswith(name)), [])
    if not path.startswith(tuple(places)):
        yield f"{header} is not for this file (allowed: {', '.join(places) or 'nowhere in engine/'})"


def own_header(path, present):
    """The header that a .cc must include first, or None."""
    if path.startswith("tests/") or not path.endswith(".cc"):
        return None
    stem = path[: -len(".cc")]
    if f"{stem}.h" in present:
        return f"{stem}.h"
    public = f"liststore/{pathlib.PurePosixPath(stem).name}.h"
    return public if f"include/{public}" in present else None


NAMESPACE = re.compile(r"^namespace (liststore[\w:]*) \{")
DECLARATION = re.compile(r"^((class|struct) \w+;|//|$)")


def namespace_of(layer):
    name = NAMESPACES.get(layer, layer)
    return "liststore" if name is None else f"liststore::{name}"


def check_namespaces(path, text):
    """Yields (line number, message) for what a file of a layer defines outside of the layer's namespace."""
    own = "liststore" if path in OF_PUBLIC_CLASSES else namespace_of(layer_of(path))
    others = {f"liststore::{name}" for name in (*LAYERS, *NAMESPACES.values())} - {own}
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        match = NAMESPACE.match(line)
        if not match:
            continue
        name = match.group(1)
        if name == own or (name.startswith(f"{own}::") and name not in others):
            continue
        # Classes of other layers may be declared there, and nothing else.
        body = itertools.takewhile(lambda later: not later.startswith("}"), lines[number:])
        if not all(DECLARATION.match(item) for item in body):
            yield number, f"{name} is not the namespace of this file ({own})"


def check_file(path, text, present):
    """Yields (line number, message) for one file."""
    layer = layer_of(path)
    if path.startswith("engine/") and layer not in LAYERS:
        yield 1, f"engine/{layer or ''} is no known layer"
        return
    if (part := part_of(path)) and part not in PARTS:
        yield 1, f"{part} is no known folder"
        return
    if layer is not None:
        yield from check_namespaces(path, text)
    expected_first = own_header(path, present)
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.split("//", 1)[0]
        if layer in PURE_LAYERS and (read := CLOCK_READS.search(code)):
            yield number, f"{layer} must not read the time ({read.group(1)})"
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, header = match.groups()
        if expected_first is not None and header != expected_first:
            yield number, f"the first include must be {expected_first}"
        expected_first = None
        if is_project(header):
            if quote == "<":
                yield number, f'write "{header}"'
            for message in check_project_include(path, header):
                yield number, message
        elif quote == '"' and not header.startswith(QUOTED_LIBRARIES):
            yield number, f"{header} is neither rooted in the project nor in angle brackets"
        else:
            for message in check_library_include(path, header):
                yield number, message


def check_tree(root):
    """All violations below `root`, as printable lines."""
    folders = ("engine", "include", *ABOVE_THE_ENGINE)
    files = sorted(
        path for folder in folders for path in (root / folder).rglob("*")
        if path.suffix in (".h", ".cc"))
    present = {path.relative_to(root).as_posix() for path in files}
    for file in files:
        path = file.relative_to(root).as_posix()
        for number, message in check_file(path, file.read_text(encoding="utf-8"), present):
            yield f"{path}:{number}: {message}"
    if not any(path.startswith("engine/") for path in present):
        yield f"{root}: no engine/ with sources here"


def check_table():
    """The tables themselves must have no cycle: each layer uses layers named before it."""
    known = []
    for layer, below in (*LAYERS.items(), *PARTS.items()):
        for used in below:
            assert used in known, f"{layer} uses {used}, which does not stand below it"
        known.append(layer)


def main():
    check_table()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    violations = list(check_tree(root))
    print("\n".join(violations) if violations else "layers: every include is allowed")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
