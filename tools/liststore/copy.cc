#include "tools/liststore/copy.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/base/status_macros.h"
#include "tools/liststore/remote_schema.h"
#include "tools/liststore/replay_status.h"
#include "tools/liststore/schema_copy.h"
#include "tools/liststore/table_comparison.h"
#include "tools/liststore/table_reader.h"
#include "tools/liststore/table_writer.h"
#include "tools/liststore/terminal.h"
#include "tools/liststore/text.h"

namespace liststore {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Reading and writing a cell lie in different seconds, and servers count whole ones.
constexpr int64_t kToleranceSeconds = 2;
constexpr std::chrono::seconds kAgreementMax{30};

// "1 row", "1,234 rows".
std::string Counted(uint64_t count, const std::string& what) {
  return Grouped(count) + " " + what + (count == 1 ? "" : "s");
}

absl::Status WithHint(const absl::Status& status, const std::string& hint) {
  return absl::Status(status.code(), absl::StrCat(status.message(), "; ", hint));
}

absl::StatusOr<std::unique_ptr<CqlClient>> Connect(const std::string& server,
                                                   const CqlCredentials& credentials,
                                                   const char* option) {
  auto client = CqlClient::Connect(server, credentials);
  if (!absl::IsUnauthenticated(client.status())) return client;
  return WithHint(client.status(),
                  absl::StrCat("give --", option, "user and --", option, "password"));
}

class Copy {
 public:
  explicit Copy(const CopyOptions& options) : options_(options) {}

  // False: something differs.
  absl::StatusOr<bool> Run();

 private:
  struct TableResult {
    std::string name;
    TableTotals source;
    TableTotals target;
    uint64_t rows_that_differ = 0;
    std::string first_difference;
  };

  absl::Status Open();
  // FailedPrecondition: something stands in the way; nothing was written.
  absl::Status CheckTarget() const;
  absl::Status CheckCounters();
  absl::Status MakeSchema();
  absl::Status AwaitAgreement();
  absl::StatusOr<TableReader> ReaderOf(bool source, const RemoteTable& table) const {
    return TableReader::Open(source ? *source_ : *target_, table, options_.page_rows,
                             (source ? source_schema_ : target_schema_).consistency);
  }
  absl::Status CopyRows(const RemoteTable& table);
  absl::StatusOr<TableResult> CompareRows(const RemoteTable& table);
  void ShowPlan() const;
  bool ShowResults(const std::vector<TableResult>& results, SteadyClock::time_point begin) const;
  // One of the ranges of a table was read through.
  void Progress() { progress_.Update(static_cast<double>(++ranges_) / ranges_max_, rows_); }
  int64_t ToleranceSeconds() const {
    return kToleranceSeconds +
           std::chrono::ceil<std::chrono::seconds>(SteadyClock::now() - table_begin_).count();
  }

  const CopyOptions& options_;
  std::unique_ptr<CqlClient> source_, target_;
  RemoteSchema source_schema_, target_schema_;
  std::vector<RemoteKeyspace> wanted_;
  std::vector<const RemoteTable*> tables_;
  SchemaCopy plan_;
  ProgressBar progress_{"rows"};
  int ranges_ = 0;
  int ranges_max_ = 1;
  uint64_t rows_ = 0;
  SteadyClock::time_point table_begin_;
};

absl::Status Copy::Open() {
  if (options_.via == options_.cluster) {
    return absl::InvalidArgumentError(options_.via +
                                      " is both sides: rows are copied from one "
                                      "server to another");
  }
  LS_ASSIGN_OR_RETURN(auto via, Connect(options_.via, options_.via_credentials, "via-"));
  LS_ASSIGN_OR_RETURN(auto cluster, Connect(options_.cluster, options_.cluster_credentials, ""));
  const bool exports = options_.command == "export";
  source_ = std::move(exports ? via : cluster);
  target_ = std::move(exports ? cluster : via);
  LS_ASSIGN_OR_RETURN(source_schema_, ReadRemoteSchema(*source_));
  LS_ASSIGN_OR_RETURN(target_schema_, ReadRemoteSchema(*target_));
  auto wanted = SelectTables(source_schema_, options_.keyspaces, options_.tables);
  if (!wanted.ok()) {
    return absl::Status(wanted.status().code(),
                        absl::StrCat(source_->server(), ": ", wanted.status().message()));
  }
  wanted_ = *std::move(wanted);
  for (const RemoteKeyspace& keyspace : wanted_) {
    for (const RemoteTable& table : keyspace.tables) tables_.push_back(&table);
  }
  plan_ = PlanSchemaCopy(wanted_, target_schema_, options_.replication);
  return absl::OkStatus();
}

absl::Status Copy::CheckTarget() const {
  if (!plan_.differences.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("nothing was written: here is ", source_->server(), ", there ",
                     target_->server(), "\n  ", absl::StrJoin(plan_.differences, "\n  "),
                     "\nalter what is there, or name with --table what is to be copied"));
  }
  if (!options_.data_only || plan_.statements.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      target_->server(), ": nothing was written: --data-only, and there is not yet\n  ",
      absl::StrJoin(plan_.statements, "\n  "), "\nrun these statements, or leave --data-only out"));
}

