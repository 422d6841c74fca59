// ListView: items of one list where they lie in the store, without a copy.
//
//   liststore::ListView view;
//   store->ViewListItems(list, {.limit = 100}, &view);
//   for (liststore::ListItemView item : view) Send(item.value);   // any thread, as long as it
//   takes view.Release();
//
// For readers that keep items for longer than a call, or that would copy large pages only to send
// them on. For short pages ListItems is as fast: making and dropping a view costs some 100 ns.
#ifndef LISTSTORE_LIST_VIEW_H_
#define LISTSTORE_LIST_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "liststore/list_item.h"

namespace liststore {

// Items newest first, as they were when the view was made. They stay so until it is released,
// destroyed or made anew, while the list is changed, removed, expires, is moved to save memory, or
// its feature is deleted. What changes a list with a view moves the list first, once, and the items
// of the view stay behind: their memory, up to 16 KiB a list, counts against the store's limit
// until the last view of them goes. A write or a removal by value may therefore be refused with
// ResourceExhausted where it would have fitted without views. How many views there may be, memory
// alone decides; each takes some 100 bytes beside the limit.
//
// Items that do not lie in one piece are copied into the view: those of lists above 16 KiB, of
// values above 2 KiB, and what CQL wrote in forms of its own. copied_items() says how many were.
//
// May be used and dropped by another thread than the one that made it, one thread at a time.
// Dropping never waits: if the list's part of the store is at work, the memory comes back with its
// next Reclaim or view. All views are dropped before the store is destroyed; that is checked.
class ListView {
 public:
  ListView();
  ~ListView();
  ListView(ListView&&) noexcept;
  ListView& operator=(ListView&&) noexcept;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // `index` < size(), checked; newest first. O(1).
  ListItemView operator[](size_t index) const;
  size_t copied_items() const { return copied_; }
  // Lets go of the items; the view is empty then. Again: nothing.
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

  // The items lie one behind the other, key and value: `stride_` finds them, and `items_` is empty.
  const char* rows_ = nullptr;
  size_t stride_ = 0;
  size_t size_ = 0;
  size_t copied_ = 0;
  std::vector<Item> items_;
  std::deque<std::string> copies_;  // never moved
  // What the store keeps for it; both or neither.
  void* lane_ = nullptr;
  void* pin_ = nullptr;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_VIEW_H_
