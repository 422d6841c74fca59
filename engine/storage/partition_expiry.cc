// When something of a partition expires: what a clock is to jump to.
#include <utility>

#include "engine/storage/partition.h"

namespace liststore {
namespace {

// Whether `event`, of a leaf or a row, may stand for an expiry before `earliest`. It is a lower
// bound, but beyond the year 2106, where there is none.
bool MayBeEarlier(uint32_t event, int64_t earliest) {
  return event == kNeverExpires ? earliest > kNeverExpires : event < earliest;
}

}  // namespace

void Partition::FindExpiryIn(const Leaf& leaf, ExpirySearch& search) const {
  const LeafHeader& header = leaf.header();
  // What has no event of its own lasts, but in complex rows.
  if (header.earliest_expiry == kNeverExpires && leaf.all_simple()) return;
  if (!MayBeEarlier(header.earliest_expiry, search.earliest)) return;
  search.Spend(leaf.size());
  for (size_t i = 0; i < leaf.size(); ++i) {
    const RowMeta meta = leaf.meta(i);
    if (!MayBeEarlier(meta.expiry, search.earliest)) continue;
    if (!meta.complex()) {
      search.Consider(leaf.liveness(i));
      continue;
    }
    DecodeRow(leaf, i, context_.body);
    search.Consider(context_.body.marker());
    for (const StoredCell& cell : context_.body.cells()) {
      if (cell.view.live) search.Consider(cell.view.liveness);
    }
  }
}

bool Partition::FindNextExpiry(ExpirySearch& search, ExpiryPlace& place) const {
  search.Spend(1);
  const bool goes_on = std::exchange(place.within, false);
  if (!large()) {
    FindExpiryIn(Leaf(BlockOf(reference_)), search);
    return true;
  }
  const LeafTree& tree = LargeOf(reference_).tree;
  if (tree.empty() || !MayBeEarlier(tree.earliest_expiry(), search.earliest)) return true;
  LeafTree::Position at =
      goes_on ? tree.Find(ClusteringKeyView{place.key, place.packed}) : tree.First();
  do {
    const Leaf leaf = tree.leaf(at);
    if (search.budget == 0) {
      const ClusteringKeyView key = leaf.key(0);
      place.within = true;
      place.key = key.bytes;
      place.packed = key.packed;
      return false;
    }
    search.Spend(1);
    FindExpiryIn(leaf, search);
  } while (tree.Next(at));
  return true;
}

}  // namespace liststore
