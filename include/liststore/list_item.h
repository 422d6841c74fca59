// Items of lists: what goes into a store, and what comes out.
#ifndef LISTSTORE_LIST_ITEM_H_
#define LISTSTORE_LIST_ITEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace liststore {

// An item to add. Its place in the list is its timestamp, newest first, then its value's digest;
// the same value at the same timestamp is the same item.
struct NewItem {
  uint64_t timestamp_nanos = 0;  // since the Unix epoch, at most 9,999,999,999,999,999,999
  std::string_view value;        // opaque bytes, empty allowed
};

// Which part of a list a read returns: the newest `limit` items with
// min_timestamp_nanos <= timestamp < max_timestamp_nanos.
struct GetOptions {
  uint64_t min_timestamp_nanos = 0;
  std::optional<uint64_t> max_timestamp_nanos = std::nullopt;  // exclusive; nullopt: none
  size_t limit = 100;                                          // at least 1
  // Also fill ListItemView::expires_at_seconds. Costs a little.
  bool with_expiry = false;
};

// One item of a result. Borrows from the ListItems it came from. Through CQL, rows may have been
// written under keys that are no item keys: their timestamp is the 19 digits they begin with, 0
// without those.
struct ListItemView {
  uint64_t timestamp_nanos = 0;
  std::string_view value;
  // Seconds since the epoch at which the item ends; 0 when it was not asked for, or when it was
  // written through CQL and never ends.
  int64_t expires_at_seconds = 0;

  // The item key as CQL shows it: 19 digits, '#', base64 of the value's digest.
  std::string item_key() const;

 private:
  friend class ListItems;
  friend class ListView;
  const char* packed_key_ = nullptr;  // 24 bytes; nullptr: plain_key_ holds the text
  std::string_view plain_key_;
};

// How much of a list the store holds. What has expired by the clock is not held, whether or not its
// memory has come back.
enum class ListPresence : uint8_t {
  // Nothing: never added, or all of it removed, expired, evicted or forgotten.
  kAbsent,
  // Some of it, perhaps not all: the list was begun by an addition while more of it may be
  // elsewhere, or may have been evicted. Only with MemoryPolicy::kEvict.
  kPartial,
  // All of it. May be empty: a list that was put without items (ListStore::PutList).
  kComplete,
};

// Items of one list, newest first: the result of a read, to be used again from call to call, so
// that reading allocates nothing once it has grown. Not thread-safe; views into it end with the
// next read, with clear() and when it is moved. Takes 24 bytes an item beside the value; 56 with
// expiry, or when values differ in length.
class ListItems {
 public:
  ListItems();
  ~ListItems();
  ListItems(ListItems&&) noexcept;
  ListItems& operator=(ListItems&&) noexcept;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Of the list that was read, whichever part of it was asked for.
  ListPresence presence() const { return presence_; }
  // Until when the list is as fresh as whoever put it wants it, in seconds since the epoch; 0: for
  // ever, or it was not put. The store goes on to serve it: what to do then is the reader's affair.
  int64_t fresh_until_seconds() const { return fresh_until_seconds_; }
  // `index` < size(), checked; newest first. O(1).
  ListItemView operator[](size_t index) const;
  // Keeps its memory; presence() is kAbsent.
  void clear();

  class Iterator {
   public:
    Iterator(const ListItems* items, size_t index) : items_(items), index_(index) {}
    ListItemView operator*() const { return (*items_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const ListItems* items_;
    size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size_}; }

 private:
  friend class ListItemsSink;
  struct Place {
    size_t offset = 0;  // of the key in bytes_
    uint32_t key_bytes = 0;
    uint32_t value_bytes = 0;
    int64_t expires_at_seconds = 0;
    bool packed = false;
  };
  // Rows one behind the other: key, then value. While all have one length and a packed key,
  // `stride_` finds them and `places_` stays empty.
  std::vector<char> bytes_;
  size_t used_ = 0;
  size_t size_ = 0;
  size_t stride_ = 0;
  std::vector<Place> places_;
  int64_t fresh_until_seconds_ = 0;
  ListPresence presence_ = ListPresence::kAbsent;
};

// What became of an addition.
struct AddResult {
  size_t stored =
      0;  // items of the call now in the list: overwritten ones count, one given twice counts twice
  size_t skipped_expired = 0;  // items whose remaining time was not positive
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_ITEM_H_
