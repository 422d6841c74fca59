// RangeTombstones: the range deletions of one partition, as disjoint stretches in key order, each
// under its strongest tombstone. Overlaps are resolved when a deletion arrives, so that asking
// which one covers a key is a search in a tree.
//
// A balanced tree (AVL), whose nodes know the oldest tombstone below them: what ends, or is covered,
// is found without looking at the others. 64 bytes and both bounds for each stretch, in the arena.
//
// What a stronger deletion covers is cut out of the tree as a whole, and so is everything where all of
// it goes; it is *dead*, out of sight, and freed in steps.
//
// Owned by a large partition; single-threaded. n: stretches there; k: those that a range meets, or
// that go.
//
// Invariants (Verify() checks them):
//  (1) stretches ascend, are not empty and do not overlap, and those that touch differ;
//  (2) the heights of two siblings differ by 1 at most;
//  (3) a node has the smallest times and the number of its subtree;
//  (4) no tombstone is later than newest_.
#ifndef LISTSTORE_ENGINE_STORAGE_PARTITION_RANGE_TOMBSTONES_H_
#define LISTSTORE_ENGINE_STORAGE_PARTITION_RANGE_TOMBSTONES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/memory/arena.h"
#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"

namespace liststore::storage {

class RangeTombstones {
 public:
  class Scratch;

  explicit RangeTombstones(memory::Arena& arena) : arena_(arena) {}
  ~RangeTombstones() { FreeSome(SIZE_MAX); }
  RangeTombstones(const RangeTombstones&) = delete;
  RangeTombstones& operator=(const RangeTombstones&) = delete;

  bool empty() const { return root_ == nullptr; }
  size_t size() const { return CountOf(root_); }

  // Covers [range.lower, range.upper); nothing happens when that is empty. A stretch keeps the
  // stronger of the tombstones laid over it. O(log n + k log n), and no more than O(n + k); O(log n)
  // where it is later than all that are there. Asks nothing of the heap that PrepareAdd has taken. False: tombstones
  // of this time or later lay over all of it before.
  bool Add(const ClusteringRange& range, const Tombstone& tombstone, Scratch& scratch);
  // Bytes that Add would allocate now, before it frees any, or some more. O(log n + k), or as Add.
  size_t AddBytes(const ClusteringRange& range, const Tombstone& tombstone, Scratch& scratch) const;
  // Takes from the heap what Add works with, now or when up to `others` ranges more have been added:
  // each of them, and each stretch there, brings two ends, and between two ends that follow each other
  // lies one stretch at most. Throws std::bad_alloc. O(log n), and memory for k.
  void PrepareAdd(const ClusteringRange& range, const Tombstone& tombstone, size_t others,
                  Scratch& scratch) const;
  // The same where nothing is there yet.
  static void PrepareFirstAdd(size_t others, Scratch& scratch);
  // The same where nothing is there yet.
  static size_t FirstAddBytes(const ClusteringRange& range) {
    return memory::Arena::BlockBytes(sizeof(Node) + range.lower.bytes.size() +
                                     range.upper.bytes.size());
  }
  // Becomes the same as another one of the same arena; it is empty. O(n).
  void CopyFrom(const RangeTombstones& from) {
    root_ = CopyOf(from.root_);
    newest_ = from.newest_;
  }
  // What that takes. O(n).
  static size_t CopyBytes(const RangeTombstones& from) {
    size_t bytes = 0;
    ForEachNode(from.root_,
                [&](const Node& node) { bytes += memory::Arena::BlockBytes(node.bytes()); });
    return bytes;
  }
  // The tombstone over a key; one that is not present() when there is none. O(log n).
  Tombstone At(ClusteringKeyView key) const;
  // How far tombstones at `timestamp` or later reach from the first key on, without a gap. Borrowed until
  // the next change; without a packed form. O(log n + those stretches).
  ClusteringBound ReachFromBegin(WriteTimestamp timestamp) const;
  // Forgets tombstones at or below `timestamp` (a partition deletion covers them). As Add.
  void Cover(WriteTimestamp timestamp);
  // Forgets what has no effect any more, up to `stretches_max` of it, or all. As Add; a comparison
  // where there is nothing.
  void Purge(int64_t now_seconds, const GracePolicy& grace, size_t stretches_max = SIZE_MAX);
  // The same for what lies over one key.
  void PurgeAt(ClusteringKeyView key, int64_t now_seconds, const GracePolicy& grace);
  // Whether a tombstone at `timestamp` is stronger than all that are here.
  bool AllBefore(WriteTimestamp timestamp) const {
    return root_ == nullptr || newest_.timestamp < timestamp;
  }
  // When Purge will next find something; kNoExpiry: never. O(1).
  int64_t NextPurge(const GracePolicy& grace) const;

