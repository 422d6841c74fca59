#include "engine/instruments/slow_requests.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/cql/syntax/statement_outline.h"
#include "engine/execute/kept_text.h"
#include "engine/instruments/request_names.h"

namespace liststore::instruments {
namespace {

// What may be said of a request's statements.
struct SaidText {
  std::string text;
  bool is_cut = false;
};

SaidText TextOf(std::span<execute::StatementView> statements) {
  SaidText said;
  for (const execute::StatementView& statement : statements) {
    const size_t begin = said.text.empty() ? 0 : said.text.size() + 2;
    if (begin >= CqlSlowRequest::kStatementBytesMax) {
      said.is_cut = true;
      break;
    }
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
  std::string table;
  cql::StatementOp op = cql::StatementOp::kBatch;
  if (!views.empty()) {
    for (execute::StatementView& view : views) {
      if (view.prepared() == nullptr) view.Find(client.statements, statements);
    }
    const cql::StatementOutline& outline = views.front().Outline(client.keyspace);
    table = cql::QualifiedTable(outline);
    if (request->kind() != execute::RequestKind::kBatch) op = outline.op;
  }
  if (request->kind() == execute::RequestKind::kPrepare) op = cql::StatementOp::kPrepare;
  const SaidText said = TextOf(views);
  const std::string address = client.PeerText();
  const execute::Outcome& outcome = request->outcome;
  CqlSlowRequest slow;
  slow.operation = cql::ToString(op);
  slow.request = NameOf(request->kind());
  slow.table = table;
  slow.statement = said.text;
  slow.is_statement_cut = said.is_cut;
  slow.client = address;
  slow.user = client.user;
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
