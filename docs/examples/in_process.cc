// Lists inside of a C++ test, on a clock that the test moves, and a CQL server on both: the example
// of docs/test_double.md, which shows this file word for word.
#include <cstdio>

#include "liststore/cql_server.h"
#include "liststore/list_store.h"

int main() {
  constexpr int64_t kThirtyDays = 30 * 86'400;
  liststore::ManualClock clock(1'767'225'600'000'000'000);  // 2026-01-01
  liststore::Options options;
  options.clock = &clock;
  auto store = liststore::ListStore::Open(options);
  if (!store.ok()) return 1;
  if (!(*store)->CreateListFeature("user", "reading_history", kThirtyDays).ok()) return 1;

  const liststore::ListId list{"user", "reading_history", "", "17"};
  const auto print_left = [&] {
    liststore::ListItems newest;
    if (!(*store)->GetListItems(list, {.limit = 10}, &newest).ok()) return false;
    return std::printf("%zu left\n", newest.size()) > 0;
  };

  // Code that works on lists itself needs no more than this.
  const liststore::NewItem read[] = {{clock.NowNanos(), "story-1"}};
  if (!(*store)->AddListItems(list, read).ok()) return 1;
  clock.AdvanceSeconds(kThirtyDays - 1);
  if (!print_left()) return 1;

  // Code that speaks CQL has its driver connect here. The driver sees the same lists and the same
  // clock, and may move that too.
  liststore::CqlServerOptions server_options;
  server_options.store = store->get();
  server_options.manual_clock = &clock;
  auto server = liststore::CqlServer::Start(server_options);
  if (!server.ok()) return 1;
  std::printf("port %d\n", (*server)->cql_port());
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;  // in its place: the test

  (*server)->Stop();
  if (!print_left()) return 1;
  return (*server)->refusal_count() == 0 ? 0 : 1;
}
