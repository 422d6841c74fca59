#include "tools/liststore/selftest_command.h"

#include <memory>

#include "tools/selftest/selftest.h"

namespace liststore {
namespace {

constexpr char kSelfTestHelp[] =
    R"(Says in about a second whether the program works on this machine: what it finds there (cores, memory, open files,
huge pages, clock), and what a server does that it starts in this process, on a free port of 127.0.0.1: a keyspace
and a table, writes, reads, expiry by a clock that is moved, an index, TLS with a certificate made for it, and a data
directory with a commit log, written and read again after a restart, in TMPDIR, else /tmp. Nothing is left behind.

  ok      it works
  note    it works, and could be better: what to do stands below
  failed  it does not: what to do stands below

Examples:
  liststore selftest
  liststore selftest --json
  TMPDIR=/var/lib/liststore liststore selftest

Exit status: 0 all works; 1 something has failed; 2 wrong usage.)";

}  // namespace

void AddSelfTestCommand(const Subcommand& program) {
  const Subcommand command = program.Add("selftest", "Say whether it works on this machine");
  command.Footer(kSelfTestHelp);
  const auto json = std::make_shared<bool>(false);
  command.Flag("--json", json.get(), "One line of JSON: version, works, seconds, checks");
  command.Runs([json] { return RunSelfTest(*json); });
}

}  // namespace liststore
