#include "engine/instruments/lint.h"

#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "engine/base/big_endian.h"
#include "engine/base/time_unit.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/syntax/lexer.h"
#include "engine/cql/values/encode_value.h"
#include "engine/instruments/large_partitions.h"
#include "engine/instruments/request_reading.h"

namespace liststore::instruments {
namespace {

bool IsLiteral(cql::TokenKind kind) {
  switch (kind) {
    case cql::TokenKind::kString:
    case cql::TokenKind::kInteger:
    case cql::TokenKind::kFloat:
    case cql::TokenKind::kUuid:
    case cql::TokenKind::kHex:
    case cql::TokenKind::kBoolean:
    case cql::TokenKind::kDuration:
      return true;
    default:
      return false;
  }
}

bool AllowsFiltering(std::string_view text) {
  cql::Lexer lexer(text);
  for (cql::Lexeme token = lexer.Next(), before;
       token.kind != cql::TokenKind::kEnd && token.kind != cql::TokenKind::kInvalid;
       before = token, token = lexer.Next()) {
    if (before.keyword == cql::Keyword::kALLOW && token.keyword == cql::Keyword::kFILTERING)
      return true;
  }
  return false;
}

std::string QualifiedName(const TableDefinition& table) {
  return table.keyspace + "." + table.name;
}

// INSERT and UPDATE that keep a row forever. Counters have no choice.
bool KeepsForEver(const cql::ModificationPlan& plan) {
  const bool writes = plan.kind == cql::ModificationPlan::Kind::kInsert ||
                      plan.kind == cql::ModificationPlan::Kind::kUpdate;
  return writes && !plan.is_counter && !plan.ttl && plan.table->options.default_ttl_seconds == 0;
}

// The value of USING TIMESTAMP; nullopt: there is none, or it is not known.
std::optional<int64_t> TimestampOf(const std::optional<cql::Operand>& operand,
                                   const std::optional<std::vector<cql::BoundValue>>& bound) {
  if (!operand || !bound) return std::nullopt;
  const cql::BoundValue value = cql::Peek(*operand, *bound);
  if (!value.has_value() || value.bytes.size() != 8) return std::nullopt;
  return static_cast<int64_t>(LoadBigEndian64(value.bytes.data()));
}

// Looks at one request after the other, and keeps what it found.
class Linter {
 public:
  explicit Linter(bool honours_client_timestamps)
      : honours_client_timestamps_(honours_client_timestamps) {}

  void Look(const JournalRecord& record, const RequestReading& reading) {
    record_ = &record;
    LookForUnprepared(reading);
    LookAtBatch(reading);
    if (record.dead_rows > kLintDeadRowsMax) {
      Find("tombstones", reading.table.empty() ? StatementShape(reading.text) : reading.table,
           std::to_string(record.dead_rows) + " rows that are deleted or over were passed over, " +
               "more than " + std::to_string(kLintDeadRowsMax));
    }
    for (const StatementReading& statement : reading.statements) {
      if (AllowsFiltering(statement.text)) Find("allow_filtering", StatementShape(statement.text));
      LookForKeys(statement);
      LookAtWrites(statement);
    }
  }

  std::vector<LintFinding> Take() {
    std::vector<LintFinding> findings;
    for (auto& [name, finding] : findings_) {
      if (finding.rule == "unprepared" && finding.count < kLintUnpreparedMin) continue;
      findings.push_back(std::move(finding));
    }
    return findings;
  }

 private:
  // Of a request once for each rule and subject.
  void Find(const std::string& rule, const std::string& subject, const std::string& detail = {}) {
    LintFinding& finding = findings_[{rule, subject}];
    if (finding.count == 0) finding = {rule, subject, 0, detail, record_->seq()};
    uint64_t& last_seq = last_seqs_[{rule, subject}];
    if (last_seq != record_->seq()) ++finding.count;
    last_seq = record_->seq();
  }

  void LookForUnprepared(const RequestReading& reading) {
    if (record_->kind != execute::RequestKind::kQuery) return;
    if (reading.op == cql::StatementOp::kSelect || reading.op == cql::StatementOp::kInsert ||
        reading.op == cql::StatementOp::kUpdate || reading.op == cql::StatementOp::kDelete) {
      Find("unprepared", StatementShape(reading.text));
    }
  }

  void LookAtBatch(const RequestReading& reading) {
    if (reading.op != cql::StatementOp::kBatch) return;
    cql::Partitions partitions;
    for (const StatementReading& statement : reading.statements) {
      cql::Partitions of_statement = PartitionsOf(statement);
      partitions.merge(of_statement);
    }
    if (partitions.size() < 2) return;
    Find("batch_partitions", StatementShape(reading.text),
         std::to_string(partitions.size()) + " partitions");
  }

  void LookForKeys(const StatementReading& statement) {
    const auto* select =
        statement.plan == nullptr ? nullptr : std::get_if<cql::SelectPlan>(&statement.plan->body);
    if (select == nullptr) return;
    const size_t keys = PartitionsOf(statement).size();
    if (keys <= kLintKeysMax) return;
    Find("in_keys", QualifiedName(*select->table),
         std::to_string(keys) + " partitions, more than " + std::to_string(kLintKeysMax));
  }

