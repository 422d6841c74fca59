// StatementRunner: the statements that one request of DynamoDB's comes to, on their way past the
// instruments, and their rows back.
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_STATEMENT_RUNNER_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_STATEMENT_RUNNER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dynamodb/values/error.h"
#include "engine/execute/client_state.h"
#include "engine/execute/request_handler.h"
#include "engine/execute/request_view.h"
#include "engine/execute/row_changes.h"
#include "engine/protocol/primitives.h"
#include "engine/protocol/request.h"

namespace liststore::dynamodb_face {

// A text of CQL that is prepared where it is not, and then known by its id.
struct PreparedText {
  PreparedText() = default;
  explicit PreparedText(std::string of_text);

  std::string text;
  std::string id;
};

// A statement with its values, and what came of it.
struct BoundStatement {
  const PreparedText* text = nullptr;  // outlives it
  std::vector<std::optional<std::string>> values = {};
  int32_t page_size = 0;  // 0: no pages
  std::string paging_state = {};

  // ---- Its answer.
  std::optional<dynamodb::Error> error = {};
  std::optional<CqlErrorCode> cql_error = {};
  std::string frame = {};  // of an answer that is no error; whole
};

// The rows of an answer, one after the other. A view.
class AnsweredRows {
 public:
  // `frame`: of a SELECT that was asked without the names and types of its columns.
  explicit AnsweredRows(std::string_view frame);

  // Where the next page begins; empty: this was the last.
  std::string_view paging_state() const { return paging_state_; }
  size_t rows_left() const { return rows_left_; }
  // The values of the next row, of which there is one; nullopt: null.
  void Next(std::vector<std::optional<std::string_view>>& values);

 private:
  protocol::BodyReader body_;
  std::string_view paging_state_;
  size_t rows_left_ = 0;
  size_t columns_ = 0;
};

// Of one request, on one thread. What a handler orders beside its answers (a delay, the end of the
// connection, no answer) adds up, and whoever answers the client carries it out.
class StatementRunner {
 public:
  // How the request goes on when a call was in vain.
  enum class Stop : uint8_t {
    kNo,
    kDeferred,  // it takes longer than a loop has: to be begun again elsewhere
    kWithheld,  // the client waits in vain
    kClosed     // the connection ends
  };

  // Everything outlives it. `memo`: TakeMemo() of a runner that was deferred.
  StatementRunner(execute::RequestHandler& handler, execute::ClientState& client,
                  std::shared_ptr<const execute::RequestMemo> memo);

  // Runs all, each by itself, as a driver does that does not wait for answers. False: see stop().
  [[nodiscard]] bool Run(std::span<BoundStatement> statements);
  // Runs one with what `changes` says instead of its values. Where their tables are no more what they were made
  // for, nothing was written: see TakeStale().
  [[nodiscard]] bool Run(BoundStatement& statement, execute::RowChanges& changes);
  // The same of several, as a batch; each is an INSERT, UPDATE or DELETE. The answer is the first's.
  [[nodiscard]] bool RunBatch(std::span<BoundStatement> statements, execute::RowChanges& changes);
  // A text that is run once: a change of the schema.
  [[nodiscard]] bool RunText(const std::string& text, std::optional<dynamodb::Error>& error);

  // The request takes too long for a loop: from now on it is deferred. Only where defers().
  void Defer() { stop_ = Stop::kDeferred; }
  // Once it is deferred: the statements of all calls of the first Run that were answered, in their order. The
  // next runner does not run them again.
  void HandOver(std::vector<BoundStatement> answered);
  // It is on a loop.
  bool defers() const { return client_.place.defers(); }
  Stop stop() const { return stop_; }
  // The tables of changes are others now: the operation is to be begun anew. Says so once.
  bool TakeStale() { return std::exchange(is_stale_, false); }
  // What has been deferred is given up instead: what came before it is not to be done twice.
  bool TakeDeferral() {
    if (stop_ != Stop::kDeferred) return false;
    stop_ = Stop::kNo;
    memo_ = nullptr;
    handed_over_.clear();
    taken_ = 0;
    return true;
  }
  // Of one that was deferred: what the next one has to know. nullptr: nothing.
  std::shared_ptr<const execute::RequestMemo> TakeMemo();
  std::chrono::nanoseconds delay() const { return delay_; }
  bool TakeHasWritten() { return std::exchange(client_.has_written, false); }

 private:
  // A statement that a loop has run, and what came of it.
  struct Answered {
    std::string text_id;  // the text may not live as long
    BoundStatement statement;
  };
  struct Handover;

  // Their answers of the runner before: faults have had their turn, and the journal its entry.
  bool TakeHandedOver(std::span<BoundStatement> statements);
  // One call of the handler; those that have no answer yet stay in `left`.
  bool RunSome(std::span<BoundStatement> statements, std::vector<size_t>& left,
               execute::RowChanges* changes);
  bool RunRequest(protocol::Request& request, execute::RowChanges* changes,
                  BoundStatement& statement);
  bool Prepare(BoundStatement& statement);
  // Of changes whose statement is not prepared, after so many preparations.
  bool IsStale(BoundStatement& statement, int preparations);
  // What became of a call's requests; false: stop.
  bool Take(std::span<execute::RequestView> views, const execute::ConnectionOrders& orders,
            const OutputBuffer& out, std::span<BoundStatement* const> statements,
            std::vector<bool>& answered);

  execute::RequestHandler& handler_;
  execute::ClientState& client_;
  std::shared_ptr<const execute::RequestMemo> memo_;  // of the first statement that is run
  std::vector<Answered> handed_over_;                 // those in front are taken
  size_t taken_ = 0;
  std::chrono::nanoseconds delay_{0};
  Stop stop_ = Stop::kNo;
  bool is_stale_ = false;
};

// What DynamoDB would say of an error of CQL's.
dynamodb::Error ToDynamodbError(CqlErrorCode code, const std::string& message);

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_STATEMENT_RUNNER_H_
