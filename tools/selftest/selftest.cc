#include "tools/selftest/selftest.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/strings.h"
#include "liststore/version.h"
#include "programs/console/exit_codes.h"
#include "programs/console/failure.h"
#include "programs/console/json_line.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"
#include "tools/selftest/machine_checks.h"
#include "tools/selftest/server_checks.h"

namespace liststore {
namespace {

constexpr size_t kTextColumns = 100;

std::string_view NameOf(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kOk:
      return "ok";
    case CheckOutcome::kNote:
      return "note";
    case CheckOutcome::kFailed:
      break;
  }
  return "failed";
}

size_t CountOf(const std::vector<Check>& checks, CheckOutcome outcome) {
  return static_cast<size_t>(std::ranges::count(checks, outcome, &Check::outcome));
}

// Lines of that width, broken between words.
std::vector<std::string> Wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  while (text.size() > columns) {
    size_t end = text.rfind(' ', columns);
    if (end == std::string_view::npos || end == 0) break;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  lines.emplace_back(text);
  return lines;
}

void Print(const std::vector<Check>& checks, double seconds) {
  const Style style(stdout);
  size_t columns = 0;
  for (const Check& check : checks) columns = std::max(columns, check.name.size());
  const std::string margin(columns + 9, ' ');
  absl::PrintF("liststore %s, selftest\n\n", kVersion);
  for (const Check& check : checks) {
    const std::string outcome = Padded(std::string(NameOf(check.outcome)), 6);
    const bool is_ok = check.outcome == CheckOutcome::kOk;
    const bool is_note = check.outcome == CheckOutcome::kNote;
    std::string before = (is_ok     ? style.Good(outcome)
                          : is_note ? style.Bold(outcome)
                                    : style.Bad(outcome)) +
                         " " + Padded(check.name, columns) + "  ";
    for (const std::string& line : Wrapped(check.found, kTextColumns)) {
      absl::PrintF("%s%s\n", before, line);
      before = margin;
    }
    if (check.advice.empty()) continue;
    for (const std::string& line : Wrapped(check.advice, kTextColumns)) {
      absl::PrintF("%s%s\n", margin, style.Dim(line));
    }
  }
  const size_t failed = CountOf(checks, CheckOutcome::kFailed);
  const size_t notes = CountOf(checks, CheckOutcome::kNote);
  const std::string verdict = failed == 0 ? style.Good("works on this machine")
                                          : style.Bad("does not work on this machine");
  absl::PrintF("\n%s: %d ok, %s, %d failed; %.2f s\n", verdict, CountOf(checks, CheckOutcome::kOk),
               Counted(notes, "note"), failed, seconds);
}

std::string TemporaryFolderPath() {
  const char* const folder = std::getenv("TMPDIR");
  return folder == nullptr || *folder == '\0' ? "/tmp" : folder;
}

}  // namespace

std::string SelfTestJson(const std::vector<Check>& checks, double seconds) {
  std::string list;
  for (const Check& check : checks) {
    JsonLine line;
    line.Text("name", check.name);
    line.Text("outcome", NameOf(check.outcome));
    line.Text("found", check.found);
    if (!check.advice.empty()) line.Text("advice", check.advice);
    absl::StrAppend(&list, list.empty() ? "" : ",", line.Finish());
  }
  return absl::StrFormat("{\"version\":\"%s\",\"works\":%s,\"seconds\":%.3f,\"checks\":[%s]}\n",
                         kVersion, CountOf(checks, CheckOutcome::kFailed) == 0 ? "true" : "false",
                         seconds, list);
}

int RunSelfTest(bool json) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Check> checks = CheckMachine(ReadServerMachine());
  for (Check& check : CheckServer(TemporaryFolderPath())) checks.push_back(std::move(check));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const bool works = CountOf(checks, CheckOutcome::kFailed) == 0;
  if (json) {
    std::fputs(SelfTestJson(checks, seconds.count()).c_str(), stdout);
  } else {
    Print(checks, seconds.count());
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return ReportFailure("selftest", absl::UnavailableError(absl::StrCat(
                                         "cannot write what was found: ", std::strerror(errno))));
  }
  return works ? kExitSame : kExitDifferent;
}

}  // namespace liststore
