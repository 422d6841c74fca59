#include "engine/instruments/journaling_handler.h"

#include <algorithm>
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

namespace liststore::instruments {
namespace {

// The client as the journal knows it.
const std::shared_ptr<const JournalClient>& IdentityOf(execute::ClientState& client) {
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
    names.empty() ? record.AddValue(execute::ToBound(values[i]))
                  : record.AddValue(execute::ToBound(values[i]), names[i]);
  }
}

void AddStatement(const execute::StatementView& statement, std::string_view text,
                  JournalWriter& record) {
  if (!statement.is_prepared()) return record.AddText(text);
  if (statement.prepared() == nullptr) return record.AddUnknown();
  record.AddPrepared(*statement.prepared(), statement.prepared()->bytes);
}

// Secrets are not written down: what may be about users ends with the word PASSWORD.
std::string_view WithoutSecrets(std::string_view text, const cql::StatementOutline& outline) {
  const bool names_nothing = outline.table.empty() && outline.keyspace.empty();
  const bool may_be_of_users = outline.op == cql::StatementOp::kOther ||
                               (names_nothing && (outline.op == cql::StatementOp::kCreate ||
                                                  outline.op == cql::StatementOp::kAlter));
  return may_be_of_users ? execute::KeptText(text, text.size()) : text;
}

}  // namespace

// Requests that came together, and what was found out about them before the journal is locked.
struct JournalingHandler::Group {
  struct Entry {
    execute::RequestView* request = nullptr;
    std::string_view text;  // of QUERY and PREPARE, as it is kept
    bool has_new_keyspace = false;
  };

  // By its members, and not as an aggregate: that would be cleared, all 2 KiB of it.
  Group(std::span<execute::RequestView> of, const std::shared_ptr<const JournalClient>& before,
        const std::shared_ptr<const JournalClient>& behind)
      : requests(of), client_before(before), client_behind(behind) {}

  const std::span<execute::RequestView> requests;
  uint64_t at_nanos = 0;
  uint64_t duration_nanos = 0;
  // Of a USE in the group; the same where there is none.
  const std::shared_ptr<const JournalClient>& client_before;
  const std::shared_ptr<const JournalClient>& client_behind;
  // Those that are recorded.
  absl::InlinedVector<Entry, execute::kRequestsPerTurnMax> entries;
};

namespace {

// Records a request of which there is the same to tell as of the one before but for its timestamp
// and values, as of most that come together; false: there is more to tell.
template <typename Entry>
bool Repeat(const Entry& before, const Entry& entry, JournalWriter& record) {
  const execute::PreparedStatement* const prepared = entry.request->statement().prepared();
  if (prepared == nullptr || prepared != before.request->statement().prepared()) return false;
  const protocol::QueryParameters& a = before.request->parameters();
  const protocol::QueryParameters& b = entry.request->parameters();
  const execute::Outcome& outcome_a = before.request->outcome;
  const execute::Outcome& outcome_b = entry.request->outcome;
  const bool tells_the_same =
      outcome_a.answered == outcome_b.answered && outcome_a.delay == outcome_b.delay &&
      !outcome_a.error && !outcome_b.error && outcome_a.dead_rows == outcome_b.dead_rows &&
      entry.has_new_keyspace == before.has_new_keyspace && a.consistency == b.consistency &&
      a.serial_consistency == b.serial_consistency && a.page_size == b.page_size &&
      b.value_names.empty() && b.sent_values.empty() == b.values.empty();
  return tells_the_same && record.Repeat(b.default_timestamp, b.sent_values, b.values.size());
}

}  // namespace

