// When something of a partition expires: what a clock is to jump to.
#include <utility>

#include "engine/storage/partition/partition.h"

namespace liststore::storage {

void Partition::FindExpiryIn(const Leaf& leaf, ExpirySearch& search) const {
  const LeafHeader& header = leaf.header();
  // What has no event of its own lasts, but in complex rows.
  if (header.earliest_expiry == kNeverExpires && leaf.all_simple()) return;
  if (!search.MayBeEarlier(header.earliest_expiry)) return;
  search.Spend(leaf.size());
  for (size_t i = 0; i < leaf.size(); ++i) {
    const RowMeta meta = leaf.meta(i);
    if (!search.MayBeEarlier(meta.expiry)) continue;
    if (!meta.complex()) {
      search.Consider(leaf.liveness(i));
      continue;
    }
    DecodeRow(leaf, i, context_.body);
    search.Consider(context_.body.marker());
    search.Consider(context_.body.cells());
  }
}

bool Partition::FindNextExpiry(ExpirySearch& search, ExpiryPlace& place) const {
  search.Spend(1);
  const bool goes_on = std::exchange(place.within, false);
  if (!large()) {
    FindExpiryIn(Leaf(BlockOf(reference_)), search);
    return true;
  }
  if (!goes_on) FindStaticExpiry(search);
  const LeafTree& tree = LargeOf(reference_).tree;
  if (tree.empty() || !search.MayBeEarlier(tree.earliest_expiry())) return true;
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

}  // namespace liststore::storage
