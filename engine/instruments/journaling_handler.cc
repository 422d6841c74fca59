#include "engine/instruments/journaling_handler.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/execute/kept_text.h"
#include "engine/execute/query_processor_call.h"

namespace liststore {
namespace {

using Prepared = std::shared_ptr<const PreparedStatement>;

// The client as the journal knows it.
const std::shared_ptr<const JournalClient>& IdentityOf(ClientState& client) {
  if (client.journal_client == nullptr || client.journal_client->keyspace != client.keyspace) {
    auto identity = std::make_shared<JournalClient>();
    identity->address = client.PeerText();
    identity->driver = client.driver_name;
    identity->user = client.user;
    identity->keyspace = client.keyspace;
    client.journal_client = std::move(identity);
  }
  return client.journal_client;
}

void SetParameters(const protocol::QueryParameters& parameters, JournalFacts& facts) {
  facts.consistency = protocol::ConsistencyName(parameters.consistency);
  facts.serial_consistency = protocol::ConsistencyName(parameters.serial_consistency);
  facts.page_size = parameters.page_size;
  facts.timestamp = parameters.default_timestamp;
}

void AddValues(std::span<const protocol::Value> values, std::span<const std::string_view> names,
               std::string_view sent, JournalWriter& record) {
  if (!sent.empty() && record.AddSentValues(sent, values.size(), !names.empty())) return;
  for (size_t i = 0; i < values.size(); ++i) {
    names.empty() ? record.AddValue(ToBound(values[i]))
                  : record.AddValue(ToBound(values[i]), names[i]);
  }
}

void AddValues(const protocol::QueryParameters& parameters, JournalWriter& record) {
  AddValues(parameters.values, parameters.value_names, parameters.sent_values, record);
}

void AddPrepared(const Prepared& statement, JournalWriter& record) {
  if (statement == nullptr) return record.AddUnknown();
  record.AddPrepared(statement);
}

void RecordExecute(const protocol::Execute& execute, const Prepared& prepared,
                   JournalWriter& record) {
  record.facts.kind = JournalFacts::Kind::kExecute;
  SetParameters(execute.parameters, record.facts);
  AddPrepared(prepared, record);
  AddValues(execute.parameters, record);
}

void RecordQuery(const protocol::Query& query, std::string_view text, JournalWriter& record) {
  record.facts.kind = JournalFacts::Kind::kQuery;
  SetParameters(query.parameters, record.facts);
  record.AddText(text);
  AddValues(query.parameters, record);
}

void RecordPrepare(std::string_view text, JournalWriter& record) {
  record.facts.kind = JournalFacts::Kind::kPrepare;
  record.AddText(text);
}

// Secrets are not written down: what may be about users ends with the word PASSWORD.
std::string_view WithoutSecrets(std::string_view text, const StatementOutline& outline) {
  const bool names_nothing = outline.table.empty() && outline.keyspace.empty();
  const bool may_be_of_users =
      outline.op == StatementOp::kOther ||
      (names_nothing && (outline.op == StatementOp::kCreate || outline.op == StatementOp::kAlter));
  return may_be_of_users ? KeptText(text, text.size()) : text;
}

}  // namespace

// Requests that came together, and what was found out about them before the journal is locked.
struct JournalingHandler::Group {
  // Where among those that are held stands the one that is none.
  static constexpr uint32_t kNone = 0;

  struct Entry {
    std::string_view text;      // of QUERY and PREPARE, as it is kept
    uint32_t prepared = kNone;  // of EXECUTE, among those that are held
    uint16_t request = 0;
    bool has_new_keyspace = false;
  };

  std::span<const PendingRequest> requests;
  uint64_t at_nanos = 0;
  uint64_t duration_nanos = 0;
  std::shared_ptr<const JournalClient> client_before = {};  // a USE of the group
  std::shared_ptr<const JournalClient> client_behind = {};
  // Those that are recorded.
  absl::InlinedVector<Entry, kRequestsPerTurnMax> entries = {};
  // Those of batches, one after the other, among those that are held; texts are none.
  std::vector<uint32_t> batch_statements = {};
  // Held once for all that execute them: counting holders takes longer than recording.
  absl::InlinedVector<Prepared, 8> held = {nullptr};

  // Records a request of which there is the same to tell as of the one before but for its timestamp
  // and values, as of most that come together; false: there is more to tell.
  bool Repeat(const Entry& before, const Entry& entry, JournalWriter& record) const {
    if (entry.prepared == kNone || entry.prepared != before.prepared) return false;
    const protocol::QueryParameters& a = ParametersOf(before);
    const protocol::QueryParameters& b = ParametersOf(entry);
    const Outcome& outcome_a = requests[before.request].outcome;
    const Outcome& outcome_b = requests[entry.request].outcome;
    const bool tells_the_same =
        outcome_a.answered == outcome_b.answered && outcome_a.delay == outcome_b.delay &&
        !outcome_a.error && !outcome_b.error && outcome_a.dead_rows == outcome_b.dead_rows &&
        entry.has_new_keyspace == before.has_new_keyspace && a.consistency == b.consistency &&
        a.serial_consistency == b.serial_consistency && a.page_size == b.page_size &&
        b.value_names.empty() && b.sent_values.empty() == b.values.empty();
    return tells_the_same && record.Repeat(b.default_timestamp, b.sent_values, b.values.size());
  }

