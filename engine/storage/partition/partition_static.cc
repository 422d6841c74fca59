// The static row of a partition: writes, deletion, reclamation, reads. docs/decisions/0009.
#include "engine/base/check.h"
#include "engine/storage/partition/partition.h"

namespace liststore::storage {

void Partition::UpsertStatic(std::span<const RowUpdate* const> updates, const WriteContext& write) {
  for (const RowUpdate* const update : updates) {
    LS_CHECK(!update->marker, "a static row has no marker");
  }
  PurgeTombstones(write.now_seconds);
  if (large() && LargeOf(reference_).tombstone.Covers(write.timestamp)) return;
  RowBody& body = context_.body;
  if (large()) {
    LargeOf(reference_).static_row.Decode(body);
    body.Purge(write.now_seconds, context_.grace);
  } else {
    body.Clear();
  }
  body.MergeAll(updates, write, context_.grace);
  // A tombstone may lie just before the write, over what makes way for it.
  if (large() && LargeOf(reference_).tombstone.present()) {
    body.Cover(LargeOf(reference_).tombstone.timestamp);
  }
  if (!large()) {
    if (body.empty()) return;
    MakeLarge();
  }
  PutStatic(write.now_seconds);
}

void Partition::PutStatic(int64_t now_seconds) {
  const RowBody& body = context_.body;
  LS_DCHECK(!body.marker().present() && !body.tombstone().present(),
            "a static row has cells alone");
  LargePartition& partition = LargeOf(reference_);
  context_.payload.clear();
  uint32_t event = kNeverExpires;
  if (!body.empty()) {
    body.EncodeComplex(context_.payload);
    event = ToEvent(body.NextEvent(now_seconds, context_.grace));
    partition.max_timestamp = std::max(partition.max_timestamp, body.MaxTimestamp());
  }
  NoteScratch(body);
  partition.static_row.Put(context_.arena, context_.payload, event);
}

void Partition::CoverStatic(const WriteContext& write) {
  StaticRow& row = LargeOf(reference_).static_row;
  if (row.empty()) return;
  row.Decode(context_.body);
  context_.body.Purge(write.now_seconds, context_.grace);
  context_.body.Cover(write.timestamp);
  PutStatic(write.now_seconds);
}

void Partition::ReclaimStatic(int64_t now_seconds) {
  if (!large() || !EventCame(LargeOf(reference_).static_row.event(), now_seconds)) return;
  RowBody& body = context_.body;
  LargeOf(reference_).static_row.Decode(body);
  const size_t before = body.ComplexBytes();
  body.Purge(now_seconds, context_.grace);
  body.DropExpiredValues(now_seconds);
  LS_CHECK(body.ComplexBytes() <= before, "what is over gives memory back, and takes none");
  PutStatic(now_seconds);
}

void Partition::SendStatic(int64_t now_seconds, RowSink& sink) const {
  RowBody::LiveCells cells;
  LargeOf(reference_).static_row.AppendLive(now_seconds, cells);
  if (!cells.empty()) sink.OnStaticRow({cells.data(), cells.size()});
}

std::span<const StoredCell> Partition::StaticCells() const {
  if (!large()) return {};
  LargeOf(reference_).static_row.Decode(context_.body);
  return context_.body.cells();
}

void Partition::FindStaticExpiry(ExpirySearch& search) const {
  const StaticRow& row = LargeOf(reference_).static_row;
  if (row.empty() || !search.MayBeEarlier(row.event())) return;
  row.Decode(context_.body);
  search.Consider(context_.body.cells());
}

void Partition::VerifyStatic() const {
  const LargePartition& partition = LargeOf(reference_);
  if (partition.static_row.empty()) return;
  RowBody& body = context_.body;
  partition.static_row.Decode(body);
  LS_CHECK(!body.empty() && !body.marker().present() && !body.tombstone().present(),
           "(1) a static row has cells alone");
  for (const StoredCell& cell : body.cells()) {
    LS_CHECK(cell.column < context_.schema.statics.size(), "its cells are of static columns");
    LS_CHECK(!partition.tombstone.Covers(cell.view.liveness.timestamp), "(2) no cell is covered");
  }
}

}  // namespace liststore::storage
