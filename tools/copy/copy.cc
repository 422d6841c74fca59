#include "tools/copy/copy.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/base/status_macros.h"
#include "programs/console/exit_codes.h"
#include "programs/console/failure.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"
#include "tools/copy/remote_schema.h"
#include "tools/copy/role_copy.h"
#include "tools/copy/schema_copy.h"
#include "tools/copy/table_comparison.h"
#include "tools/copy/table_reader.h"
#include "tools/copy/table_writer.h"

namespace liststore {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Reading and writing a cell lie in different seconds, and servers count whole ones.
constexpr int64_t kToleranceSeconds = 2;
constexpr std::chrono::seconds kAgreementMax{30};
constexpr std::chrono::seconds kViewLagMax{10};

absl::Status WithHint(const absl::Status& status, const std::string& hint) {
  return absl::Status(status.code(), absl::StrCat(status.message(), "; ", hint));
}

absl::StatusOr<std::unique_ptr<CqlClient>> ConnectToCluster(const CopyOptions& options) {
  auto client =
      CqlClient::Connect(options.cluster, options.cluster_credentials, options.cluster_tls);
  if (!absl::IsUnauthenticated(client.status())) return client;
  return WithHint(client.status(), "give --user and --password");
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
    bool is_view = false;

    bool is_same() const { return rows_that_differ == 0 && source.checksum == target.checksum; }
  };

  absl::Status Open();
  // Those that are not wanted, or that are missing at the target and are not to be made there.
  void LeaveOutViews();
  // FailedPrecondition: something stands in the way; nothing was written.
  absl::Status CheckTarget() const;
  // Tables that would not be the same when they were written twice have to be empty.
  absl::Status CheckWhatGrows();
  // What would not be the same when it was written twice; nullptr: the table has nothing such.
  const char* WhatGrows(const RemoteTable& table) const;
  absl::Status MakeSchema();
  // Behind the schema, for grants name what is there.
  absl::Status MakeRoles();
  absl::Status AwaitAgreement();
  absl::StatusOr<TableReader> ReaderOf(bool source, const RemoteTable& table) const {
    return TableReader::Open(source ? *source_ : *target_, table, options_.page_rows,
                             source ? source_schema_ : target_schema_);
  }
  absl::Status CopyRows(const RemoteTable& table);
  // All tables and views.
  absl::StatusOr<std::vector<TableResult>> CopyAndCompare();
  absl::StatusOr<TableResult> CompareRows(const RemoteTable& table,
                                          TableComparison::Ttls ttls = {});
  // Views whose tables were copied. `results`: of these; theirs are added.
  absl::Status CompareViews(std::vector<TableResult>& results);
  absl::StatusOr<TableResult> CompareView(const RemoteTable& view, bool table_is_the_same);
  absl::StatusOr<bool> IsBuilt(const RemoteTable& view);
  // Until the target has filled it; false: it had not when the time was over.
  absl::StatusOr<bool> AwaitView(const RemoteTable& view);
  void ShowPlan() const;
  bool ShowResults(const std::vector<TableResult>& results, SteadyClock::time_point begin) const;
  // One of the ranges of a table was read through.
  void Progress() {
    // A view may be read more than once.
    progress_.Update(std::min(1.0, static_cast<double>(++ranges_) / ranges_max_), rows_);
  }
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
  RoleCopy role_plan_;
  ProgressBar progress_{"rows"};
  size_t views_ = 0;
  int ranges_ = 0;
  int ranges_max_ = 1;
  uint64_t rows_ = 0;
  SteadyClock::time_point table_begin_;
};

absl::Status Copy::Open() {
  if (AddressOf(options_.via) == options_.cluster) {
    return absl::InvalidArgumentError(options_.cluster +
                                      " is both sides: rows are copied from one "
                                      "server to another");
  }
  LS_ASSIGN_OR_RETURN(auto via, ConnectTo(options_.via, "via-"));
  LS_ASSIGN_OR_RETURN(auto cluster, ConnectToCluster(options_));
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
  LeaveOutViews();
  plan_ = PlanSchemaCopy(wanted_, source_schema_, target_schema_, options_.replication);
  if (options_.roles) {
    auto roles = PlanRoleCopy(*source_, *target_);
    if (!roles.ok()) {
      return WithHint(roles.status(),
                      "--roles needs superusers of both sides, each a ScyllaDB from "
                      "2025.1 on or liststore");
    }
    role_plan_ = *std::move(roles);
  }
  return absl::OkStatus();
}

