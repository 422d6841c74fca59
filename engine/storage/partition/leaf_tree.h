// LeafTree: the leaves of a large partition in key order, under two levels of index.
//
//   root     branches in order, a growing array
//   branch   up to 64 entries
//   entry    8-byte key prefix, leaf
//
// The prefix is that of the leaf's first key, so that a search rarely touches a leaf it does not
// end in: three lines for ten million rows. Where prefixes tie, or do not compare (a plain key
// among packed ones), the leaf's first key decides. A root of 100,000 leaves is 37 KiB, and an
// insert into it one memmove in some thousand row inserts.
//
// Owned by one partition; single-threaded. Owns its branches, not its leaves.
//
// Many leaves in a row are taken out by branches, in O(root), and wait there, out of sight, to be
// freed one by one: *cut* leaves. Only TakeCut and ForEachCut speak of them.
//
// Invariants (Verify() checks them):
//  (1) no branch and no leaf is empty;
//  (2) the last key of a leaf is smaller than the first key of the next;
//  (3) prefixes and earliest expiries of entries and branches are those of what they stand for.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_TREE_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_TREE_H_

#include <cstdint>
#include <vector>

#include "engine/memory/arena_allocator.h"
#include "engine/model/clustering_key.h"
#include "engine/storage/partition/leaf.h"

namespace liststore::storage {

class LeafTree {
 public:
  static constexpr uint32_t kBranchEntriesMax = 64;

  // Where a leaf stands; invalid after the next insertion or removal of a leaf.
  struct Position {
    uint32_t branch = 0;
    uint32_t entry = 0;
    auto operator<=>(const Position&) const = default;
  };

  explicit LeafTree(memory::Arena& arena);
  ~LeafTree();
  LeafTree(const LeafTree&) = delete;
  LeafTree& operator=(const LeafTree&) = delete;

  // No leaf is left, cut ones out of account.
  bool empty() const { return root_.empty(); }
  size_t leaf_count() const { return leaf_count_; }

  // The last leaf whose first key is <= the key (at or before the bound); the first one when there
  // is none. The tree is not empty. O(log leaves).
  Position Find(ClusteringKeyView key) const;
  Position Find(const ClusteringBound& bound) const;
  Position First() const { return {0, 0}; }
  Position Last() const;
  // Moves to the next or previous leaf; false at the end, and the position stays.
  bool Next(Position& position) const;
  bool Previous(Position& position) const;
  Leaf leaf(Position position) const;

  // The earliest expiry of any row; kNeverExpires: none.
  uint32_t earliest_expiry() const;
  // The first leaf whose earliest expiry is <= `seconds`, if any. O(branches + entries of one).
  bool FindDue(uint32_t seconds, Position& position) const;

  // Puts a leaf behind `position` (of an empty tree: as its only one) and returns where it stands.
  Position InsertAfter(Position position, char* leaf);
  // Takes out the entry of a leaf; the caller frees the leaf.
  void Remove(Position position);
  // Takes out all leaves of the branches behind that of `first` and before that of `last`. Positions
  // up to that of `first` stay. O(root).
  void CutBetween(Position first, Position last);
  bool has_cut() const { return cut_ != nullptr; }
  // One of the leaves that were cut, which is the caller's to free; nullptr: there is none.
  char* TakeCut();
  // visit(Leaf), in no order.
  template <typename Visitor>
  void ForEachCut(Visitor&& visit) const {
    for (const Branch* branch = cut_; branch != nullptr; branch = branch->next_cut) {
      for (uint32_t i = 0; i < branch->count; ++i) visit(Leaf(branch->entries[i].leaf));
    }
  }
  // The leaf has changed: another block, first key or expiry.
  void Refresh(Position position, char* leaf);

  // What a tree of as many leaves takes that are put in one behind the other.
  size_t CopyBytes() const;
  // What the root takes when the next branch comes: it doubles when it is full.
  size_t GrowthBytes() const;
  void Verify() const;

 private:
  struct Entry {
    uint64_t prefix;
    char* leaf;
    uint32_t earliest_expiry;
    uint32_t packed;
  };
  struct Branch {
    uint32_t count;
    uint32_t earliest_expiry;
    Branch* next_cut;  // of one that was cut alone
    Entry entries[kBranchEntriesMax];
  };
  struct RootEntry {
    uint64_t prefix;
    Branch* branch;
    uint32_t earliest_expiry;
    uint32_t packed;
  };

  static Entry MakeEntry(char* leaf);
  template <typename TargetType>
  Position FindTarget(const TargetType& target) const;
  void RefreshBranch(uint32_t branch);
  void SplitBranch(uint32_t branch);

  memory::Arena& arena_;
  std::vector<RootEntry, memory::ArenaAllocator<RootEntry>> root_;
  size_t leaf_count_ = 0;
  Branch* cut_ = nullptr;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_LEAF_TREE_H_
