// ListView: the items of one list in place in the store, without a copy.
//
//   liststore::ListView view;
//   store->ViewListItems(list, {.limit = 100}, &view);
//   for (liststore::ListItemView item : view) Send(item.value);   // on any thread, at any time
//   view.Release();
//
// For readers that keep items for longer than a call, or that would copy large results only to send
// them. For small results ListItems is as fast: making and releasing a view takes about 100 ns.
#ifndef LISTSTORE_LIST_VIEW_H_
#define LISTSTORE_LIST_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "liststore/list_item.h"

namespace liststore {

// Items newest first, as they were when the view was made. They stay so until the view is released,
// destroyed or read into again, even if the list is changed or removed, expires or is compacted, or
// its feature is deleted. The first change of a list that has views moves the list, and the items
// of the views stay where they were: their memory, up to 16 KiB per list, counts against the
// store's limit until the last view of them is released. A write or a removal by value may
// therefore be refused with ResourceExhausted although it would fit without views. Only memory
// limits the number of views; each takes about 100 bytes, which do not count against the limit.
//
// Items that are not in one piece are copied into the view: items of lists above 16 KiB, values
// above 2 KiB, and rows that CQL wrote in other forms. copied_items() says how many were copied.
//
// A view may be used and released by another thread than the one that made it, by one thread at a
// time. Releasing never waits: if the list's part of the store is busy, that part's next Reclaim
// or view reclaims the memory. All views must be released before the store is destroyed (checked).
class ListView {
 public:
  ListView();
  ~ListView();
  ListView(ListView&&) noexcept;
  ListView& operator=(ListView&&) noexcept;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // `index` < size() (checked); newest first. O(1).
  ListItemView operator[](size_t index) const;
  size_t copied_items() const { return copied_; }
  // Releases the items; the view is empty afterwards. A second call has no effect.
  void Release();

  class Iterator {
   public:
    Iterator(const ListView* view, size_t index) : view_(view), index_(index) {}
    ListItemView operator*() const { return (*view_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const ListView* view_;
    size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

 private:
  friend class ListViewSink;
  struct Item {
    const char* key = nullptr;
    const char* value = nullptr;
    int64_t expires_at_seconds = 0;
    uint32_t key_bytes = 0;
    uint32_t value_bytes = 0;
    bool packed = false;
  };

  // Either the items lie one after the other, each a key and a value: `stride_` finds them, and
  // `items_` is empty. Or `items_` has them all.
  const char* rows_ = nullptr;
  size_t stride_ = 0;
  size_t size_ = 0;
  size_t copied_ = 0;
  std::vector<Item> items_;
  std::list<std::string> copies_;  // never moved; an empty one takes no memory
  // The lane and the pin that keep the items in place; both or neither.
  void* lane_ = nullptr;
  void* pin_ = nullptr;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_VIEW_H_
