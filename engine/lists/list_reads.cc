// The reads of a ListStore.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/status_macros.h"
#include "engine/lists/list_items_sink.h"
#include "engine/lists/list_key.h"
#include "engine/lists/list_store_impl.h"
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
  std::array<ListKey, kListsPerStep> keys;
  // The inlined capacity is enough, so sinks do not move: reads point to them.
  absl::InlinedVector<ListItemsSink, kListsPerStep> sinks;
  std::array<shard::Engine::GroupedRead, kListsPerStep> reads;
  for (size_t i = 0; i < count; ++i) {
    const absl::Status status = keys[i].Assign(lists, first + i);
    if (!status.ok()) return InList(first + i, status);
    ListItemsSink& sink = sinks.emplace_back(items[first + i], with_expiry);
    reads[i].partition_key = keys[i].partition_key();
    reads[i].sink = &sink;
  }
  if (!engine.ReadGroup(items_schema.id, spec, now_nanos, {reads.data(), count})) {
    return InList(first, Status(OpStatus::kTableGone));
  }
  for (size_t i = 0; i < count; ++i) sinks[i].SetInfo(reads[i].info);
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
  const Reply reply =
      impl_->Execute(key.partition_key(), ReadCommand{&newest.spec(), &sink}, impl_->NowForReads());
  sink.SetInfo(reply.info);
  return impl_->Status(reply.status);
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
  clear_all();
  LS_RETURN_IF_ERROR(CheckGetOptions(options));
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
