// The handles of the C interface.
#ifndef LISTSTORE_ENGINE_C_API_HANDLES_H_
#define LISTSTORE_ENGINE_C_API_HANDLES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "liststore/clock.h"
#include "liststore/list_store.h"
#include "liststore/list_view.h"
#include "liststore/liststore.h"

struct liststore_clock {
  explicit liststore_clock(uint64_t now_nanos) : clock(now_nanos) {}
  liststore::ManualClock clock;
};
struct liststore_store {
  std::unique_ptr<liststore::ListStore> store;
};
struct liststore_items {
  liststore::ListItems items;
};
struct liststore_multi_items {
  std::vector<liststore::ListItems> lists;
};
struct liststore_view {
  liststore::ListView view;
};

#endif  // LISTSTORE_ENGINE_C_API_HANDLES_H_
