#include "engine/faces/dynamodb/statement_runner.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/output_buffer.h"
#include "engine/execute/prepared_statement.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/response.h"

namespace liststore::dynamodb_face {
namespace {

// How often a statement is prepared again whose table changes all the while.
constexpr int kPreparationsMax = 100;
// The same of changes, which are made for a table as it was: it does not come back.
constexpr int kPreparationsOfChanges = 3;

constexpr int32_t kRowsResult = 2;
constexpr uint32_t kMorePagesFlag = 0x02;

protocol::FrameHeader HeaderOf(protocol::Opcode opcode, size_t stream, size_t bytes) {
  protocol::FrameHeader header;
  header.version = protocol::ProtocolVersion::kV4;
  header.opcode = static_cast<uint8_t>(opcode);
  header.stream = static_cast<int16_t>(stream);
  header.body_bytes = static_cast<uint32_t>(bytes);
  return header;
}

std::vector<protocol::Value> ValuesOf(const BoundStatement& statement) {
  std::vector<protocol::Value> values;
  values.reserve(statement.values.size());
  for (const std::optional<std::string>& value : statement.values) {
    values.push_back(value ? protocol::Value::Of(*value) : protocol::Value::Null());
  }
  return values;
}

// Calls `visit(stream, frame)` for each whole frame.
template <typename Visit>
void ForEachFrame(std::string_view frames, const Visit& visit) {
  while (frames.size() >= protocol::kFrameHeaderBytes) {
    const auto stream = static_cast<size_t>(LoadBigEndian16(frames.data() + 2));
    const size_t bytes = protocol::kFrameHeaderBytes + LoadBigEndian32(frames.data() + 5);
    LS_CHECK(bytes <= frames.size(), "a handler's frames are whole");
    visit(stream, frames.substr(0, bytes));
    frames.remove_prefix(bytes);
  }
}

}  // namespace

PreparedText::PreparedText(std::string of_text)
    : text(std::move(of_text)), id(execute::StatementId("", text)) {}

AnsweredRows::AnsweredRows(std::string_view frame)
    : body_(frame.substr(protocol::kFrameHeaderBytes)) {
  if ((static_cast<uint8_t>(frame[1]) & protocol::kFrameWarnings) != 0) {
    for (uint16_t left = body_.ReadShort(); left > 0; --left) body_.ReadString();
  }
  if (body_.ReadInt() != kRowsResult) return;
  const auto flags = static_cast<uint32_t>(body_.ReadInt());
  columns_ = static_cast<size_t>(body_.ReadInt());
  if ((flags & kMorePagesFlag) != 0) {
    const protocol::Value state = body_.ReadBytes();
    if (state.has_bytes()) paging_state_ = state.bytes();
  }
  rows_left_ = static_cast<size_t>(body_.ReadInt());
  LS_DCHECK(body_.ok(), "a handler's answer is a whole one");
}

void AnsweredRows::Next(std::vector<std::optional<std::string_view>>& values) {
  LS_DCHECK(rows_left_ > 0, "there is a next row");
  --rows_left_;
  values.clear();
  for (size_t i = 0; i < columns_; ++i) {
    const protocol::Value value = body_.ReadBytes();
    values.push_back(value.has_bytes() ? std::optional(value.bytes()) : std::nullopt);
  }
}

dynamodb::Error ToDynamodbError(CqlErrorCode code, const std::string& message) {
  using dynamodb::ErrorCode;
  switch (code) {
    case CqlErrorCode::kOverloaded:
    case CqlErrorCode::kRateLimit:
    case CqlErrorCode::kWriteFailure:
      return {ErrorCode::kProvisionedThroughputExceeded, message};
    case CqlErrorCode::kUnauthorized:
    case CqlErrorCode::kBadCredentials:
      return {ErrorCode::kAccessDenied, message};
    default:
      break;
  }
  // The table went meanwhile.
  if (message.starts_with("unconfigured table")) {
    return {ErrorCode::kResourceNotFound, "Requested resource not found"};
  }
  return {ErrorCode::kInternalServerError, message};
}

bool StatementRunner::Take(std::span<execute::RequestView> views,
                           const execute::ConnectionOrders& orders, const OutputBuffer& out,
                           std::span<BoundStatement* const> statements,
                           std::vector<bool>& answered) {
  std::chrono::nanoseconds delay{0};
  const auto take = [&](size_t stream, std::string_view frame) {
    if (stream < statements.size()) statements[stream]->frame = frame;
  };
  ForEachFrame(out.view(), take);
  for (const execute::DelayedAnswer& delayed : orders.delayed) {
    delay = std::max(delay, delayed.delay);
    ForEachFrame(delayed.frames, take);
  }
  delay_ += delay;
  for (size_t i = 0; i < views.size() && stop_ == Stop::kNo; ++i) {
    execute::RequestView& view = views[i];
    BoundStatement& statement = *statements[i];
    if (view.outcome.postponed) continue;
    if (view.outcome.deferral != execute::Deferral::kNo) {
      // Beside the loops that is what a request comes to that nobody waits for any more.
      stop_ = defers() ? Stop::kDeferred : Stop::kWithheld;
      if (i == 0) memo_ = std::move(view.memo);
    } else if (!view.outcome.answered) {
      stop_ = orders.close ? Stop::kClosed : Stop::kWithheld;
    } else {
      answered[i] = true;
      statement.cql_error = view.outcome.error;
      if (view.outcome.error) {
        statement.error = ToDynamodbError(*view.outcome.error, view.outcome.message);
        statement.frame.clear();
      }
    }
  }
  if (orders.close) stop_ = Stop::kClosed;
  for (execute::RequestView& view : views) view.End();
  client_.statements.EndTurn();
  if (orders.wait.count() > 0 && stop_ == Stop::kNo) {
    if (defers()) {
      stop_ = Stop::kDeferred;
    } else {
      std::this_thread::sleep_for(orders.wait);
    }
  }
  return stop_ == Stop::kNo;
}

bool StatementRunner::Prepare(BoundStatement& statement) {
  for (int attempt = 0; attempt < kPreparationsMax; ++attempt) {
    protocol::Request request;
    request.message = protocol::Prepare{statement.text->text};
    execute::RequestView view(HeaderOf(protocol::Opcode::kPrepare, 0, statement.text->text.size()),
                              request);
    OutputBuffer out;
    const execute::ConnectionOrders orders = handler_.Handle({&view, 1}, client_, out);
    BoundStatement* const one[] = {&statement};
    std::vector<bool> answered(1);
    if (!Take({&view, 1}, orders, out, one, answered)) return false;
    if (answered[0]) return true;
  }
  statement.error = {dynamodb::ErrorCode::kInternalServerError,
                     "The schema changes faster than statements run"};
  return true;
}

bool StatementRunner::RunSome(std::span<BoundStatement> statements, std::vector<size_t>& left,
                              execute::RowChanges* changes) {
  const size_t count = std::min(left.size(), execute::kRequestsPerTurnMax);
  std::deque<std::vector<protocol::Value>> values;
  std::deque<protocol::Request> requests;
  std::vector<execute::RequestView> views(count);
  std::vector<BoundStatement*> of_views;
  for (size_t i = 0; i < count; ++i) {
    BoundStatement& statement = statements[left[i]];
    statement.error.reset();
    statement.frame.clear();
    protocol::QueryParameters parameters;
    parameters.consistency = protocol::Consistency::kLocalOne;
    parameters.values = values.emplace_back(ValuesOf(statement));
    parameters.skip_metadata = true;
    if (statement.page_size > 0) parameters.page_size = statement.page_size;
    parameters.paging_state = statement.paging_state;
    protocol::Request& request = requests.emplace_back();
    request.message = protocol::Execute{statement.text->id, std::nullopt, parameters};
    size_t bytes = 0;
    for (const auto& value : statement.values) bytes += value ? value->size() : 0;
    views[i].Begin(HeaderOf(protocol::Opcode::kExecute, i, bytes), request);
    views[i].row_changes = changes;
    of_views.push_back(&statement);
  }
  views.front().memo = std::move(memo_);
  OutputBuffer out;
  const execute::ConnectionOrders orders = handler_.Handle(views, client_, out);
  std::vector<bool> answered(count);
  if (!Take(views, orders, out, of_views, answered)) return false;
  std::vector<size_t> still_left;
  for (size_t i = 0; i < count; ++i) {
    if (!answered[i]) still_left.push_back(left[i]);
  }
  left.erase(left.begin(), left.begin() + static_cast<ptrdiff_t>(count));
  left.insert(left.begin(), still_left.begin(), still_left.end());
  return true;
}

struct StatementRunner::Handover final : execute::RequestMemo {
  std::shared_ptr<const execute::RequestMemo> of_statement;
  std::chrono::nanoseconds delay{0};
  std::vector<Answered> answered;
};

StatementRunner::StatementRunner(execute::RequestHandler& handler, execute::ClientState& client,
                                 std::shared_ptr<const execute::RequestMemo> memo)
    : handler_(handler), client_(client) {
  // No other memo comes to a runner.
  const auto* const handover = static_cast<const Handover*>(memo.get());
  if (handover == nullptr) return;
  memo_ = handover->of_statement;
  delay_ = handover->delay;
  handed_over_ = handover->answered;
}

std::shared_ptr<const execute::RequestMemo> StatementRunner::TakeMemo() {
  if (memo_ == nullptr && delay_.count() == 0 && handed_over_.empty()) return nullptr;
  auto handover = std::make_shared<Handover>();
  handover->of_statement = std::move(memo_);
  handover->delay = delay_;
  handover->answered = std::move(handed_over_);
  return handover;
}

void StatementRunner::HandOver(std::vector<BoundStatement> answered) {
  handed_over_.clear();
  for (BoundStatement& statement : answered) {
    std::string text_id = statement.text->id;
    statement.text = nullptr;
    handed_over_.push_back({std::move(text_id), std::move(statement)});
  }
}

bool StatementRunner::TakeHandedOver(std::span<BoundStatement> statements) {
  if (statements.size() > handed_over_.size() - taken_) return false;
  const std::span<Answered> answered = std::span(handed_over_).subspan(taken_, statements.size());
  const auto is_same = [](const BoundStatement& asked, const Answered& known) {
    return asked.text->id == known.text_id && asked.values == known.statement.values &&
           asked.paging_state == known.statement.paging_state;
  };
  // They differ where the schema has changed meanwhile.
  if (!std::ranges::equal(statements, answered, is_same)) return false;
  for (size_t i = 0; i < statements.size(); ++i) {
    BoundStatement& known = answered[i].statement;
    statements[i].error = std::move(known.error);
    statements[i].cql_error = known.cql_error;
    statements[i].frame = std::move(known.frame);
  }
  taken_ += statements.size();
  return true;
}

bool StatementRunner::Run(std::span<BoundStatement> statements) {
  if (TakeHandedOver(statements)) return true;
  std::vector<size_t> left(statements.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (int preparations = 0;; ++preparations) {
    while (!left.empty()) {
      if (!RunSome(statements, left, nullptr)) return false;
    }
    if (preparations == kPreparationsMax) return true;
    std::vector<std::string_view> prepared;
    for (size_t i = 0; i < statements.size(); ++i) {
      BoundStatement& statement = statements[i];
      if (statement.cql_error != CqlErrorCode::kUnprepared) continue;
      const bool is_first = std::ranges::find(prepared, statement.text->id) == prepared.end();
      if (is_first) {
        prepared.push_back(statement.text->id);
        statement.cql_error.reset();
        statement.error.reset();
        if (!Prepare(statement)) return false;
        if (statement.error) continue;
      }
      statement.cql_error.reset();
      left.push_back(i);
    }
    if (left.empty()) return true;
  }
}

bool StatementRunner::IsStale(BoundStatement& statement, int preparations) {
  if (preparations < kPreparationsOfChanges) return false;
  is_stale_ = true;
  statement.error = {dynamodb::ErrorCode::kInternalServerError,
                     "The schema changes faster than statements run"};
  return true;
}

bool StatementRunner::Run(BoundStatement& statement, execute::RowChanges& changes) {
  for (int preparations = 0;; ++preparations) {
    std::vector<size_t> left = {0};
    while (!left.empty()) {
      if (!RunSome({&statement, 1}, left, &changes)) return false;
    }
    if (statement.cql_error != CqlErrorCode::kUnprepared || IsStale(statement, preparations)) {
      return true;
    }
    statement.cql_error.reset();
    statement.error.reset();
    if (!Prepare(statement)) return false;
    if (statement.error) return true;
  }
}

bool StatementRunner::RunRequest(protocol::Request& request, execute::RowChanges* changes,
                                 BoundStatement& statement) {
  const auto opcode = std::holds_alternative<protocol::Batch>(request.message)
                          ? protocol::Opcode::kBatch
                          : protocol::Opcode::kQuery;
  while (true) {
    execute::RequestView view(HeaderOf(opcode, 0, 0), request);
    view.row_changes = changes;
    view.memo = std::move(memo_);
    OutputBuffer out;
    const execute::ConnectionOrders orders = handler_.Handle({&view, 1}, client_, out);
    BoundStatement* const one[] = {&statement};
    std::vector<bool> answered(1);
    if (!Take({&view, 1}, orders, out, one, answered)) return false;
    if (answered[0]) return true;
  }
}

bool StatementRunner::RunBatch(std::span<BoundStatement> statements, execute::RowChanges& changes) {
  BoundStatement& first = statements.front();
  std::deque<std::vector<protocol::Value>> values;
  std::vector<protocol::BatchStatement> of_batch;
  for (const BoundStatement& statement : statements) {
    of_batch.push_back({.kind = protocol::BatchStatement::Kind::kPrepared,
                        .query_or_id = statement.text->id,
                        .values = values.emplace_back(ValuesOf(statement)),
                        .sent_values = {}});
  }
  protocol::Batch batch;
  batch.type = protocol::BatchType::kLogged;
  batch.statements = of_batch;
  batch.parameters.consistency = protocol::Consistency::kLocalOne;
  protocol::Request request;
  request.message = batch;
  for (int preparations = 0;; ++preparations) {
    first.error.reset();
    first.cql_error.reset();
    if (!RunRequest(request, &changes, first)) return false;
    if (first.cql_error != CqlErrorCode::kUnprepared || IsStale(first, preparations)) return true;
    std::vector<std::string_view> prepared;
    for (BoundStatement& statement : statements) {
      if (std::ranges::find(prepared, statement.text->id) != prepared.end()) continue;
      prepared.push_back(statement.text->id);
      statement.error.reset();
      if (!Prepare(statement)) return false;
      if (statement.error) {
        first.error = statement.error;
        return true;
      }
    }
  }
}

bool StatementRunner::RunText(const std::string& text, std::optional<dynamodb::Error>& error) {
  protocol::Request request;
  protocol::QueryParameters parameters;
  parameters.consistency = protocol::Consistency::kLocalOne;
  request.message = protocol::Query{text, parameters};
  BoundStatement statement;
  if (!RunRequest(request, nullptr, statement)) return false;
  error = std::move(statement.error);
  return true;
}

}  // namespace liststore::dynamodb_face