  bool has_dead() const { return dead_ != nullptr; }
  // Frees up to `budget` dead stretches; how many.
  size_t FreeDead(size_t budget);
  // All of them go; they are dead. O(log n).
  void BuryAll() { Bury(std::exchange(root_, nullptr)); }
  // Frees up to `budget` stretches, dead ones too, in no order that anything else can use: for the end. Whether
  // none is left.
  bool FreeSome(size_t budget);

  // Calls visit(ClusteringRange, Tombstone) for each stretch, in key order. Bounds are plain bytes,
  // without a packed form.
  template <typename Visitor>
  void ForEach(Visitor&& visit) const {
    ForEachNode(root_, [&](const Node& node) {
      ClusteringRange range;
      range.lower.bytes = node.lower();
      range.upper.bytes = node.upper();
      range.upper.at_end = node.to_end;
      visit(range, node.tombstone);
    });
  }

  // The same for those that begin behind a bound, where one is given, until visit() returns false.
  template <typename Visitor>
  void ForEachBehind(const std::optional<std::string>& bound, Visitor&& visit) const {
    ForEachNodeBehind(root_, bound, [&](const Node& node) {
      ClusteringRange range;
      range.lower.bytes = node.lower();
      range.upper.bytes = node.upper();
      range.upper.at_end = node.to_end;
      return static_cast<bool>(visit(range, node.tombstone));
    });
  }

  void Verify() const;

 private:
  // A stretch, with the bytes of its bounds behind it.
  struct Node {
    std::string_view lower() const { return {reinterpret_cast<const char*>(this + 1), lower_size}; }
    std::string_view upper() const {
      return {reinterpret_cast<const char*>(this + 1) + lower_size, upper_size};
    }
    size_t bytes() const { return sizeof(Node) + lower_size + upper_size; }

    Node* left = nullptr;
    Node* right = nullptr;
    Tombstone tombstone;
    // Of the subtree.
    WriteTimestamp oldest_timestamp = {};
    int64_t oldest_deletion_seconds = 0;
    uint32_t count = 1;
    uint32_t lower_size = 0;
    uint32_t upper_size = 0;
    int8_t height = 1;
    bool to_end = false;  // no upper end; `upper` is empty
    bool goes = false;    // within Replace
  };
  // An end of a stretch: bytes, or behind everything.
  struct End {
    std::string_view bytes;
    bool at_end;
  };
  // What lies between two ends when a deletion has been laid over the stretches there.
  struct Piece {
    End from;
    End to;
    Tombstone tombstone;
  };
  static bool Before(const End& a, const End& b) {
    if (a.at_end || b.at_end) return !a.at_end && b.at_end;
    return a.bytes < b.bytes;
  }
  static bool Same(const End& a, const End& b) { return !Before(a, b) && !Before(b, a); }
  static End LowerOf(const Node& node) { return {node.lower(), false}; }
  static End UpperOf(const Node& node) { return {node.upper(), node.to_end}; }
  static End LowerOf(const ClusteringRange& range) { return {range.lower.bytes, false}; }
  static End UpperOf(const ClusteringRange& range) {
    return {range.upper.at_end ? std::string_view() : range.upper.bytes, range.upper.at_end};
  }
  static size_t BytesOf(const Piece& piece) {
    return sizeof(Node) + piece.from.bytes.size() + (piece.to.at_end ? 0 : piece.to.bytes.size());
  }

  template <typename Visitor>
  static void ForEachNode(Node* node, Visitor&& visit) {
    if (node == nullptr) return;
    ForEachNode(node->left, visit);
    visit(*node);
    ForEachNode(node->right, visit);
  }

  template <typename Visitor>
  static bool ForEachNodeBehind(Node* node, const std::optional<std::string>& bound,
                                Visitor&& visit) {
    if (node == nullptr) return true;
    const bool behind = !bound || node->lower() > *bound;
    if (behind && (!ForEachNodeBehind(node->left, bound, visit) || !visit(*node))) return false;
    return ForEachNodeBehind(node->right, bound, visit);
  }

