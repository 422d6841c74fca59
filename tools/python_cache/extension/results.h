// What reads return: Items of one list, MultiItems of many, and the arrays of both.
#ifndef LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_RESULTS_H_
#define LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_RESULTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "liststore/list_item.h"
#include "liststore/list_view.h"
#include "tools/python_cache/extension/python.h"
#include "tools/python_cache/extension/store.h"

namespace liststore::python {

// Results that are used again, so that reads allocate nothing. Python's lock guards them.
std::unique_ptr<ListItems> TakeScratch();
void GiveScratch(std::unique_ptr<ListItems> scratch);

// Borrows a scratch for the length of a call.
class Scratch {
 public:
  Scratch() : items_(TakeScratch()) {}
  ~Scratch() { GiveScratch(std::move(items_)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ListItems& items() { return *items_; }
  std::unique_ptr<ListItems>& owned() { return items_; }

 private:
  std::unique_ptr<ListItems> items_;
};

// A list of pairs (timestamp_nanos, value).
PyObject* ToPairs(const ListItems& items);

// Items of a copy, which is taken out of `copied` and replaced by nullptr.
PyObject* NewItems(std::unique_ptr<ListItems>& copied, bool with_expiry);
// Items in place. `store` stays as long as they do.
PyObject* NewView(StoreObject* store, std::unique_ptr<ListView> view, bool with_expiry);

// Columns of many lists, filled without Python's lock.
struct Columns {
  std::vector<int64_t> offsets = {0};
  std::vector<int64_t> timestamps;
  std::vector<int64_t> value_offsets = {0};
  std::vector<char> values;
  std::vector<int64_t> expires;
  std::vector<int64_t> fresh_until;
  std::vector<uint8_t> presence;
  bool with_expiry = false;
  bool same_width = true;
  bool beyond_int64 = false;  // a timestamp is after the year 2262

  void Append(const ListItems& list);
};
PyObject* NewMultiItems(std::unique_ptr<Columns> columns);

bool AddResultTypes(PyObject* module);
bool AddMultiItemsTypes(PyObject* module);
// Of liststore_cache._arrays, which knows numpy and pyarrow. `argument` may be nullptr.
PyObject* CallArrays(const char* function, PyObject* self, PyObject* argument);

}  // namespace liststore::python

#endif  // LISTSTORE_TOOLS_PYTHON_CACHE_EXTENSION_RESULTS_H_
