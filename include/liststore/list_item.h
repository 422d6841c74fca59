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

// An item to add. Items are ordered by timestamp, newest first, then by the digest of the value.
// The same value at the same timestamp is the same item.
struct NewItem {
  uint64_t timestamp_nanos = 0;  // since the Unix epoch, at most 9,999,999,999,999,999,999
  std::string_view value;        // opaque bytes, empty allowed
};

// Which items of a list a read returns: the newest `limit` items with
// min_timestamp_nanos <= timestamp < max_timestamp_nanos.
struct GetOptions {
  uint64_t min_timestamp_nanos = 0;
  std::optional<uint64_t> max_timestamp_nanos = std::nullopt;  // exclusive; nullopt: no bound
  size_t limit = 100;                                          // at least 1
  // Also fills ListItemView::expires_at_seconds, at a small cost.
  bool with_expiry = false;
};

// One item of a result. Borrows from the ListItems or ListView that it came from. Rows written
// through CQL may have keys that are not item keys: their timestamp is the 19 digits that the key
// begins with, or 0.
struct ListItemView {
  uint64_t timestamp_nanos = 0;
  std::string_view value;
  // When the item expires, in seconds since the Unix epoch. 0: not asked for (with_expiry), or the
  // item was written through CQL and never expires.
  int64_t expires_at_seconds = 0;

  // The item key as CQL shows it: 19 digits, '#', the digest of the value in base64.
  std::string item_key() const;

 private:
  friend class ListItems;
  friend class ListView;
  const char* packed_key_ = nullptr;  // 24 bytes; nullptr: plain_key_ holds the text
  std::string_view plain_key_;
};

// How much of a list the store holds. Expired items do not count, even before their memory has been
// reclaimed.
enum class ListPresence : uint8_t {
  // Nothing: never added, or all of it removed, expired, evicted or forgotten.
  kAbsent,
  // Perhaps not all: an addition began the list, and the source may hold more of it, or items may
  // have been evicted. Only with MemoryPolicy::kEvict.
  kPartial,
  // All of it. May be empty: a list that was put without items (ListStore::PutList).
  kComplete,
};

// Items of one list, newest first: the result of a read. Use it again from call to call: once it
// has grown, reads allocate nothing. Not thread-safe. Views into it are valid until the next read
// into it, clear() or a move. Takes 24 bytes per item beside the value, or 56 with expiry or when
// values differ in length.
class ListItems {
 public:
  ListItems();
  ~ListItems();
  ListItems(ListItems&&) noexcept;
  ListItems& operator=(ListItems&&) noexcept;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // How much of the whole list the store held, whatever part of it was read.
  ListPresence presence() const { return presence_; }
  // Until when the list is fresh, as set when it was put, in seconds since the Unix epoch. 0:
  // always fresh, or not put. The store serves the list after that too; what to do is up to the
  // caller.
  int64_t fresh_until_seconds() const { return fresh_until_seconds_; }
  // `index` < size() (checked); newest first. O(1).
  ListItemView operator[](size_t index) const;
  // Removes all items and keeps the memory. presence() is kAbsent afterwards.
  void clear() {
    used_ = 0;
    size_ = 0;
    stride_ = 0;
    places_.clear();
    fresh_until_seconds_ = 0;
    presence_ = ListPresence::kAbsent;
  }
  // The memory that it keeps, for items of this read or of earlier ones. O(1).
  size_t held_bytes() const { return bytes_.capacity() + places_.capacity() * sizeof(Place); }

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
  // Rows one after the other, each a key and a value. While all have the same length and a packed
  // key, `stride_` finds them and `places_` is empty.
  std::vector<char> bytes_;
  size_t used_ = 0;
  size_t size_ = 0;
  size_t stride_ = 0;
  std::vector<Place> places_;
  int64_t fresh_until_seconds_ = 0;
  ListPresence presence_ = ListPresence::kAbsent;
};

// The result of an addition.
struct AddResult {
  // Items of the call that are in the list now. Overwritten items count, and an item that was given
  // twice counts twice.
  size_t stored = 0;
  // Items with less than one second left to live.
  size_t skipped_expired = 0;
  // Where the timestamp of such an item looks like seconds, milliseconds or microseconds since 1970, not
  // nanoseconds: what it looks like, and what is wanted. A literal; nullptr: there is nothing to say.
  const char* hint = nullptr;
};

}  // namespace liststore

#endif  // LISTSTORE_LIST_ITEM_H_
