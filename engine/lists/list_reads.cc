// The reads of a ListStore.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/lists/list_items_sink.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
#include "engine/shard/engine_groups.h"
#include "liststore/list_store.h"

namespace liststore {
namespace {

// Lists in one step of a multi-get, which the engine looks up together: about 5 KiB of keys and
// reads on the stack.
constexpr size_t kListsPerStep = 16;

// After every item key: the character after '9'.
constexpr std::string_view kAfterAllDigits = ":";

// Makes `bound` the position before all items of `nanos`: its 19 digits, the first of `text`. The
// packed form is the timestamp and the smallest digest; unpacking it is the fastest way to get the
// digits. In place, since copying bytes that were just stored in smaller pieces costs more than
// everything else here.
void SetBound(uint64_t nanos, char text[kItemKeyTextBytes], ClusteringBound& bound) {
  bound.at_end = false;
  if (nanos > kItemKeyNanosMax) {
    bound.bytes = kAfterAllDigits;
    return;
  }
  PackedItemKey& packed = bound.packed.emplace();
  StoreBigEndian64(packed.data(), nanos);
  UnpackItemKey(packed.data(), text);
  bound.bytes = {text, kItemKeyDigits};
}

// The lists of a step, as Engine::ReadGroup takes them.
class StepReads {
 public:
  StepReads(ListItems* items, size_t size, bool with_expiry)
      : items_(items), size_(size), with_expiry_(with_expiry) {}

  // Before it is read: list i of the step is `lists[index]`, and has no items yet.
  absl::Status Begin(size_t i, const ListRefs& lists, size_t index) {
    items_[i].clear();
    return keys_[i].Assign(lists, index);
  }
  size_t size() const { return size_; }
  std::string_view key(size_t i) const { return keys_[i].partition_key(); }
  ListItemsSink sink(size_t i) { return {items_[i], with_expiry_}; }
  void SetInfo(size_t i, const PartitionInfo& info) { sink(i).SetInfo(info); }

 private:
  ListItems* items_;
  size_t size_;
  bool with_expiry_;
  std::array<ListKey, kListsPerStep> keys_;
};

}  // namespace

NewestItems::NewestItems(const GetOptions& options)
    : empty_(options.max_timestamp_nanos &&
             *options.max_timestamp_nanos <= options.min_timestamp_nanos) {
  spec_.descending = true;
  spec_.limit = options.limit;
  // 0 is no bound: a key written through CQL that is not an item key may be before all digits.
  if (options.min_timestamp_nanos != 0) {
    SetBound(options.min_timestamp_nanos, lower_text_, spec_.range.lower);
  }
  if (options.max_timestamp_nanos) {
    SetBound(*options.max_timestamp_nanos, upper_text_, spec_.range.upper);
  }
}

absl::Status ListStore::Impl::ReadStep(const ListRefs& lists, size_t first, size_t count,
                                       const ReadSpec& spec, bool with_expiry, uint64_t now_nanos,
                                       std::vector<ListItems>& items) {
  LS_CHECK(count <= kListsPerStep, "a step fits its buffers");
  StepReads reads(&items[first], count, with_expiry);
  for (size_t i = 0; i < count; ++i) {
    const absl::Status status = reads.Begin(i, lists, first + i);
    if (!status.ok()) return InList(first + i, status);
  }
  if (!engine.ReadGroup(items_schema.id, spec, now_nanos, reads)) {
    return InList(first, Status(OpStatus::kTableGone));
  }
  return absl::OkStatus();
}

absl::Status ListStore::GetListItems(const ListRef& list, const GetOptions& options,
                                     ListItems* items) const try {
  items->clear();
  LS_RETURN_IF_ERROR(CheckGetOptions(options));
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  // An empty range is read too, for the presence of the list.
  const NewestItems newest(options);
  ListItemsSink sink(*items, options.with_expiry);
  PartitionInfo info;
  if (!impl_->engine.Read(impl_->items_schema.id, key.partition_key(), newest.spec(),
                          impl_->NowForReads(), sink, info)) {
    return impl_->Status(OpStatus::kTableGone);
  }
  sink.SetInfo(info);
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  items->clear();
  return HeapRefused();
}

absl::Status ListStore::MultiGetListItems(const ListRefs& lists, const GetOptions& options,
                                          std::vector<ListItems>* items) const try {
  items->resize(lists.size());
  const auto clear_all = [&] {
    for (ListItems& list : *items) list.clear();
  };
  if (absl::Status status = CheckGetOptions(options); !status.ok()) {
    clear_all();
    return status;
  }
  const NewestItems newest(options);
  const uint64_t now_nanos = impl_->NowForReads();
  for (size_t first = 0; first < lists.size(); first += kListsPerStep) {
    const size_t step = std::min(lists.size() - first, kListsPerStep);
    absl::Status status =
        impl_->ReadStep(lists, first, step, newest.spec(), options.with_expiry, now_nanos, *items);
    if (!status.ok()) {
      clear_all();
      return status;
    }
  }
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  for (ListItems& list : *items) list.clear();
  return HeapRefused();
}

absl::StatusOr<size_t> ListStore::CountListItems(const ListRef& list,
                                                 const GetOptions& options) const try {
  ListKey key;
  LS_RETURN_IF_ERROR(key.Assign(list));
  const NewestItems newest(options);
  if (newest.empty()) return size_t{0};
  const Reply reply =
      impl_->Execute(key.partition_key(), CountCommand{newest.range()}, impl_->NowForReads());
  LS_RETURN_IF_ERROR(impl_->Status(reply.status));
  return static_cast<size_t>(reply.rows);
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace liststore