void Copy::LeaveOutViews() {
  for (RemoteKeyspace& keyspace : wanted_) {
    const RemoteKeyspace* const there = target_schema_.Find(keyspace.name);
    std::erase_if(keyspace.views, [&](const RemoteView& view) {
      if (options_.no_views) return true;
      if (!options_.data_only) return false;
      const bool is_missing = there == nullptr || there->FindView(view.table.name) == nullptr;
      if (is_missing) {
        absl::FPrintF(stderr, "liststore %s: view %s is not there, and --data-only makes none\n",
                      options_.command, view.table.ShownName());
      }
      return is_missing;
    });
    views_ += keyspace.views.size();
  }
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

const char* Copy::WhatGrows(const RemoteTable& table) const {
  if (table.is_counter()) return "counters";
  // A list of Cassandra's puts what is appended behind what is there, be it the same.
  const bool appends =
      !target_schema_.places_elements && source_schema_.part_times != PartTimes::kNever;
  const bool has_lists = std::ranges::find(table.columns, RemoteColumn::Parts::kList,
                                           &RemoteColumn::parts) != table.columns.end();
  return appends && has_lists ? "lists there" : nullptr;
}

absl::Status Copy::CheckWhatGrows() {
  for (const RemoteTable* const table : tables_) {
    const char* const what = WhatGrows(*table);
    const RemoteKeyspace* const keyspace = target_schema_.Find(table->keyspace);
    if (what == nullptr || keyspace == nullptr || keyspace->FindTable(table->name) == nullptr) {
      continue;
    }
    LS_ASSIGN_OR_RETURN(const CqlRows rows,
                        target_->Query("SELECT * FROM " + table->QuotedName() + " LIMIT 1"));
    if (rows.size() == 0) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(target_->server(), ": nothing was written: ", what,
                     " can only be added to, and ", table->ShownName(),
                     " is not empty; truncate it, or name with --table what is to be copied"));
  }
  return absl::OkStatus();
}

absl::Status Copy::MakeSchema() {
  if (options_.data_only) return absl::OkStatus();
  for (const auto* const statements :
       {&plan_.statements, &plan_.index_statements, &plan_.view_statements}) {
    for (const std::string& statement : *statements) {
      const absl::Status made = target_->Query(statement).status();
      if (made.ok()) continue;
      if (statement.starts_with("CREATE KEYSPACE")) {
        return WithHint(made, "--replication gives another one than the source has");
      }
      return statements == &plan_.view_statements
                 ? WithHint(made, "--no-views leaves materialized views out")
                 : made;
    }
    LS_RETURN_IF_ERROR(AwaitAgreement());
  }
  return absl::OkStatus();
}

