#include "bench/peers/row_wheel.h"

#include <cstring>
#include <new>

#include "engine/base/check.h"
#include "engine/base/strings.h"

namespace liststore {

RowWheel::RowWheel(int64_t now_seconds, int64_t seconds_max)
    : now_seconds_(now_seconds), slots_(static_cast<size_t>(seconds_max) + 1) {
  LS_CHECK(seconds_max > 0, "rows live for a while");
  // A copy of a link points to the one it was copied from.
  for (Link& slot : slots_) slot.previous = slot.next = &slot;
}

RowWheel::~RowWheel() { Advance(now_seconds_ + static_cast<int64_t>(slots_.size()) - 1); }

void RowWheel::Add(std::string_view list_key, const PackedItemKey& item_key, std::string_view value,
                   int64_t expires_at_seconds) {
  LS_CHECK(expires_at_seconds > now_seconds_, "what is added lives");
  LS_CHECK(expires_at_seconds - now_seconds_ < static_cast<int64_t>(slots_.size()),
           "a slot is one second's alone");
  List*& list = lists_[ToAbsl(list_key)];
  if (list == nullptr) list = new List{.key = std::string(list_key)};
  Row* const row = new (::operator new(sizeof(Row) + value.size())) Row;
  row->key = item_key;
  row->list = list;
  row->expires_at_seconds = expires_at_seconds;
  row->value_bytes = static_cast<uint32_t>(value.size());
  std::memcpy(row + 1, value.data(), value.size());

  LS_DCHECK(list->newest == nullptr ||
                std::memcmp(list->newest->key.data(), item_key.data(), kPackedItemKeyBytes) <= 0,
            "rows come in their order");
  row->older = list->newest;
  if (row->older != nullptr) row->older->newer = row;
  list->newest = row;
  ++list->rows;

  Link& slot = SlotOf(expires_at_seconds);
  row->of_second = {slot.previous, &slot};
  slot.previous->next = &row->of_second;
  slot.previous = &row->of_second;
  ++rows_;
}

void RowWheel::Free(Row* row) {
  row->of_second.previous->next = row->of_second.next;
  row->of_second.next->previous = row->of_second.previous;
  List* const list = row->list;
  if (row->newer != nullptr) row->newer->older = row->older;
  if (row->older != nullptr) row->older->newer = row->newer;
  if (list->newest == row) list->newest = row->older;
  if (--list->rows == 0) {
    lists_.erase(list->key);
    delete list;
  }
  --rows_;
  row->~Row();
  ::operator delete(row);
}

size_t RowWheel::Advance(int64_t now_seconds) {
  LS_CHECK(now_seconds >= now_seconds_, "time does not go back");
  const size_t before = rows_;
  while (now_seconds_ < now_seconds) {
    Link& slot = SlotOf(++now_seconds_);
    while (slot.next != &slot) Free(RowOf(slot.next));
  }
  return before - rows_;
}

size_t RowWheel::RowsOf(std::string_view list_key) const {
  const auto found = lists_.find(ToAbsl(list_key));
  return found == lists_.end() ? 0 : found->second->rows;
}

void RowWheel::Verify() const {
  size_t in_slots = 0;
  for (size_t i = 0; i < slots_.size(); ++i) {
    for (Link* link = slots_[i].next; link != &slots_[i]; link = link->next) {
      LS_CHECK(link->next->previous == link, "links go both ways");
      const Row& row = *RowOf(link);
      LS_CHECK(static_cast<size_t>(row.expires_at_seconds) % slots_.size() == i,
               "a row is in the slot of its second");
      LS_CHECK(row.expires_at_seconds > now_seconds_, "what is due is gone");
      ++in_slots;
    }
  }
  LS_CHECK(in_slots == rows_, "every row is in one slot");
  size_t in_lists = 0;
  for (const auto& [key, list] : lists_) {
    size_t rows = 0;
    for (const Row* row = list->newest; row != nullptr; row = row->older) {
      LS_CHECK(row->list == list, "a row is in its list");
      LS_CHECK(row->older == nullptr || row->older->newer == row, "neighbours know each other");
      ++rows;
    }
    LS_CHECK(rows > 0 && rows == list->rows && list->key == key, "a list knows its rows");
    in_lists += rows;
  }
  LS_CHECK(in_lists == rows_, "every row is in one list");
}

}  // namespace liststore
