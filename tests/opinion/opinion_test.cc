// Every row of the opinions beside this file: what ScyllaDB answers, read in its source.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "liststore/clock.h"
#include "liststore/cql_server.h"
#include "tests/opinion/opinion_file.h"
#include "tests/opinion/opinion_session.h"

namespace liststore::testing {
namespace opinion_test {

// So that no row goes unseen, and differences do not become the rule.
constexpr size_t kChecksMin = 2800;
constexpr size_t kDifferencesMax = 5;
constexpr size_t kToBeMendedMax = 0;

// 2023-11-14 22:13:20.
constexpr uint64_t kStartNanos = 1'700'000'000'000'000'000;
constexpr uint64_t kStepNanos = 1'000'000;

std::vector<std::string> OpinionPaths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(LISTSTORE_OPINIONS_DIR)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> SplitRows(const std::string& text) {
  std::vector<std::string> rows;
  size_t begin = 0;
  for (size_t end; (end = text.find("; ", begin)) != std::string::npos; begin = end + 2) {
    rows.push_back(text.substr(begin, end - begin));
  }
  rows.push_back(text.substr(begin));
  return rows;
}

std::string JoinRows(const std::vector<std::string>& rows) {
  std::string text;
  for (const std::string& row : rows) text += (text.empty() ? "" : "; ") + row;
  return text.empty() ? "none" : text;
}

// An error without a text is any of its code; one that ends in "..." begins so.
bool IsAsExpected(const std::string& expected, const std::string& got) {
  if (expected == got) return true;
  if (!expected.starts_with("error ")) return false;
  if (expected.size() == std::string("error 2200").size()) return got.starts_with(expected + " ");
  return expected.ends_with("...") && got.starts_with(expected.substr(0, expected.size() - 3));
}

bool HasDetail(const OpinionStep& step, const std::string& kind) {
  return std::any_of(step.details.begin(), step.details.end(),
                     [&](const std::string& detail) { return detail.starts_with(kind); });
}

// What was got, in the words of the file; empty: all is as expected.
std::string DeviationOf(const OpinionStep& step, const OpinionAnswer& answer) {
  std::vector<std::string> rows = answer.rows;
  std::string expected = step.answer;
  if (step.any_order) {
    std::vector<std::string> wanted = SplitRows(expected);
    std::sort(wanted.begin(), wanted.end());
    std::sort(rows.begin(), rows.end());
    expected = JoinRows(wanted);
  }
  const std::string got = answer.kind == "rows" ? JoinRows(rows) : answer.kind;
  std::vector<std::string> details;
  for (const std::string& warning : answer.warnings) details.push_back("warning " + warning);
  if (HasDetail(step, "columns ")) details.push_back("columns " + answer.columns);
  if (HasDetail(step, "types ")) details.push_back("types " + answer.types);
  // Rows may go on only where that is expected.
  if (!answer.paging_state.empty()) details.emplace_back("more");
  std::vector<std::string> wanted_details = step.details;
  std::sort(details.begin(), details.end());
  std::sort(wanted_details.begin(), wanted_details.end());
  if (IsAsExpected(expected, got) && details == wanted_details) return "";
  std::string text = "< " + got;
  for (const std::string& detail : details) text += "\n      < " + detail;
  return text;
}

std::string ExpectationOf(const OpinionStep& step) {
  std::string text = (step.any_order ? "<~ " : "< ") + step.answer;
  for (const std::string& detail : step.details) text += "\n      < " + detail;
  return text;
}

std::string StatementsOf(const OpinionStep& step) {
  std::string text;
  for (const OpinionStatement& statement : step.statements) {
    text += "\n      > " + statement.text;
    for (const std::string& value : statement.values) text += " | " + value;
  }
  return text;
}

class SectionRun {
 public:
  explicit SectionRun(const OpinionFile& file) : file_(file) {}

  void Run(const OpinionSection& section) {
    CqlServerOptions options;
    options.manual_clock = &clock_;
    options.client_timestamps = CqlServerOptions::ClientTimestamps::kHonour;
    options.memory_limit_bytes = 64 << 20;
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    session_ = std::make_unique<OpinionSession>((*server)->cql_port());
    SetUp(
        "CREATE KEYSPACE k WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 1}");
    SetUp("USE k");
    for (const OpinionStep& step : section.steps) RunStep(step);
    session_.reset();
  }

 private:
  void SetUp(const std::string& text) {
    OpinionStep step;
    step.statements = {{text, {}}};
    RunStep(step);
  }

  void RunStep(const OpinionStep& step) {
    clock_.AdvanceNanos(kStepNanos);
    if (step.kind == OpinionStep::Kind::kClock) {
      clock_.AdvanceSeconds(static_cast<uint64_t>(step.seconds));
      return;
    }
    const OpinionAnswer answer = session_->Run(step, false);
    if (!step.is_check()) {
      if (answer.is_error()) Report(step, "must succeed", "< " + answer.kind);
      return;
    }
    std::string deviation = DeviationOf(step, answer);
    // A refusal leaves no trace, so it is asked for in both ways.
    if (deviation.empty() && step.kind == OpinionStep::Kind::kRun && answer.is_error() &&
        step.statements[0].values.empty()) {
      deviation = DeviationOf(step, session_->Run(step, true));
      if (!deviation.empty()) deviation += " (prepared)";
    }
    if (step.differs.empty() && !deviation.empty()) {
      Report(step, ExpectationOf(step) + "\n      @ " + step.source, deviation);
    }
    if (!step.differs.empty() && deviation.empty()) {
      Report(step, "! " + step.differs, "as ScyllaDB: take the mark away");
    }
  }

  void Report(const OpinionStep& step, const std::string& expected, const std::string& got) {
    ADD_FAILURE_AT(file_.path.c_str(), step.line)
        << StatementsOf(step) << "\n    expected\n      " << expected << "\n    got\n      " << got;
  }

  const OpinionFile& file_;
  ManualClock clock_{kStartNanos};
  std::unique_ptr<OpinionSession> session_;
};

class Opinion : public ::testing::TestWithParam<std::string> {};

TEST_P(Opinion, IsShared) {
  const OpinionFile file = ReadOpinionFile(GetParam());
  for (const std::string& error : file.errors) ADD_FAILURE() << error;
  for (const OpinionSection& section : file.sections) {
    SCOPED_TRACE(section.title);
    SectionRun(file).Run(section);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Opinion, ::testing::ValuesIn(OpinionPaths()),
                         [](const ::testing::TestParamInfo<std::string>& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

TEST(Opinions, AreManyAndDifferOnPurposeSeldom) {
  size_t checks = 0, differences = 0, to_be_mended = 0;
  for (const std::string& path : OpinionPaths()) {
    const OpinionFile file = ReadOpinionFile(path);
    for (const OpinionSection& section : file.sections) {
      for (const OpinionStep& step : section.steps) {
        checks += step.is_check();
        const bool waits = step.differs.starts_with("to be mended");
        to_be_mended += waits;
        differences += !step.differs.empty() && !waits;
      }
    }
  }
  std::printf("%zu checks: %zu of them differ on purpose, %zu are to be mended\n", checks,
              differences, to_be_mended);
  EXPECT_GE(checks, kChecksMin);
  EXPECT_LE(to_be_mended, kToBeMendedMax);
  EXPECT_LE(differences, kDifferencesMax);
}

}  // namespace opinion_test
}  // namespace liststore::testing