  void LookAtWrites(const StatementReading& statement) {
    if (statement.plan == nullptr) return;
    if (const auto* change = std::get_if<cql::ModificationPlan>(&statement.plan->body)) {
      LookAtWrite(*change, TimestampOf(change->timestamp, statement.bound));
    } else if (const auto* batch = std::get_if<cql::BatchPlan>(&statement.plan->body)) {
      const std::optional<int64_t> of_batch = TimestampOf(batch->timestamp, statement.bound);
      for (const cql::ModificationPlan& part : batch->modifications) {
        const std::optional<int64_t> own = TimestampOf(part.timestamp, statement.bound);
        LookAtWrite(part, own ? own : of_batch);
      }
    }
  }

  // `said`: by USING TIMESTAMP, which comes before what the driver gave.
  void LookAtWrite(const cql::ModificationPlan& plan, std::optional<int64_t> said) {
    if (KeepsForEver(plan)) Find("no_ttl", QualifiedName(*plan.table));
    const std::optional<int64_t> timestamp =
        said || !honours_client_timestamps_ ? said : record_->timestamp;
    if (!timestamp || *timestamp < 0) return;
    const auto unit = LikelyUnit(static_cast<uint64_t>(*timestamp), record_->at_nanos);
    if (unit && unit != TimeUnit::kMicroseconds) {
      return Find("timestamp_unit", QualifiedName(*plan.table),
                  "timestamp " + std::to_string(*timestamp) + " looks like " +
                      std::string(ToString(*unit)) + " since 1970; microseconds are wanted");
    }
    const auto now = static_cast<int64_t>(record_->at_nanos / 1000);
    if (*timestamp <= now + kLintAheadMicrosMax) return;
    Find("future_timestamp", QualifiedName(*plan.table),
         "timestamp " + std::to_string(*timestamp) + " at " + std::to_string(now) +
             " us by the server's clock");
  }

  const bool honours_client_timestamps_;
  const JournalRecord* record_ = nullptr;
  std::map<std::pair<std::string, std::string>, LintFinding> findings_;
  std::map<std::pair<std::string, std::string>, uint64_t> last_seqs_;
};

constexpr cql::TableSpec kLintSpec = {"liststore",
                                      "lint",
                                      "lint text",
                                      "rule text, subject text",
                                      "count bigint, detail text, seq bigint",
                                      "habits that hurt at scale"};

LintFinding FindingOf(const LargePartitions& large) {
  return {.rule = "large_partition",
          .subject = large.table,
          .count = large.count,
          .detail = "partition " + large.largest_key + " has " +
                    std::to_string(large.largest_bytes) + " bytes of keys and values, more than " +
                    std::to_string(kLintPartitionBytesMax)};
}

void AppendFinding(const LintFinding& finding, cql::RowCollector& rows) {
  rows.Row()
      .Set("lint", "lint")
      .Set("rule", finding.rule)
      .Set("subject", finding.subject)
      .Set("count", cql::EncodeBigint(static_cast<int64_t>(finding.count)));
  if (!finding.detail.empty()) rows.Set("detail", finding.detail);
  if (finding.first_seq != 0) {
    rows.Set("seq", cql::EncodeBigint(static_cast<int64_t>(finding.first_seq)));
  }
}

}  // namespace

std::vector<LintFinding> Lint(const Journal& journal, const Schema& schema,
                              bool honours_client_timestamps) {
  Linter linter(honours_client_timestamps);
  journal.ForEach([&](const JournalRecord& record) {
    if (std::string_view(record.outcome) != "ok" || record.kind == execute::RequestKind::kPrepare)
      return;
    linter.Look(record, ReadRequest(record, schema));
  });
  return linter.Take();
}

std::string StatementShape(std::string_view text) {
  std::string shape;
  const char* copied = text.data();
  cql::Lexer lexer(text);
  for (cql::Lexeme token = lexer.Next();
       token.kind != cql::TokenKind::kEnd && token.kind != cql::TokenKind::kInvalid;
       token = lexer.Next()) {
    if (!IsLiteral(token.kind)) continue;
    shape.append(copied, token.text.data()).append("?");
    copied = token.text.data() + token.text.size();
  }
  shape.append(copied, text.data() + text.size());
  return shape;
}

std::unique_ptr<cql::VirtualTable> MakeLintTable(const Journal& journal, shard::Engine& engine,
                                                 std::function<bool()> replaces_client_timestamps) {
  return std::make_unique<cql::ComputedTable>(
      kLintSpec, [&journal, &engine, replaces = std::move(replaces_client_timestamps)](
                     const cql::VirtualReadContext& context, cql::RowCollector& rows) {
        const bool honours = !replaces || !replaces();
        for (const LintFinding& finding : Lint(journal, context.schema, honours)) {
          AppendFinding(finding, rows);
        }
        for (const LargePartitions& large :
             FindLargePartitions(engine, context.schema, context.now_nanos)) {
          AppendFinding(FindingOf(large), rows);
        }
      });
}

}  // namespace liststore::instruments
