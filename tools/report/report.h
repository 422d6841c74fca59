// `liststore report`: what a server's clients have done that would hurt at scale, for people and
// for the machines that read test results.
#ifndef LISTSTORE_TOOLS_REPORT_REPORT_H_
#define LISTSTORE_TOOLS_REPORT_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "programs/client/server_connection.h"

namespace liststore {

struct ReportOptions {
  ServerConnection server;
  std::string junit_path;  // empty: none
};

// A row of liststore.lint.
struct ReportFinding {
  std::string rule;
  std::string subject;
  uint64_t count = 0;
  std::string detail;  // maybe empty
};

// A test for each rule, failed where there are findings; well-formed whatever they hold.
std::string JUnitXml(const std::vector<ReportFinding>& findings);

// Reads liststore.lint, prints a table and writes JUnit XML where asked. Returns the exit status:
// kExitSame, kExitDifferent when something was found, kExitFailed.
int RunReport(const ReportOptions& options);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPORT_REPORT_H_