execute::ConnectionOrders JournalingHandler::Handle(std::span<execute::RequestView> requests,
                                                    execute::ClientState& client,
                                                    OutputBuffer& out) {
  if (!journal_.enabled()) return next_.Handle(requests, client, out);
  const uint64_t at_nanos = clock_.NowNanos();
  // The server's clock may stand, or fly.
  const auto begin_time =
      client.place.begun_at ? *client.place.begun_at : std::chrono::steady_clock::now();
  IdentityOf(client);  // as it is before a USE
  execute::ConnectionOrders orders = next_.Handle(requests, client, out);
  const auto passed = std::chrono::steady_clock::now() - begin_time;

  // Counting holders takes longer than all else here: nobody is held but who is replaced.
  std::shared_ptr<const JournalClient> replaced;
  if (client.journal_client->keyspace != client.keyspace) replaced = client.journal_client;
  const std::shared_ptr<const JournalClient>& behind = IdentityOf(client);
  Group group(requests, replaced != nullptr ? replaced : behind, behind);
  group.at_nanos = at_nanos;
  group.duration_nanos = static_cast<uint64_t>(std::chrono::nanoseconds(passed).count());
  Choose(client, group);
  Record(group);
  return orders;
}

void JournalingHandler::Choose(execute::ClientState& client_state, Group& group) const {
  bool has_new_keyspace = false;
  // Drivers look after themselves with statements on system tables, and tests read the journal.
  const execute::PreparedStatement* last = nullptr;
  bool last_is_servers = false;
  for (execute::RequestView& request : group.requests) {
    if (!request.outcome.IsOver()) continue;
    // Made where it stays, and taken back when the request is not recorded.
    Group::Entry& entry = group.entries.emplace_back();
    entry.request = &request;
    entry.has_new_keyspace = has_new_keyspace;
    // What a fault has met nobody may have looked up.
    const auto find = [&](execute::StatementView& statement) {
      if (statement.prepared() == nullptr) statement.Find(client_state.statements, statements_);
    };
    if (request.kind() == execute::RequestKind::kBatch) {
      std::ranges::for_each(request.statements(), find);
      continue;
    }
    execute::StatementView& statement = request.statement();
    find(statement);
    if (statement.is_prepared()) {
      if (statement.prepared() != last) {
        last = statement.prepared();
        last_is_servers = last != nullptr && cql::IsServersKeyspace(last->outline.keyspace);
      }
      if (last_is_servers) group.entries.pop_back();
      continue;
    }
    const JournalClient& client = has_new_keyspace ? *group.client_behind : *group.client_before;
    const cql::StatementOutline& outline = statement.Outline(client.keyspace);
    has_new_keyspace |= outline.op == cql::StatementOp::kUse &&
                        request.kind() == execute::RequestKind::kQuery &&
                        group.client_before != group.client_behind;
    entry.text = WithoutSecrets(statement.text(), outline);
    if (cql::IsServersKeyspace(outline.keyspace)) group.entries.pop_back();
  }
}

void JournalingHandler::Record(const Group& group) {
  if (group.entries.empty()) return;
  journal_.Append(group.entries.size(), [&](size_t i, JournalWriter& record) {
    const Group::Entry& entry = group.entries[i];
    if (i > 0 && Repeat(group.entries[i - 1], entry, record)) return;
    execute::RequestView& request = *entry.request;
    const execute::Outcome& outcome = request.outcome;
    record.facts.at_nanos = group.at_nanos;
    record.facts.duration_nanos =
        group.duration_nanos + static_cast<uint64_t>(outcome.delay.count());
    record.facts.outcome = outcome.Name();
    record.facts.dead_rows = outcome.dead_rows;
    record.facts.kind = request.kind();
    record.SetClient(entry.has_new_keyspace ? group.client_behind : group.client_before);
    if (request.kind() == execute::RequestKind::kPrepare) {
      record.AddText(entry.text);
    } else {
      const protocol::QueryParameters& parameters = request.parameters();
      SetParameters(parameters, record.facts);
      for (const execute::StatementView& statement : request.statements()) {
        const bool of_batch = request.kind() == execute::RequestKind::kBatch;
        AddStatement(statement, of_batch ? statement.text() : entry.text, record);
        of_batch
            ? AddValues(statement.values(), {}, statement.sent_values(), record)
            : AddValues(parameters.values, parameters.value_names, parameters.sent_values, record);
      }
    }
    record.SetError(outcome.message);
  });
}

}  // namespace liststore::instruments
