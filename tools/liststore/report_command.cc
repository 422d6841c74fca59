#include "tools/liststore/report_command.h"

#include <memory>
#include <string>

#include "tools/liststore/connection_arguments.h"
#include "tools/report/report.h"

namespace liststore {
namespace {

constexpr char kReportHelp[] =
    R"(Reads the table liststore.lint of a server that runs and keeps a journal (serve --journal N): statements
that come again and again without being prepared, ALLOW FILTERING, batches over several partitions, IN with
many keys, rows without TTL, timestamps from the future, large partitions, reads of much that is deleted. Each
comes with what it means and what to do instead. Below stand what the server's counters say that should be 0, slow
turns, and what was asked for that this server does not do; the exit status does not depend on these. Run it at the
end of a test run, before the server ends.

Examples:
  liststore report
  liststore report --via 127.0.0.1:9042 --junit lint.xml
)";

constexpr char kReportExitHelp[] = R"(
Exit status: 0 nothing was found; 1 something was; 2 the server cannot be asked, or the file not written.)";

}  // namespace

void AddReportCommand(const Subcommand& program) {
  const Subcommand command =
      program.Add("report", "Tell what clients of a server do that hurts at scale");
  command.Footer(std::string(kReportHelp) + kServerHelp + kReportExitHelp);
  const auto options = std::make_shared<ReportOptions>();
  AddConnectionArguments(command, &options->server);
  command.Option("--junit", &options->junit_path, "Write the findings as JUnit XML").Value("FILE");
  command.Runs([options] { return RunReport(*options); });
}

}  // namespace liststore