absl::Status Copy::CheckCounters() {
  for (const RemoteTable* const table : tables_) {
    const RemoteKeyspace* const keyspace = target_schema_.Find(table->keyspace);
    if (!table->is_counter() || keyspace == nullptr ||
        keyspace->FindTable(table->name) == nullptr) {
      continue;
    }
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        target_->Query("SELECT * FROM " + table->QuotedName() + " LIMIT 1"));
    if (rows.size() == 0) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        target_->server(), ": nothing was written: counters can only be added to, and ",
        table->ShownName(),
        " is not empty; truncate it, or name with --table what is to be "
        "copied"));
  }
  return absl::OkStatus();
}

absl::Status Copy::MakeSchema() {
  if (options_.data_only) return absl::OkStatus();
  for (const auto* const statements : {&plan_.statements, &plan_.index_statements}) {
    for (const std::string& statement : *statements) {
      const absl::Status made = target_->Query(statement).status();
      if (made.ok()) continue;
      return statement.starts_with("CREATE KEYSPACE")
                 ? WithHint(made, "--replication gives another one than the source has")
                 : made;
    }
    LS_RETURN_IF_ERROR(AwaitAgreement());
  }
  return absl::OkStatus();
}

// Nodes learn of a schema one after the other; a row for a table that a node does not know is lost.
absl::Status Copy::AwaitAgreement() {
  const auto until = SteadyClock::now() + kAgreementMax;
  while (true) {
    LS_ASSIGN_OR_RETURN(const CqlRows local,
                        target_->Query("SELECT schema_version FROM system.local"));
    LS_ASSIGN_OR_RETURN(const CqlRows peers,
                        target_->Query("SELECT schema_version FROM system.peers"));
    bool agreed = local.size() == 1;
    for (size_t row = 0; agreed && row < peers.size(); ++row) {
      agreed = peers.is_null(row, 0) || peers.at(row, 0) == local.at(0, 0);
    }
    if (agreed) return absl::OkStatus();
    if (SteadyClock::now() > until) {
      return absl::DeadlineExceededError(
          absl::StrCat(target_->server(), ": its nodes have not agreed on the schema for ",
                       kAgreementMax.count(), " s; when all are up, run this again"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

absl::Status Copy::CopyRows(const RemoteTable& table) {
  LS_ASSIGN_OR_RETURN(TableReader reader, ReaderOf(true, table));
  LS_ASSIGN_OR_RETURN(TableWriter writer,
                      TableWriter::Open(*target_, table, target_schema_.consistency));
  for (int range = 0; range < kTokenRanges; ++range) {
    reader.Begin(range);
    while (true) {
      LS_ASSIGN_OR_RETURN(const bool more, reader.Next());
      if (!more) break;
      for (size_t row = 0; row < reader.page().size(); ++row) {
        LS_RETURN_IF_ERROR(writer.Write(reader.page(), row));
      }
      // Before the next page, so that no TTL waits for it.
      LS_RETURN_IF_ERROR(writer.Flush());
      rows_ += reader.page().size();
    }
    Progress();
  }
  return absl::OkStatus();
}

absl::StatusOr<Copy::TableResult> Copy::CompareRows(const RemoteTable& table) {
  LS_ASSIGN_OR_RETURN(TableReader source, ReaderOf(true, table));
  LS_ASSIGN_OR_RETURN(TableReader target, ReaderOf(false, table));
  TableComparison comparison(table);
  for (int range = 0; range < kTokenRanges; ++range) {
    source.Begin(range);
    target.Begin(range);
    // In turn, so that few rows wait for their counterparts.
    for (bool more_source = true, more_target = true; more_source || more_target;) {
      LS_ASSIGN_OR_RETURN(more_source, source.Next());
      if (more_source) comparison.Add(TableComparison::kSource, source.page(), ToleranceSeconds());
      LS_ASSIGN_OR_RETURN(more_target, target.Next());
      if (more_target) comparison.Add(TableComparison::kTarget, target.page(), ToleranceSeconds());
    }
    comparison.EndOfRange();
    Progress();
  }
  return TableResult{table.ShownName(), comparison.totals(TableComparison::kSource),
                     comparison.totals(TableComparison::kTarget), comparison.rows_that_differ(),
                     comparison.first_difference()};
}

void Copy::ShowPlan() const {
  for (const auto* const statements : {&plan_.statements, &plan_.index_statements}) {
    if (options_.data_only) continue;
    for (const std::string& statement : *statements) absl::PrintF("%s;\n", statement);
  }
  if (options_.schema_only) return;
  for (const RemoteTable* const table : tables_)
    absl::PrintF("-- rows of %s\n", table->ShownName());
}

bool Copy::ShowResults(const std::vector<TableResult>& results,
                       SteadyClock::time_point begin) const {
  const Style style(stdout);
  size_t columns = 5;
  for (const TableResult& result : results) columns = std::max(columns, Columns(result.name));
  uint64_t rows = 0, differing = 0;
  if (!results.empty()) {
    absl::PrintF("%s  %12s  %-16s  %s\n", style.Bold(Padded("table", columns)), "rows", "checksum",
                 "target");
  }
  for (const TableResult& result : results) {
    rows += result.source.rows;
    absl::PrintF("%s  %12s  %016x  ", Padded(result.name, columns), Grouped(result.source.rows),
                 result.source.checksum);
    if (result.rows_that_differ == 0 && result.source.checksum == result.target.checksum) {
      absl::PrintF("%s\n", style.Good("the same"));
      continue;
    }
    ++differing;
    absl::PrintF("%s, %016x: %s\n%s  first: %s\n", Counted(result.target.rows, "row"),
                 result.target.checksum,
                 Counted(result.rows_that_differ, "row") +
                     (result.rows_that_differ == 1 ? " differs" : " differ"),
                 Padded("", columns), result.first_difference);
  }
  absl::PrintF("%s%s in %.1f s\n", results.empty() ? "" : "\n",
               options_.schema_only
                   ? "the schema is there, no rows were copied (--schema-only),"
                   : Counted(results.size(), "table") + ", " + Counted(rows, "row"),
               std::chrono::duration<double>(SteadyClock::now() - begin).count());
  if (differing == 0) return true;
  absl::PrintF(
      "%s not the same: where one side was written to meanwhile, run this again when it is not; "
      "rows that only the target has stay there\n",
      Counted(differing, "table"));
  return false;
}

absl::StatusOr<bool> Copy::Run() {
  const SteadyClock::time_point begin = SteadyClock::now();
  LS_RETURN_IF_ERROR(Open());
  LS_RETURN_IF_ERROR(CheckTarget());
  if (!options_.schema_only) LS_RETURN_IF_ERROR(CheckCounters());
  if (!options_.data_only) {
    for (const std::string& note : plan_.notes) {
      absl::FPrintF(stderr, "liststore %s: %s\n", options_.command, note);
    }
  }
  if (options_.dry_run) {
    ShowPlan();
    return true;
  }
  LS_RETURN_IF_ERROR(MakeSchema());
  std::vector<TableResult> results;
  if (!options_.schema_only) {
    ranges_max_ = std::max(1, static_cast<int>(tables_.size()) * 2 * kTokenRanges);
    for (const RemoteTable* const table : tables_) {
      table_begin_ = SteadyClock::now();
      LS_RETURN_IF_ERROR(CopyRows(*table));
      LS_ASSIGN_OR_RETURN(TableResult result, CompareRows(*table));
      results.push_back(std::move(result));
    }
  }
  progress_.Clear();
  return ShowResults(results, begin);
}

}  // namespace

int RunCopy(const CopyOptions& options) {
  absl::StatusOr<bool> same = false;
  {
    Copy copy(options);  // its progress bar goes before anything else is said
    same = copy.Run();
  }
  if (same.ok()) return *same ? kExitSame : kExitDifferent;
  absl::FPrintF(stderr, "liststore %s: %s\n", options.command, same.status().message());
  return kExitFailed;
}

}  // namespace liststore
