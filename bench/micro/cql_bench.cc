// Text to statement: what a request that is not prepared pays before anything else.
#include <string_view>

#include "benchmark/benchmark.h"

#include "engine/base/check.h"
#include "engine/cql/syntax/parser.h"

namespace liststore {
namespace {

void ParseText(benchmark::State& state, std::string_view text) {
  for (auto _ : state) {
    cql::CqlOr<cql::Statement> statement = cql::ParseStatement(text);
    LS_CHECK(statement.ok(), "the text is a statement");
    benchmark::DoNotOptimize(statement);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

BENCHMARK_CAPTURE(ParseText, select_markers,
                  "SELECT item_key, value FROM list_items WHERE feature_key=? AND entity_id=? AND "
                  "item_key >= ? ORDER BY item_key DESC LIMIT ?");
BENCHMARK_CAPTURE(ParseText, select_literals,
                  "SELECT item_key, value FROM list_items WHERE feature_key='user#history|' AND "
                  "entity_id='1000042' AND item_key >= '1724949845000000000' ORDER BY item_key "
                  "DESC LIMIT 100");
BENCHMARK_CAPTURE(ParseText, insert_markers,
                  "INSERT INTO list_items (feature_key, entity_id, item_key, value) VALUES (?, ?, "
                  "?, ?) USING TTL ?");
BENCHMARK_CAPTURE(ParseText, insert_literals,
                  "INSERT INTO list_items (feature_key, entity_id, item_key, value) VALUES "
                  "('user#history|', '1000042', '1724949845000000000#rL0Y20zC+Fzt72VPzMSk2A==', "
                  "0x73746f72792d31) USING TTL 2592000");
BENCHMARK_CAPTURE(ParseText, delete_in,
                  "DELETE FROM list_items WHERE feature_key=? AND entity_id=? AND item_key IN ?");

}  // namespace
}  // namespace liststore
