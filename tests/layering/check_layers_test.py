#!/usr/bin/env python3
"""check_layers.py finds what is planted, and nothing else."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_layers  # noqa: E402

# (what it shows, file, its text, part of the message or None)
CASES = [
    ("the layer's namespace", "engine/storage/a.h", "namespace liststore::storage {\nclass A {};\n}", None),
    ("a namespace within it", "engine/cql/values/a.h", "namespace liststore::cql::json {\nint a;\n}", None),
    ("a class of another layer, declared", "engine/execute/a.h",
     "namespace liststore::shard {\nclass Engine;\n}", None),
    ("the vocabulary is in liststore", "engine/model/a.h", "namespace liststore {\nclass A {};\n}", None),
    ("a member of a public class", "engine/instruments/server_clock.cc", "namespace liststore {\nint a;\n}", None),
    ("nothing of a layer is in liststore", "engine/storage/a.h", "namespace liststore {\nclass A {};\n}",
     "liststore is not the namespace of this file (liststore::storage)"),
    ("nor in another layer's", "engine/shard/a.h", "namespace liststore::storage {\nint a;\n}",
     "liststore::storage is not the namespace of this file"),
    ("nor the vocabulary in one of its own", "engine/model/a.h", "namespace liststore::model {\nint a;\n}",
     "liststore::model is not the namespace of this file (liststore)"),
    ("a row of the table", "engine/storage/a.h", '#include "engine/model/cell.h"', None),
    ("its own layer", "engine/storage/a.h", '#include "engine/storage/b.h"', None),
    ("abseil and std", "engine/storage/a.h", '#include <vector>\n#include "absl/types/span.h"', None),
    ("but no table that a refused growth breaks", "engine/execute/a.h",
     '#include "absl/container/flat_hash_map.h"', "is not for the engine: the heap may refuse"),
    ("public header", "engine/lists/a.cc", '#include "liststore/clock.h"', None),
    ("hash.cc may use xxHash", "engine/base/hash.cc", "#include <xxhash.h>", None),
    ("gtest in quotes", "tests/base/a_test.cc", '#include "gtest/gtest.h"', None),
    ("a heavy header where the table says so", "tests/support/vectors.h",
     "#include <boost/json/value.hpp>", None),
    ("tests may include anything", "tests/storage/a_test.cc",
     '#include <thread>\n#include "engine/shard/engine.h"', None),
    ("system headers", "engine/runtime/a.cc", "#include <linux/futex.h>\n#include <sys/syscall.h>",
     None),
    ("a comment is no include", "engine/storage/a.h", '// #include "engine/shard/engine.h"', None),

    ("the language sees the catalog", "engine/cql/schema/a.h", '#include "engine/shard/catalog.h"', None),
    ("instruments are virtual tables", "engine/instruments/a.h",
     '#include "engine/cql/schema/virtual_table.h"\n#include "liststore/clock.h"', None),

    ("lists save through snapshot and disk", "engine/lists/a.cc",
     '#include "engine/snapshot/saved_format.h"\n#include "engine/disk/file_calls.h"', None),

    ("the C face stands on the public headers", "engine/c_api/a.cc",
     '#include "engine/lists/list_key.h"', "c_api must not include lists"),
    ("the format knows no store", "engine/snapshot/a.cc", '#include "engine/shard/engine.h"',
     "snapshot must not include shard"),
    ("files know no format", "engine/disk/a.cc", '#include "engine/model/cell.h"',
     "disk must not include model"),
    ("storage knows no files", "engine/storage/a.cc", '#include "engine/disk/file_calls.h"',
     "storage must not include disk"),
    ("but not the rest of shard", "engine/cql/schema/a.h", '#include "engine/shard/engine.h"',
     "cql/schema must not see engine/shard/engine.h"),
    ("the language does not reach into storage", "engine/cql/plan/a.cc",
     '#include "engine/storage/table.h"', "cql/plan must not include storage"),
    ("the language has no threads", "engine/cql/values/a.cc", "#include <thread>",
     "must not see <thread>"),
    ("a statement knows no plan", "engine/cql/syntax/a.h", '#include "engine/cql/plan/plan.h"',
     "cql/syntax must not include cql/plan"),
    ("plans know no schema statements", "engine/cql/plan/a.cc",
     '#include "engine/cql/schema/schema_change.h"', "cql/plan must not include cql/schema"),
    ("execution knows no instruments", "engine/execute/a.h",
     '#include "engine/instruments/journal.h"', "execute must not include instruments"),
    ("the network knows no protocol", "engine/network/a.h", '#include "engine/protocol/frame.h"',
     "network must not include protocol"),
    ("the network knows budgets", "engine/network/a.h", '#include "engine/memory/memory_budget.h"',
     None),
    ("but no arenas", "engine/network/a.h", '#include "engine/memory/arena.h"',
     "network must not see engine/memory/arena.h"),
    ("the network knows no faces", "engine/network/a.cc", '#include "engine/faces/cql/session.h"',
     "network must not include faces/cql"),
    ("a folder within a layer is below it", "engine/execute/select/a.cc",
     '#include "engine/execute/answers.h"', "engine/execute/select stands below"),
    ("and may be used by the rest", "engine/execute/a.cc",
     '#include "engine/execute/select/b.h"', None),
    ("memory knows no rows", "engine/memory/a.h", '#include "engine/model/cell.h"',
     "memory must not include model"),
    ("folders of layers are no layers", "engine/cql/a.h", "int x;", "no known layer"),
    ("upwards", "engine/model/a.h", '#include "engine/storage/table.h"', "model must not include"),
    ("storage sees no commands", "engine/storage/a.cc", '#include "engine/command/command.h"',
     "storage must not include command"),
    ("runtime knows no nouns", "engine/runtime/a.h", '#include "engine/model/token.h"',
     "runtime must not include model"),
    ("lists do not reach into storage", "engine/lists/a.cc", '#include "engine/storage/table.h"',
     "lists must not include storage"),
    ("the engine knows no tests", "engine/base/a.cc", '#include "tests/support/seed.h"',
     "the engine includes tests/"),
    ("no threads in storage", "engine/storage/a.cc", "#include <thread>", "must not see <thread>"),
    ("no sockets in storage", "engine/storage/a.cc", "#include <sys/socket.h>", "must not see"),
    ("no clock in storage", "engine/storage/a.cc", '#include "liststore/clock.h"', "must not see"),
    ("nobody reads the time in storage", "engine/storage/a.cc",
     "auto now = std::chrono::steady_clock::now();", "must not read the time"),
    ("public headers show no internals", "include/liststore/a.h", '#include "engine/base/check.h"',
     "a public header includes"),
    ("public headers need few libraries", "include/liststore/a.h", "#include <openssl/evp.h>",
     "a public header includes"),
    ("Asio in no header", "engine/runtime/event_loop.h", "#include <boost/asio.hpp>",
     "never for a header"),
    ("spdlog in no header of the tools", "tools/liststore/a.h", "#include <spdlog/spdlog.h>",
     "never for a header"),
    ("xxHash in one place", "engine/storage/a.cc", "#include <xxhash.h>", "not for this file"),
    ("LZ4 in one place", "engine/protocol/compression.cc", "#include <lz4.h>", None),
    ("Snappy nowhere else", "engine/protocol/frame.cc", "#include <snappy.h>", "not for this file"),
    ("protocol knows no shards", "engine/protocol/a.h", '#include "engine/shard/engine.h"',
     "protocol must not include shard"),
    ("protocol has no sockets", "engine/protocol/a.cc", "#include <sys/socket.h>", "must not see"),
    ("unknown library", "engine/lists/a.cc", "#include <boost/json.hpp>", "not for this file"),
    ("unknown layer", "engine/misc/a.h", "int x;", "no known layer"),
    ("the program stands on what measures", "tools/liststore/a.cc",
     '#include "bench/wire/wire_bench.h"\n#include "tools/copy/copy.h"', None),
    ("CLI11 in one place", "programs/console/command_line.cc", "#include <CLI/CLI.hpp>", None),
    ("what measures knows no tools", "bench/wire/a.cc", '#include "tools/replay/replay.h"',
     "bench/wire must not include tools/replay"),
    ("the CQL client knows no tools", "programs/client/a.h", '#include "tools/copy/copy.h"',
     "programs/client must not include tools/copy"),
    ("nor what measures", "programs/console/a.h", '#include "bench/measure/median.h"',
     "programs/console must not include bench/measure"),
    ("copying knows no replay", "tools/copy/a.cc", '#include "tools/replay/replay.h"',
     "tools/copy must not include tools/replay"),
    ("copying speaks CQL alone", "tools/copy/a.cc", '#include "engine/shard/engine.h"',
     "tools/copy must not include shard"),
    ("loads know no peers", "bench/load/a.h", '#include "bench/peers/bare_store.h"',
     "bench/load must not include bench/peers"),
    ("programs know no tests", "bench/measure/a.cc", '#include "tests/support/seed.h"',
     "bench/measure must not include tests"),
    ("CLI11 in no subcommand", "tools/liststore/a.cc", "#include <CLI/CLI.hpp>", "not for this file"),
    ("unknown folder of tools", "tools/misc/a.h", "int x;", "no known folder"),
    ("files of tools lie in folders", "tools/a.h", "int x;", "no known folder"),
    ("relative include", "engine/base/a.cc", '#include "check.h"', "neither rooted"),
    ("angle brackets for our own", "engine/lists/a.cc", "#include <liststore/clock.h>", "write"),
]


class CheckLayersTest(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            return list(check_layers.check_tree(root))

    def test_cases(self):
        for name, path, text, expected in CASES:
            with self.subTest(name):
                found = self.violations({"engine/base/empty.h": "", path: text + "\n"})
                if expected is None:
                    self.assertEqual(found, [])
                else:
                    self.assertTrue(any(expected in line for line in found), found)
                    self.assertTrue(all(line.startswith(path) for line in found), found)

    def test_own_header_comes_first(self):
        files = {"engine/base/a.h": "", "engine/base/b.h": ""}
        good = {**files, "engine/base/a.cc": '#include "engine/base/a.h"\n#include <vector>\n'}
        bad = {**files, "engine/base/a.cc": '#include <vector>\n#include "engine/base/a.h"\n'}
        self.assertEqual(self.violations(good), [])
        self.assertEqual(self.violations(bad),
                         ["engine/base/a.cc:1: the first include must be engine/base/a.h"])

    def test_own_header_comes_first_outside_of_the_engine(self):
        files = {"engine/base/a.h": "", "tools/copy/a.h": "",
                 "tools/copy/a.cc": '#include <vector>\n#include "tools/copy/a.h"\n'}
        self.assertEqual(self.violations(files),
                         ["tools/copy/a.cc:1: the first include must be tools/copy/a.h"])

    def test_implementation_of_a_public_header_starts_with_it(self):
        files = {"include/liststore/clock.h": "", "engine/base/clock.cc": "#include <time.h>\n"}
        self.assertEqual(self.violations(files),
                         ["engine/base/clock.cc:1: the first include must be liststore/clock.h"])

    def test_an_empty_tree_is_no_success(self):
        self.assertEqual(len(self.violations({"tools/copy/a.cc": ""})), 1)

    def test_table_has_no_cycle(self):
        check_layers.check_table()


if __name__ == "__main__":
    unittest.main()