absl::Status Copy::MakeRoles() {
  for (const std::string& statement : role_plan_.statements) {
    const absl::Status made = target_->Query(statement).status();
    if (made.ok()) continue;
    // Of what was not copied nothing can be granted.
    const bool is_missing =
        statement.starts_with("GRANT ") && absl::StrContains(made.message(), "doesn't exist");
    if (!is_missing) return made;
    absl::FPrintF(stderr, "liststore %s: left out: %s (%s)\n", options_.command, statement,
                  made.message());
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
                      TableWriter::Open(*target_, table, target_schema_, reader.page().layout()));
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

absl::StatusOr<Copy::TableResult> Copy::CompareRows(const RemoteTable& table,
                                                    TableComparison::Ttls ttls) {
  LS_ASSIGN_OR_RETURN(TableReader source, ReaderOf(true, table));
  LS_ASSIGN_OR_RETURN(TableReader target, ReaderOf(false, table));
  TableComparison comparison(table, source.page().layout(), target.page().layout(), ttls);
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
  return TableResult{table.ShownName(),
                     comparison.totals(TableComparison::kSource),
                     comparison.totals(TableComparison::kTarget),
                     comparison.rows_that_differ(),
                     comparison.first_difference(),
                     ttls == TableComparison::Ttls::kLeftOut};
}

absl::StatusOr<bool> Copy::IsBuilt(const RemoteTable& view) {
  const std::string of_view = " WHERE keyspace_name = ? AND view_name = ?";
  const std::string_view names[] = {view.keyspace, view.name};
  LS_ASSIGN_OR_RETURN(const CqlRows here,
                      target_->Query("SELECT view_name FROM system.built_views" + of_view, names));
  if (here.size() == 0) return false;
  // Of every node, where there are several.
  const absl::StatusOr<CqlRows> nodes =
      target_->Query("SELECT status FROM system_distributed.view_build_status" + of_view, names);
  if (!nodes.ok()) return true;
  for (size_t row = 0; row < nodes->size(); ++row) {
    if (nodes->at(row, 0) != "SUCCESS") return false;
  }
  return true;
}

absl::StatusOr<bool> Copy::AwaitView(const RemoteTable& view) {
  const auto until = SteadyClock::now() + std::chrono::seconds(options_.view_seconds);
  while (true) {
    LS_ASSIGN_OR_RETURN(const bool is_built, IsBuilt(view));
    if (is_built || SteadyClock::now() > until) return is_built;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

absl::StatusOr<Copy::TableResult> Copy::CompareView(const RemoteTable& view,
                                                    bool table_is_the_same) {
  LS_ASSIGN_OR_RETURN(const bool is_built, AwaitView(view));
  if (!is_built) {
    absl::FPrintF(stderr, "liststore %s: view %s: %s has not filled it for %d s: %s\n",
                  options_.command, view.ShownName(), target_->server(), options_.view_seconds,
                  "it is compared as it is; --view-seconds waits longer");
  }
  // Servers write what a view gets behind the write to its table, and do not say when.
  const auto until = SteadyClock::now() + kViewLagMax;
  while (true) {
    LS_ASSIGN_OR_RETURN(TableResult result, CompareRows(view, TableComparison::Ttls::kLeftOut));
    if (result.is_same() || !is_built || !table_is_the_same || SteadyClock::now() > until) {
      return result;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

absl::Status Copy::CompareViews(std::vector<TableResult>& results) {
  for (const RemoteKeyspace& keyspace : wanted_) {
    for (const RemoteView& view : keyspace.views) {
      const std::string base = keyspace.name + "." + view.base;
      const auto table = std::ranges::find(results, base, &TableResult::name);
      LS_ASSIGN_OR_RETURN(TableResult result,
                          CompareView(view.table, table != results.end() && table->is_same()));
      results.push_back(std::move(result));
    }
  }
  return absl::OkStatus();
}

void Copy::ShowPlan() const {
  for (const auto* const statements :
       {&plan_.statements, &plan_.index_statements, &plan_.view_statements}) {
    if (options_.data_only) continue;
    for (const std::string& statement : *statements) absl::PrintF("%s;\n", statement);
  }
  for (const std::string& statement : role_plan_.statements) {
    absl::PrintF("%s\n", WithoutHash(statement));
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
  uint64_t rows = 0, views = 0, differing = 0;
  if (!results.empty()) {
    absl::PrintF("%s  %12s  %-16s  %s\n", style.Bold(Padded("table", columns)), "rows", "checksum",
                 "target");
  }
  for (const TableResult& result : results) {
    (result.is_view ? views : rows) += result.is_view ? 1 : result.source.rows;
    absl::PrintF("%s  %12s  %016x  ", Padded(result.name, columns), Grouped(result.source.rows),
                 result.source.checksum);
    if (result.is_same()) {
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
                   : Counted(results.size() - views, "table") + ", " + Counted(rows, "row") +
                         (views == 0 ? "" : ", " + Counted(views, "view")),
               std::chrono::duration<double>(SteadyClock::now() - begin).count());
  if (differing == 0) return true;
  absl::PrintF(
      "%s not the same: where one side was written to meanwhile, run this again when it is not; "
      "rows that only the target has stay there\n",
      Counted(differing, "table"));
  return false;
}

absl::StatusOr<std::vector<Copy::TableResult>> Copy::CopyAndCompare() {
  std::vector<TableResult> results;
  ranges_max_ = std::max(1, static_cast<int>(tables_.size() * 2 + views_) * kTokenRanges);
  for (const RemoteTable* const table : tables_) {
    table_begin_ = SteadyClock::now();
    LS_RETURN_IF_ERROR(CopyRows(*table));
    LS_ASSIGN_OR_RETURN(TableResult result, CompareRows(*table));
    results.push_back(std::move(result));
  }
  LS_RETURN_IF_ERROR(CompareViews(results));
  return results;
}

absl::StatusOr<bool> Copy::Run() {
  const SteadyClock::time_point begin = SteadyClock::now();
  LS_RETURN_IF_ERROR(Open());
  LS_RETURN_IF_ERROR(CheckTarget());
  if (!options_.schema_only) LS_RETURN_IF_ERROR(CheckWhatGrows());
  if (!options_.data_only) {
    for (const std::string& note : plan_.notes) {
      absl::FPrintF(stderr, "liststore %s: %s\n", options_.command, note);
    }
  }
  for (const std::string& note : role_plan_.notes) {
    absl::FPrintF(stderr, "liststore %s: %s\n", options_.command, note);
  }
  if (options_.dry_run) {
    ShowPlan();
    return true;
  }
  LS_RETURN_IF_ERROR(MakeSchema());
  LS_RETURN_IF_ERROR(MakeRoles());
  std::vector<TableResult> results;
  if (!options_.schema_only) {
    auto compared = CopyAndCompare();
    if (!compared.ok()) {
      return WithHint(compared.status(), "what was copied, " + Counted(rows_, "row") +
                                             ", stays there: when it is mended run this again");
    }
    results = *std::move(compared);
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
  if (!same.ok()) return ReportFailure(options.command, same.status());
  return *same ? kExitSame : kExitDifferent;
}

}  // namespace liststore
