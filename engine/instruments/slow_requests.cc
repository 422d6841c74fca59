#include "engine/instruments/slow_requests.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/base/utf8.h"
#include "engine/cql/syntax/statement_outline.h"
#include "engine/execute/kept_text.h"
#include "engine/instruments/request_names.h"

namespace liststore::instruments {
namespace {

// As much of a name as is said, in whole characters: it may be as long as a frame.
std::string_view FrontOf(std::string_view name) {
  const std::string_view front = name.substr(0, CqlSlowRequest::kNameBytesMax);
  return front.size() == name.size() ? front : front.substr(0, ValidUtf8Bytes(front));
}

// "keyspace.table"; what there is of it.
std::string SaidTableOf(const cql::StatementOutline& outline) {
  std::string table(FrontOf(outline.keyspace));
  if (!outline.table.empty() && !table.empty()) table += '.';
  return table += FrontOf(outline.table);
}

// What may be said of a request's statements.
struct SaidText {
  std::string text;
  bool is_cut = false;
};

// Looks up those that it says, and no others.
SaidText TextOf(std::span<execute::StatementView> statements, execute::StatementMemo& memo,
                const execute::StatementCache& cache) {
  SaidText said;
  size_t count = 0;
  for (execute::StatementView& statement : statements) {
    const size_t begin = said.text.empty() ? 0 : said.text.size() + 2;
    if (begin >= CqlSlowRequest::kStatementBytesMax || count++ == CqlSlowRequest::kStatementsMax) {
      said.is_cut = true;
      break;
    }
    if (statement.prepared() == nullptr) statement.Find(memo, cache);
    const std::string_view text = statement.text();
    const std::string_view kept =
        execute::KeptText(text, CqlSlowRequest::kStatementBytesMax - begin);
    if (begin != 0) said.text += "; ";
    said.text += kept;
    said.is_cut |= kept.size() < text.size();
  }
  return said;
}

// The last one that is not left for later; nullptr: all are.
execute::RequestView* LastDealtWith(std::span<execute::RequestView> requests) {
  for (size_t i = requests.size(); i-- > 0;) {
    if (requests[i].outcome.IsOver()) return &requests[i];
  }
  return nullptr;
}

}  // namespace

void SlowRequests::TellOf(std::span<execute::RequestView> requests, execute::ClientState& client,
                          const execute::StatementCache& statements, Instant begin,
                          Instant end) const {
  execute::RequestView* const request = LastDealtWith(requests);
  if (request == nullptr) return;
  const std::span<execute::StatementView> views = request->statements();
  const SaidText said = TextOf(views, client.statements, statements);
  std::string table;
  cql::StatementOp op = cql::StatementOp::kBatch;
  if (!views.empty()) {
    const cql::StatementOutline& outline = views.front().Outline(client.keyspace);
    table = SaidTableOf(outline);
    if (request->kind() != execute::RequestKind::kBatch) op = outline.op;
  }
  if (request->kind() == execute::RequestKind::kPrepare) op = cql::StatementOp::kPrepare;
  const std::string address = client.PeerText();
  const execute::Outcome& outcome = request->outcome;
  CqlSlowRequest slow;
  slow.operation = cql::ToString(op);
  slow.request = NameOf(request->kind());
  slow.table = table;
  slow.statement = said.text;
  slow.is_statement_cut = said.is_cut;
  slow.client = address;
  slow.user = FrontOf(client.user);
  slow.outcome = outcome.Name();
  slow.together = static_cast<size_t>(std::ranges::count_if(
      requests, [](const execute::RequestView& each) { return each.outcome.IsOver(); }));
  slow.waited = begin - client.read_at;
  slow.executed = end - begin;
  slow.delayed = outcome.delay;
  slow.dead_rows = outcome.dead_rows;
  if (outcome.has_row_counts && !outcome.error) {
    slow.rows_read = outcome.rows_read;
    slow.rows_returned = outcome.rows_returned;
  }
  tell_(slow);
}

}  // namespace liststore::instruments