 private:
  // Of an EXECUTE.
  const protocol::QueryParameters& ParametersOf(const Entry& entry) const {
    return std::get<protocol::Execute>(requests[entry.request].request->message).parameters;
  }
};

ConnectionOrders JournalingHandler::Handle(std::span<PendingRequest> requests, ClientState& client,
                                           OutputBuffer& out) {
  if (!journal_.enabled()) return next_.Handle(requests, client, out);
  const uint64_t at_nanos = clock_.NowNanos();
  // The server's clock may stand, or fly.
  const auto begin_time = std::chrono::steady_clock::now();
  std::shared_ptr<const JournalClient> client_before = IdentityOf(client);
  ConnectionOrders orders = next_.Handle(requests, client, out);
  const auto passed = std::chrono::steady_clock::now() - begin_time;

  Group group{.requests = requests};
  group.at_nanos = at_nanos;
  group.duration_nanos = static_cast<uint64_t>(std::chrono::nanoseconds(passed).count());
  group.client_before = std::move(client_before);
  group.client_behind = IdentityOf(client);
  Choose(client, group);
  Record(group);
  return orders;
}

void JournalingHandler::Choose(ClientState& client_state, Group& group) const {
  bool has_new_keyspace = false;
  // Drivers look after themselves with statements on system tables, and tests read the journal.
  bool last_is_servers = false;
  const auto find = [&](std::string_view id) {
    const Prepared& statement = client_state.statements.Find(statements_, id);
    if (statement == nullptr) return Group::kNone;
    if (statement != group.held.back()) {
      last_is_servers = IsServersKeyspace(statement->outline.keyspace);
      group.held.push_back(statement);
    }
    return static_cast<uint32_t>(group.held.size() - 1);
  };
  for (size_t i = 0; i < group.requests.size(); ++i) {
    const auto& message = group.requests[i].request->message;
    // Made where it stays, and taken back when the request is not recorded.
    Group::Entry& entry = group.entries.emplace_back();
    entry.request = static_cast<uint16_t>(i);
    entry.has_new_keyspace = has_new_keyspace;
    if (const auto* execute = std::get_if<protocol::Execute>(&message)) {
      entry.prepared = find(execute->id);
      if (entry.prepared != Group::kNone && last_is_servers) group.entries.pop_back();
    } else if (const auto* batch = std::get_if<protocol::Batch>(&message)) {
      for (const protocol::BatchStatement& statement : batch->statements) {
        const bool prepared = statement.kind == protocol::BatchStatement::Kind::kPrepared;
        group.batch_statements.push_back(prepared ? find(statement.query_or_id) : Group::kNone);
      }
    } else {
      const auto* query = std::get_if<protocol::Query>(&message);
      const std::string_view text =
          query != nullptr ? query->query : std::get<protocol::Prepare>(message).query;
      const JournalClient& client = has_new_keyspace ? *group.client_behind : *group.client_before;
      const StatementOutline outline = OutlineOf(text, client.keyspace);
      has_new_keyspace |= outline.op == StatementOp::kUse && query != nullptr &&
                          group.client_before != group.client_behind;
      entry.text = WithoutSecrets(text, outline);
      if (IsServersKeyspace(outline.keyspace)) group.entries.pop_back();
    }
  }
}

// `first`: where the batch's statements begin among those of all batches.
void JournalingHandler::RecordBatch(const protocol::Batch& batch, const Group& group, size_t first,
                                    JournalWriter& record) {
  record.facts.kind = JournalFacts::Kind::kBatch;
  SetParameters(batch.parameters, record.facts);
  for (size_t i = 0; i < batch.statements.size(); ++i) {
    const protocol::BatchStatement& statement = batch.statements[i];
    if (statement.kind == protocol::BatchStatement::Kind::kPrepared) {
      AddPrepared(group.held[group.batch_statements[first + i]], record);
    } else {
      record.AddText(statement.query_or_id);
    }
    AddValues(statement.values, {}, statement.sent_values, record);
  }
}

void JournalingHandler::Record(const Group& group) {
  if (group.entries.empty()) return;
  size_t batch_statement = 0;
  journal_.Append(group.entries.size(), [&](size_t i, JournalWriter& record) {
    const Group::Entry& entry = group.entries[i];
    if (i > 0 && group.Repeat(group.entries[i - 1], entry, record)) return;
    const Outcome& outcome = group.requests[entry.request].outcome;
    record.facts.at_nanos = group.at_nanos;
    record.facts.duration_nanos =
        group.duration_nanos + static_cast<uint64_t>(outcome.delay.count());
    record.facts.outcome = outcome.Name();
    record.facts.dead_rows = outcome.dead_rows;
    record.SetClient(entry.has_new_keyspace ? group.client_behind : group.client_before);
    const auto& message = group.requests[entry.request].request->message;
    if (const auto* execute = std::get_if<protocol::Execute>(&message)) {
      RecordExecute(*execute, group.held[entry.prepared], record);
    } else if (const auto* query = std::get_if<protocol::Query>(&message)) {
      RecordQuery(*query, entry.text, record);
    } else if (const auto* batch = std::get_if<protocol::Batch>(&message)) {
      RecordBatch(*batch, group, batch_statement, record);
      batch_statement += batch->statements.size();
    } else {
      RecordPrepare(entry.text, record);
    }
    record.SetError(outcome.message);
  });
}

}  // namespace liststore
