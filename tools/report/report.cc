#include "tools/report/report.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "programs/client/cql_client.h"
#include "programs/console/exit_codes.h"
#include "programs/console/failure.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"
#include "tools/report/advice.h"
#include "tools/report/server_notes.h"

namespace liststore {
namespace {

// Of what stands behind the name and the count.
constexpr size_t kLineColumns = 110;

// "what it means; instead: what to do"; empty of a rule that is not known.
std::string AdviceFor(std::string_view rule) {
  const Advice* const advice = FindAdvice(LintAdvice(), rule);
  if (advice == nullptr) return "";
  return absl::StrCat(ToAbsl(advice->means), "; instead: ", ToAbsl(advice->remedy));
}

std::string EscapedXml(std::string_view text) {
  std::string escaped;
  // XML has no place for control characters, whatever they are written as.
  for (const char c : Printable(text, text.size() + 1)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Line(const ReportFinding& finding) {
  std::string line = finding.count == 1 ? "once" : absl::StrCat(finding.count, " times");
  line += ": " + finding.subject;
  if (!finding.detail.empty()) line += " (" + finding.detail + ")";
  return line;
}

absl::StatusOr<std::vector<ReportFinding>> ReadFindings(CqlClient& client) {
  LS_ASSIGN_OR_RETURN(const CqlRows rows, client.Query("SELECT rule, subject, count, detail FROM "
                                                       "liststore.lint"));
  std::vector<ReportFinding> findings;
  for (size_t row = 0; row < rows.size(); ++row) {
    findings.push_back({std::string(rows.at(row, 0)), std::string(rows.at(row, 1)),
                        static_cast<uint64_t>(rows.Integer(row, 2)), std::string(rows.at(row, 3))});
  }
  return findings;
}

// Whoever finds nothing wants to know whether anything was looked at.
absl::StatusOr<std::string> JournalSummary(CqlClient& client) {
  LS_ASSIGN_OR_RETURN(
      const CqlRows rows,
      client.Query("SELECT kept, dropped, capacity FROM liststore.journal WHERE key = 'journal'"));
  if (rows.size() != 1) return absl::InternalError("liststore.journal has no row");
  if (rows.Integer(0, 2) == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        client.server(), ": the server keeps no journal: start it with --journal 10000"));
  }
  std::string text = Grouped(static_cast<uint64_t>(rows.Integer(0, 0))) + " requests looked at";
  const auto dropped = static_cast<uint64_t>(rows.Integer(0, 1));
  if (dropped > 0) text += ", " + Grouped(dropped) + " older ones were dropped";
  return text;
}

absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  bool done = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) done = std::fclose(file) == 0 && done;
  return done ? absl::OkStatus() : absl::UnavailableError(path + ": cannot be written");
}

// One finding: its name, how often, what it is about, and lines about that.
void PrintFinding(const Style& style, size_t columns, const std::string& name, uint64_t count,
                  const std::string& subject, const std::vector<std::string>& lines) {
  absl::PrintF("%s  %8s  %s\n", style.Bold(Padded(name, columns)), Grouped(count),
               Printable(subject, kLineColumns));
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    absl::PrintF("%s  %8s  %s\n", Padded("", columns), "",
                 style.Dim(Printable(line, kLineColumns)));
  }
}

std::string Instead(std::string_view remedy) {
  return remedy.empty() ? "" : absl::StrCat("instead: ", ToAbsl(remedy));
}

void Print(const std::vector<ReportFinding>& findings, const std::vector<ServerNote>& notes,
           const std::string& summary) {
  const Style style(stdout);
  size_t columns = 0;
  for (const ReportFinding& finding : findings) columns = std::max(columns, finding.rule.size());
  for (const ServerNote& note : notes) columns = std::max(columns, note.name.size());
  for (const ReportFinding& finding : findings) {
    const Advice* const advice = FindAdvice(LintAdvice(), finding.rule);
    std::string means = finding.detail;
    if (advice != nullptr) {
      absl::StrAppend(&means, means.empty() ? "" : "; ", ToAbsl(advice->means));
    }
    PrintFinding(style, columns, finding.rule, finding.count, finding.subject,
                 {means, advice == nullptr ? "" : Instead(advice->remedy)});
  }
  if (!notes.empty()) {
    absl::PrintF("%sof the server, since it started:\n\n", findings.empty() ? "" : "\n");
    for (const ServerNote& note : notes) {
      PrintFinding(style, columns, note.name, note.count, note.means,
                   {note.detail, Instead(note.remedy)});
    }
  }
  absl::PrintF("%s%s; %s\n", findings.empty() && notes.empty() ? "" : "\n",
               findings.empty() ? style.Good("nothing found") : Counted(findings.size(), "finding"),
               summary);
}

absl::StatusOr<bool> Report(const ReportOptions& options) {
  LS_ASSIGN_OR_RETURN(const auto client, ConnectTo(options.server));
  LS_ASSIGN_OR_RETURN(const std::string summary, JournalSummary(*client));
  LS_ASSIGN_OR_RETURN(const std::vector<ReportFinding> findings, ReadFindings(*client));
  LS_ASSIGN_OR_RETURN(const std::vector<ServerNote> notes, ReadServerNotes(*client));
  if (!options.junit_path.empty()) {
    LS_RETURN_IF_ERROR(WriteFile(options.junit_path, JUnitXml(findings)));
  }
  Print(findings, notes, summary);
  return findings.empty();
}

}  // namespace

std::string JUnitXml(const std::vector<ReportFinding>& findings) {
  std::vector<std::string> rules;
  for (const Advice& advice : LintAdvice()) rules.emplace_back(advice.name);
  for (const ReportFinding& finding : findings) {
    if (std::ranges::find(rules, finding.rule) == rules.end()) rules.push_back(finding.rule);
  }
  size_t failures = 0;
  std::string tests;
  for (const std::string& rule : rules) {
    std::string lines;
    for (const ReportFinding& finding : findings) {
      if (finding.rule == rule) lines += EscapedXml(Line(finding)) + "\n";
    }
    tests += "    <testcase classname=\"liststore.lint\" name=\"" + EscapedXml(rule) + "\"";
    if (lines.empty()) {
      tests += "/>\n";
      continue;
    }
    ++failures;
    tests += ">\n      <failure message=\"" + EscapedXml(AdviceFor(rule)) + "\">" + lines +
             "</failure>\n    </testcase>\n";
  }
  const std::string counts =
      absl::StrFormat(" tests=\"%d\" failures=\"%d\" errors=\"0\"", rules.size(), failures);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
         ">\n  <testsuite name=\"liststore.lint\"" + counts + ">\n" + tests +
         "  </testsuite>\n</testsuites>\n";
}

int RunReport(const ReportOptions& options) {
  const absl::StatusOr<bool> clean = Report(options);
  if (clean.ok()) return *clean ? kExitSame : kExitDifferent;
  return ReportFailure("report", clean.status());
}

}  // namespace liststore
