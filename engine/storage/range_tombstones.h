// RangeTombstones: the range deletions of one partition, as disjoint stretches in key order, each
// under its strongest tombstone. Overlaps are resolved when a deletion arrives, so that asking
// which one covers a key is a search in a tree.
//
// A balanced tree (AVL), whose nodes know the oldest tombstone below them: what ends, or is covered,
// is found without looking at the others. 64 bytes and both bounds for each stretch, in the arena.
//
// Owned by a large partition; single-threaded. n: stretches there; k: those that a range meets, or
// that go.
//
// Invariants (Verify() checks them):
//  (1) stretches ascend, are not empty and do not overlap, and those that touch differ;
//  (2) the heights of two siblings differ by 1 at most;
//  (3) a node has the smallest times of its subtree.
#ifndef LISTSTORE_ENGINE_STORAGE_RANGE_TOMBSTONES_H_
#define LISTSTORE_ENGINE_STORAGE_RANGE_TOMBSTONES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "engine/memory/arena.h"
#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"

namespace liststore::storage {

class RangeTombstones {
 public:
  explicit RangeTombstones(memory::Arena& arena) : arena_(arena) {}
  ~RangeTombstones() { FreeSome(SIZE_MAX); }
  RangeTombstones(const RangeTombstones&) = delete;
  RangeTombstones& operator=(const RangeTombstones&) = delete;

  bool empty() const { return root_ == nullptr; }
  size_t size() const { return size_; }

  // Covers [range.lower, range.upper); nothing happens when that is empty. A stretch keeps the
  // stronger of the tombstones laid over it. O(log n + k log n), and no more than O(n + k).
  void Add(const ClusteringRange& range, const Tombstone& tombstone);
  // Bytes that Add would allocate now, before it frees any. O(log n + k).
  size_t AddBytes(const ClusteringRange& range, const Tombstone& tombstone) const;
  // The same where nothing is there yet.
  static size_t FirstAddBytes(const ClusteringRange& range) {
    return memory::Arena::BlockBytes(sizeof(Node) + range.lower.bytes.size() +
                                     range.upper.bytes.size());
  }
  // The tombstone over a key; one that is not present() when there is none. O(log n).
  Tombstone At(ClusteringKeyView key) const;
  // Forgets tombstones at or below `timestamp` (a partition deletion covers them). As Add.
  void Cover(WriteTimestamp timestamp);
  // Forgets what has no effect any more. As Add; a comparison where there is nothing.
  void Purge(int64_t now_seconds, const GracePolicy& grace);
  // When Purge will next find something; kNoExpiry: never. O(1).
  int64_t NextPurge(const GracePolicy& grace) const;

  // Frees up to `budget` stretches, in no order that anything else can use: for the end. Whether
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
  // A deletion that is to be laid: stretches that go, ascending, and pieces that come, ascending.
  struct Plan {
    absl::InlinedVector<Node*, 8> gone;
    absl::InlinedVector<Piece, 8> made;
  };

  static bool Before(const End& a, const End& b) {
    if (a.at_end || b.at_end) return !a.at_end && b.at_end;
    return a.bytes < b.bytes;
  }
  static bool Same(const End& a, const End& b) { return !Before(a, b) && !Before(b, a); }
  static End LowerOf(const Node& node) { return {node.lower(), false}; }
  static End UpperOf(const Node& node) { return {node.upper(), node.to_end}; }
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

  Plan MakePlan(const ClusteringRange& range, const Tombstone& tombstone) const;
  // Those that overlap or touch what lies between the ends, ascending.
  static void CollectTouching(Node* node, const End& from, const End& to,
                              absl::InlinedVector<Node*, 8>& touching);
  static absl::InlinedVector<Piece, 8> Lay(std::span<Node* const> touching, const End& from,
                                           const End& to, const Tombstone& tombstone);
  // Takes out nodes and puts others in, all ascending. The first are freed.
  void Replace(std::span<Node* const> gone, std::span<Node* const> made);
  // Takes out all for which goes(timestamp, deletion_seconds), which holds for all that are older.
  template <typename Goes>
  void Forget(Goes&& goes);

  Node* NewNode(const Piece& piece);
  void FreeNode(Node* node) { arena_.Free(node, node->bytes()); }
  static_assert(sizeof(Node) == 64, "docs/memory.md budgets 64 bytes for a stretch");
  static int HeightOf(const Node* node) { return node == nullptr ? 0 : node->height; }
  static void Update(Node* node);
  static Node* RotateRight(Node* node);
  static Node* RotateLeft(Node* node);
  static Node* Balance(Node* node);
  static Node* Insert(Node* root, Node* node);
  static Node* Erase(Node* root, const Node* node);
  static Node* TakeFirst(Node* root, Node*& first);
  static Node* Build(std::span<Node* const> ascending);

  memory::Arena& arena_;
  Node* root_ = nullptr;
  size_t size_ = 0;
};

}  // namespace liststore::storage

#endif  // LISTSTORE_ENGINE_STORAGE_RANGE_TOMBSTONES_H_