  // What is to be done is in the scratch then: what goes, and what comes.
  void MakePlan(const ClusteringRange& range, const Tombstone& tombstone, Scratch& scratch) const;
  // Those that overlap or touch what lies between the ends, ascending.
  static void CollectTouching(Node* node, const End& from, const End& to,
                              std::vector<Node*>& touching);
  static void Lay(std::span<Node* const> touching, const End& from, const End& to,
                  const Tombstone& tombstone, std::vector<Piece>& pieces);
  // Stretches that begin before a bound. O(log n).
  size_t CountBefore(const End& bound) const;
  // Takes out nodes and puts others in, all ascending. The first are freed.
  void Replace(std::span<Node* const> gone, std::span<Node* const> made);
  // Takes out those for which goes(timestamp, deletion_seconds), which holds for all that are older,
  // up to `stretches_max`, or all.
  template <typename Goes>
  void Forget(Goes&& goes, size_t stretches_max);
  // Cuts out what is within the range, of which there may be much, where the tombstone is stronger
  // than all.
  bool CutsBeneath(const Tombstone& tombstone) const {
    return size() > kSearchedMax && newest_.timestamp < tombstone.timestamp;
  }
  void CutBeneath(const ClusteringRange& range);
  // Whether stretches, all of those that touch what lies between two ends, leave nothing of it that is not
  // covered at `timestamp`.
  static bool AllCovered(std::span<Node* const> touching, const End& from, const End& to,
                         WriteTimestamp timestamp);
  void Bury(Node* subtree);
  // The stretch over a key; nullptr: none.
  Node* Over(ClusteringKeyView key) const;
  // The last stretch that begins before a bound; nullptr: none.
  const Node* LastBefore(std::string_view bound) const;
  static void FreeOf(RangeTombstones& owner, Node*& root, size_t& budget);

  Node* CopyOf(const Node* node);
  Node* NewNode(const Piece& piece);
  void FreeNode(Node* node) { arena_.Free(node, node->bytes()); }
  static_assert(sizeof(Node) == 64, "docs/memory.md budgets 64 bytes for a stretch");
  static int HeightOf(const Node* node) { return node == nullptr ? 0 : node->height; }
  static uint32_t CountOf(const Node* node) { return node == nullptr ? 0 : node->count; }
  static void Update(Node* node);
  static Node* RotateRight(Node* node);
  static Node* RotateLeft(Node* node);
  static Node* Balance(Node* node);
  static Node* Insert(Node* root, Node* node);
  static Node* Erase(Node* root, const Node* node);
  static Node* TakeFirst(Node* root, Node*& first);
  static Node* TakeLast(Node* root, Node*& last);
  // One tree of two and what is between them. O(difference of their heights).
  static Node* Join(Node* left, Node* middle, Node* right);
  // Those that begin before a bound, and the others. O(log n).
  static void Split(Node* root, std::string_view bound, Node*& before, Node*& others);
  static Node* Build(std::span<Node* const> ascending);

  // Of so many what a deletion meets is looked at.
  static constexpr size_t kSearchedMax = 16;

  memory::Arena& arena_;
  Node* root_ = nullptr;
  Node* dead_ = nullptr;  // some trees, each at the right end of the one before
  Tombstone newest_;      // both times, not of one tombstone
};

// What laying a deletion works with; nothing of it is kept from one to the next but the memory.
class RangeTombstones::Scratch {
 public:
  // What it has room for, of stretches and pieces together.
  size_t capacity() const {
    return touching_.capacity() + pieces_.capacity() + gone_.capacity() + made_.capacity() +
           nodes_.capacity();
  }
  void Free() { *this = Scratch(); }

 private:
  friend class RangeTombstones;

  void Reserve(size_t stretches) {
    touching_.reserve(stretches);
    pieces_.reserve(stretches);
    gone_.reserve(stretches);
    nodes_.reserve(stretches);
    made_.reserve(stretches);
  }

  std::vector<Node*> touching_;
  std::vector<Piece> pieces_;
  // The plan: stretches that go, ascending, and pieces that come, ascending.
  std::vector<Node*> gone_;
  std::vector<Piece> made_;
  std::vector<Node*> nodes_;  // of the pieces
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_PARTITION_RANGE_TOMBSTONES_H_
