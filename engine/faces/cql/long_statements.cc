#include "engine/faces/cql/long_statements.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/faces/cql/compressed_answers.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"

namespace liststore::cql_face {

using execute::Deferral;
using protocol::Compression;

namespace {

// Instead of a client's: those of the schema have the threads of one client, since they wait for
// each other.
constexpr uint64_t kSchemaClient = UINT64_MAX;

// What a request may take of memory until it is answered, results aside; 0: so little that it is not
// counted. A token of a text takes up to 600 bytes while it is planned, and two bytes of the text; an
// element of a collection, or a statement of a batch by its id, some 30 bytes for each of its own.
uint64_t WorkBytes(protocol::Opcode opcode, size_t body_bytes) {
  constexpr size_t kSmall = execute::kLoopTextBytesMax;
  constexpr uint64_t kBytesOfTextByte = 300;
  constexpr uint64_t kBytesOfValueByte = 32;
  if (body_bytes <= kSmall) return 0;
  const bool has_values_alone = opcode == protocol::Opcode::kExecute;
  return body_bytes * (has_values_alone ? kBytesOfValueByte : kBytesOfTextByte);
}

}  // namespace

// Made by the loop, then a worker's until it has posted that it is done, then the loop's again; but
// for what is said of it.
struct LongStatements::Statement {
  // As the loop has made it.
  DeferredRequest request;
  uint32_t body_bytes_max = 0;
  Compression compression = Compression::kNone;
  // Any thread: nobody waits for it.
  std::atomic<bool> is_cancelled{false};
  // The worker's while it works.
  execute::ClientState client;
  OutputBuffer answer;
  execute::ConnectionOrders orders;
  // That it is done is said in any case.
  runtime::PostMemory done_memory;
  // The loop's.
  LongStatements* owner = nullptr;  // nullptr: it has gone
  bool is_done = false;
};

execute::WorkPlace LoopPatience::Place() {
  if (deferrals_ > kDeferralsMax && std::chrono::steady_clock::now() - since_ > kWindow) {
    deferrals_ = 0;
  }
  const int part = deferrals_ > kDeferralsMax ? kLessPatience : 1;
  return {.units_max = execute::kLoopUnitsMax / part, .time_max = execute::kLoopTimeMax / part};
}

void LoopPatience::NoteDeferral() {
  const auto now = std::chrono::steady_clock::now();
  if (now - since_ > kWindow) {
    since_ = now;
    deferrals_ = 0;
  }
  ++deferrals_;
}

LongStatements::LongStatements(runtime::EventLoop& loop, network::Client& client,
                               execute::RequestHandler& handler, LongWork* work, uint64_t client_id)
    : loop_(loop), client_(client), handler_(handler), work_(work), client_id_(client_id) {}

LongStatements::~LongStatements() {
  if (statements_.empty()) return;
  for (const auto& statement : statements_) {
    statement->owner = nullptr;
    statement->is_cancelled.store(true, std::memory_order_relaxed);
  }
  // Who comes and goes leaves no requests behind that nobody counts.
  work_->pool.Drop(client_id_);
}

void LongStatements::Add(DeferredRequest request, const ConnectionState& state, OutputBuffer& out) {
  LS_CHECK(work_ != nullptr, "nothing is deferred where there is no other place");
  auto statement = std::make_shared<Statement>();
  statement->request = std::move(request);
  statement->body_bytes_max = state.cutter.body_bytes_max();
  statement->compression = state.compression;
  statement->client = state.client;
  statement->client.statements = {};
  statement->client.has_written = false;
  statement->client.place = {.begun_at = std::chrono::steady_clock::now(),
                             .is_cancelled = &statement->is_cancelled,
                             .results = &work_->results};
  statement->owner = this;
  const auto work = [statement, &handler = handler_, &loop = loop_] {
    try {
      Work(*statement, handler);
    } catch (const std::bad_alloc&) {
      // As on a loop: what was written of the answer is not known, and the connection ends.
      statement->answer.Clear();
      statement->orders.close = true;
    }
    loop.Post(statement->done_memory, [statement] {
      statement->is_done = true;
      if (statement->owner != nullptr) statement->owner->NoteDone(*statement);
    });
  };
  statements_.reserve(statements_.size() + 1);  // what runs is known here, and ends with this
  runtime::WorkerPool::Terms terms;
  terms.memory_bytes = WorkBytes(static_cast<protocol::Opcode>(statement->request.header.opcode),
                                 statement->request.plain_body_bytes);
  if (statement->request.deferral == Deferral::kSchema) terms.turns_of = kSchemaClient;
  if (!work_->pool.Post(client_id_, work, terms)) {
    work_->refused.fetch_add(1, std::memory_order_relaxed);
    protocol::EncodeError(
        out, execute::ResponseContextOf(statement->request.header, state.client),
        protocol::ProtocolError{
            protocol::ErrorCode::kOverloaded,
            absl::StrCat("Too many statements that take long wait for a thread: there are ",
                         work_->pool.queued_max(), " at most; ask for less at a time, or later")});
    return;
  }
  work_->begun.fetch_add(1, std::memory_order_relaxed);
  held_bytes_ += statement->request.body.size();
  if (statement->request.deferral >= Deferral::kInOrder) ++in_order_;
  statements_.push_back(std::move(statement));
}

void LongStatements::Work(Statement& statement, execute::RequestHandler& handler) {
  if (statement.is_cancelled.load(std::memory_order_relaxed)) return;
  const protocol::FrameHeader& header = statement.request.header;
  std::string_view body = statement.request.body;
  OutputBuffer plain_body;
  std::optional<protocol::ProtocolError> error;
  if ((header.flags & protocol::kFrameCompressed) != 0) {
    error =
        protocol::DecompressBody(statement.compression, body, statement.body_bytes_max, plain_body);
    body = plain_body.view();
  }
  protocol::RequestScratch scratch;
  protocol::Request request;
  if (!error) {
    error = protocol::DecodeRequest(header, body, statement.client.extensions, scratch, request);
  }
  LS_CHECK(!error, "what is deferred was a request before");
  execute::RequestView view(header, request);
  view.set_body_bytes(body.size());
  view.memo = std::move(statement.request.memo);
  const bool compresses = statement.compression != Compression::kNone;
  OutputBuffer plain;
  OutputBuffer& out = compresses ? plain : statement.answer;
  statement.orders = handler.Handle({&view, 1}, statement.client, out);
  if (!compresses) return;
  OutputBuffer buffer;
  AppendCompressed(statement.compression, plain.view(), statement.answer, buffer);
  for (execute::DelayedAnswer& delayed : statement.orders.delayed) {
    plain.Clear();
    AppendCompressed(statement.compression, delayed.frames, plain, buffer);
    delayed.frames = plain.view();
  }
}

void LongStatements::NoteDone(const Statement& statement) {
  held_bytes_ += statement.answer.capacity();
  client_.Wake();
}

void LongStatements::TakeDone(const network::Turn& turn, ConnectionState& state,
                              execute::ConnectionOrders& orders) {
  for (size_t i = 0; i < statements_.size();) {
    if (!statements_[i]->is_done) {
      ++i;
      continue;
    }
    if (turn.IsSpent()) return;
    Statement& done = *statements_[i];
    turn.answers.Append(done.answer.view());
    state.client.has_written |= done.client.has_written;
    orders.close |= done.orders.close;
    std::ranges::move(done.orders.delayed, std::back_inserter(orders.delayed));
    if (done.request.deferral >= Deferral::kInOrder) {
      state.client.keyspace = std::move(done.client.keyspace);
    }
    Remove(i);
  }
}

void LongStatements::Abandon(ConnectionState& state, OutputBuffer& out) {
  while (!statements_.empty()) {
    Statement& statement = *statements_.back();
    if (statement.is_done) {
      out.Append(statement.answer.view());
      state.client.has_written |= statement.client.has_written;
    } else {
      statement.owner = nullptr;
      statement.is_cancelled.store(true, std::memory_order_relaxed);
      protocol::ResponseContext context;
      context.version = statement.request.header.version;
      context.stream = statement.request.header.stream;
      protocol::EncodeError(
          out, context,
          protocol::ProtocolError{protocol::ErrorCode::kOverloaded,
                                  "The server stops, and does not wait for what takes long"});
    }
    Remove(statements_.size() - 1);
  }
}

void LongStatements::Remove(size_t index) {
  const Statement& statement = *statements_[index];
  held_bytes_ -= statement.request.body.size();
  if (statement.is_done) held_bytes_ -= statement.answer.capacity();
  if (statement.request.deferral >= Deferral::kInOrder) --in_order_;
  statements_.erase(statements_.begin() + static_cast<ptrdiff_t>(index));
}

}  // namespace liststore::cql_face
