// The liststore program. Each subcommand has its options, its help and what it runs in a file of
// its own.

#include "programs/console/command_line.h"
#include "tools/liststore/bench_command.h"
#include "tools/liststore/check_command.h"
#include "tools/liststore/clock_command.h"
#include "tools/liststore/console_command.h"
#include "tools/liststore/export_command.h"
#include "tools/liststore/faults_command.h"
#include "tools/liststore/import_command.h"
#include "tools/liststore/journal_command.h"
#include "tools/liststore/mark_command.h"
#include "tools/liststore/query_command.h"
#include "tools/liststore/recover_command.h"
#include "tools/liststore/replay_command.h"
#include "tools/liststore/report_command.h"
#include "tools/liststore/reset_command.h"
#include "tools/liststore/selftest_command.h"
#include "tools/liststore/serve_command.h"
#include "tools/liststore/snapshot_command.h"
#include "tools/liststore/top_command.h"
#include "tools/liststore/version_text.h"

namespace liststore {
namespace {

constexpr char kProgramHelp[] = R"(Examples:
  liststore replay data/touched_files.oplog.jsonl.gz
  liststore replay log.jsonl.gz --expected answers.jsonl.gz --json
  liststore bench embedded --quick
  liststore serve --cql-port 0 --ready-file ready.json
  liststore query "SELECT * FROM system.local"
  liststore console
  liststore export --via 127.0.0.1:9042 --to db1.example.org:9042

'liststore SUBCOMMAND --help' tells more.

Exit status: 0 done; 1 an answer differs from the expected one; 98 a port is taken; 2 anything else.)";

int Main(int argc, char** argv) {
  CommandLine line("An in-memory store of lists with ScyllaDB's data model.", "liststore");
  line.SetVersion(VersionText());
  // For tools/package.
  line.AddDescription("--describe-commands");
  const Subcommand program = line.program();
  program.RequireSubcommand();
  program.Footer(kProgramHelp);
  AddReplayCommand(program);
  AddReportCommand(program);
  AddExportCommand(program);
  AddImportCommand(program);
  AddBenchCommand(program);
  AddServeCommand(program);
  AddQueryCommand(program);
  AddConsoleCommand(program);
  AddClockCommand(program);
  AddFaultsCommand(program);
  AddJournalCommand(program);
  AddMarkCommand(program);
  AddResetCommand(program);
  AddSnapshotCommand(program);
  AddTopCommand(program);
  AddCheckCommand(program);
  AddRecoverCommand(program);
  AddSelfTestCommand(program);
  return line.Run(argc, argv);
}

}  // namespace
}  // namespace liststore

int main(int argc, char** argv) { return liststore::Main(argc, argv); }
