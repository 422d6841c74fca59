#include "engine/storage/partition/leaf_tree.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace liststore::storage {
namespace {

// The first eight bytes of a key as a number that orders like them; shorter keys are padded with
// zeros, so that equal prefixes decide nothing.
uint64_t PrefixOf(std::string_view bytes) {
  if (bytes.size() >= 8) return LoadBigEndian64(bytes.data());
  char padded[8] = {};
  if (!bytes.empty()) std::memcpy(padded, bytes.data(), bytes.size());
  return LoadBigEndian64(padded);
}

// What a search looks for: a key or a bound. `plain` and `packed` are its prefixes in the form of
// plain and of packed leaves.
struct KeyTarget {
  ClusteringKeyView key;
  std::optional<uint64_t> plain;
  std::optional<uint64_t> packed;

  explicit KeyTarget(ClusteringKeyView target) : key(target) {
    (target.packed ? packed : plain) = PrefixOf(target.bytes);
  }
  // Whether the leaf starts at or before the target.
  bool AtOrAfter(const Leaf& leaf) const { return CompareKeys(leaf.key(0), key) <= 0; }
};

struct BoundTarget {
  const ClusteringBound& bound;
  std::optional<uint64_t> plain;
  std::optional<uint64_t> packed;

  explicit BoundTarget(const ClusteringBound& target) : bound(target) {
    plain = PrefixOf(target.bytes);
    if (target.packed) packed = PrefixOf({target.packed->data(), target.packed->size()});
  }
  bool AtOrAfter(const Leaf& leaf) const { return CompareKeyToBound(leaf.key(0), bound) <= 0; }
};

}  // namespace

LeafTree::LeafTree(memory::Arena& arena)
    : arena_(arena), root_(memory::ArenaAllocator<RootEntry>(&arena)) {}

LeafTree::~LeafTree() {
  LS_DCHECK(cut_ == nullptr, "cut leaves are freed before");
  for (const RootEntry& entry : root_) arena_.Free(entry.branch, sizeof(Branch));
}

LeafTree::Entry LeafTree::MakeEntry(char* block) {
  const Leaf leaf(block);
  LS_DCHECK(!leaf.empty(), "(1) no leaf of a tree is empty");
  return {PrefixOf(leaf.key(0).bytes), block, leaf.header().earliest_expiry,
          leaf.packed() ? 1u : 0u};
}

template <typename TargetType>
LeafTree::Position LeafTree::FindTarget(const TargetType& target) const {
  LS_DCHECK(!empty(), "a search needs a leaf");
  // True when the leaf behind `entry` starts at or before the target.
  const auto starts_before = [&](uint64_t prefix, bool packed, char* leaf) {
    const std::optional<uint64_t>& wanted = packed ? target.packed : target.plain;
    if (wanted && prefix != *wanted) return prefix < *wanted;
    return target.AtOrAfter(Leaf(leaf));
  };
  size_t low = 0;
  size_t high = root_.size();
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    const RootEntry& entry = root_[middle];
    (starts_before(entry.prefix, entry.packed != 0, entry.branch->entries[0].leaf) ? low : high) =
        middle;
  }
  const Branch& branch = *root_[low].branch;
  size_t first = 0;
  size_t last = branch.count;
  while (last - first > 1) {
    const size_t middle = (first + last) / 2;
    const Entry& entry = branch.entries[middle];
    (starts_before(entry.prefix, entry.packed != 0, entry.leaf) ? first : last) = middle;
  }
  return {static_cast<uint32_t>(low), static_cast<uint32_t>(first)};
}

LeafTree::Position LeafTree::Find(ClusteringKeyView key) const {
  return FindTarget(KeyTarget(key));
}

LeafTree::Position LeafTree::Find(const ClusteringBound& bound) const {
  if (bound.at_end) return Last();
  return FindTarget(BoundTarget(bound));
}

LeafTree::Position LeafTree::Last() const {
  LS_DCHECK(!empty(), "an empty tree has no last leaf");
  const auto branch = static_cast<uint32_t>(root_.size() - 1);
  return {branch, root_[branch].branch->count - 1};
}

bool LeafTree::Next(Position& position) const {
  if (position.entry + 1 < root_[position.branch].branch->count) {
    ++position.entry;
    return true;
  }
  if (position.branch + 1 == root_.size()) return false;
  position = {position.branch + 1, 0};
  return true;
}

bool LeafTree::Previous(Position& position) const {
  if (position.entry > 0) {
    --position.entry;
    return true;
  }
  if (position.branch == 0) return false;
  const uint32_t branch = position.branch - 1;
  position = {branch, root_[branch].branch->count - 1};
  return true;
}

Leaf LeafTree::leaf(Position position) const {
  LS_DCHECK(position.branch < root_.size(), "the position is in the tree");
  const Branch& branch = *root_[position.branch].branch;
  LS_DCHECK(position.entry < branch.count, "the position is in the tree");
  return Leaf(branch.entries[position.entry].leaf);
}

uint32_t LeafTree::earliest_expiry() const {
  uint32_t earliest = kNeverExpires;
  for (const RootEntry& entry : root_) earliest = std::min(earliest, entry.earliest_expiry);
  return earliest;
}

bool LeafTree::FindDue(uint32_t seconds, Position& position) const {
  for (uint32_t branch = 0; branch < root_.size(); ++branch) {
    if (root_[branch].earliest_expiry > seconds) continue;
    const Branch& node = *root_[branch].branch;
    for (uint32_t entry = 0; entry < node.count; ++entry) {
      if (node.entries[entry].earliest_expiry <= seconds) {
        position = {branch, entry};
        return true;
      }
    }
  }
  return false;
}

void LeafTree::RefreshBranch(uint32_t index) {
  Branch& branch = *root_[index].branch;
  branch.earliest_expiry = kNeverExpires;
  for (uint32_t i = 0; i < branch.count; ++i) {
    branch.earliest_expiry = std::min(branch.earliest_expiry, branch.entries[i].earliest_expiry);
  }
  root_[index].prefix = branch.entries[0].prefix;
  root_[index].packed = branch.entries[0].packed;
  root_[index].earliest_expiry = branch.earliest_expiry;
}

void LeafTree::SplitBranch(uint32_t index) {
  Branch& left = *root_[index].branch;
  auto* right =
      static_cast<Branch*>(arena_.Allocate(sizeof(Branch), memory::Arena::Mobility::kFixed));
  // A branch that fills at its end is one that keys are appended to: it stays nearly full.
  const uint32_t keep = index + 1 == root_.size() ? kBranchEntriesMax - 1 : kBranchEntriesMax / 2;
  right->count = left.count - keep;
  std::memcpy(right->entries, left.entries + keep, right->count * sizeof(Entry));
  left.count = keep;
  root_.insert(root_.begin() + index + 1, RootEntry{0, right, kNeverExpires, 0});
  RefreshBranch(index);
  RefreshBranch(index + 1);
}

LeafTree::Position LeafTree::InsertAfter(Position position, char* leaf) {
  ++leaf_count_;
  if (empty()) {
    auto* branch =
        static_cast<Branch*>(arena_.Allocate(sizeof(Branch), memory::Arena::Mobility::kFixed));
    branch->count = 1;
    branch->entries[0] = MakeEntry(leaf);
    root_.push_back({0, branch, kNeverExpires, 0});
    RefreshBranch(0);
    return {0, 0};
  }
  if (root_[position.branch].branch->count == kBranchEntriesMax) {
    SplitBranch(position.branch);
    const uint32_t kept = root_[position.branch].branch->count;
    if (position.entry >= kept) position = {position.branch + 1, position.entry - kept};
  }
  Branch& branch = *root_[position.branch].branch;
  const uint32_t at = position.entry + 1;
  std::memmove(branch.entries + at + 1, branch.entries + at, (branch.count - at) * sizeof(Entry));
  branch.entries[at] = MakeEntry(leaf);
  ++branch.count;
  RefreshBranch(position.branch);
  return {position.branch, at};
}

void LeafTree::Remove(Position position) {
  Branch& branch = *root_[position.branch].branch;
  LS_CHECK(position.entry < branch.count, "the leaf to remove is in the tree");
  --leaf_count_;
  std::memmove(branch.entries + position.entry, branch.entries + position.entry + 1,
               (branch.count - position.entry - 1) * sizeof(Entry));
  if (--branch.count == 0) {
    arena_.Free(&branch, sizeof(Branch));
    root_.erase(root_.begin() + position.branch);
  } else {
    RefreshBranch(position.branch);
  }
}

void LeafTree::CutBetween(Position first, Position last) {
  if (last.branch <= first.branch + 1) return;
  const auto begin = root_.begin() + first.branch + 1;
  const auto end = root_.begin() + last.branch;
  for (auto at = begin; at != end; ++at) {
    leaf_count_ -= at->branch->count;
    at->branch->next_cut = cut_;
    cut_ = at->branch;
  }
  root_.erase(begin, end);
}

char* LeafTree::TakeCut() {
  if (cut_ == nullptr) return nullptr;
  char* const leaf = cut_->entries[--cut_->count].leaf;
  if (cut_->count == 0) {
    Branch* const next = cut_->next_cut;
    arena_.Free(cut_, sizeof(Branch));
    cut_ = next;
  }
  return leaf;
}

void LeafTree::Refresh(Position position, char* leaf) {
  Branch& branch = *root_[position.branch].branch;
  LS_CHECK(position.entry < branch.count, "the leaf to refresh is in the tree");
  Entry& entry = branch.entries[position.entry];
  const uint32_t before = entry.earliest_expiry;
  entry = MakeEntry(leaf);
  if (entry.earliest_expiry < branch.earliest_expiry) {
    branch.earliest_expiry = entry.earliest_expiry;
    root_[position.branch].earliest_expiry = entry.earliest_expiry;
  } else if (before == branch.earliest_expiry && entry.earliest_expiry != before) {
    RefreshBranch(position.branch);
  }
  if (position.entry == 0) {
    root_[position.branch].prefix = entry.prefix;
    root_[position.branch].packed = entry.packed;
  }
}

size_t LeafTree::CopyBytes() const {
  const size_t branches = leaf_count_ / (kBranchEntriesMax - 1) + 1;
  // The root doubles on the way.
  return branches * memory::Arena::BlockBytes(sizeof(Branch)) +
         4 * memory::Arena::BlockBytes(branches * sizeof(RootEntry));
}

size_t LeafTree::GrowthBytes() const {
  return root_.size() == root_.capacity() ? 2 * root_.capacity() * sizeof(RootEntry) : 0;
}

void LeafTree::Verify() const {
  size_t leaves = 0;
  char* before = nullptr;
  for (const RootEntry& root_entry : root_) {
    const Branch& branch = *root_entry.branch;
    LS_CHECK(branch.count > 0 && branch.count <= kBranchEntriesMax, "(1) no branch is empty");
    uint32_t earliest = kNeverExpires;
    for (uint32_t i = 0; i < branch.count; ++i) {
      const Entry& entry = branch.entries[i];
      const Leaf leaf(entry.leaf);
      leaf.Verify();
      LS_CHECK(!leaf.empty(), "(1) no leaf is empty");
      const Entry fresh = MakeEntry(entry.leaf);
      LS_CHECK(fresh.prefix == entry.prefix && fresh.packed == entry.packed &&
                   fresh.earliest_expiry == entry.earliest_expiry,
               "(3) an entry says what its leaf says");
      if (before != nullptr) {
        const Leaf last(before);
        LS_CHECK(CompareKeys(last.key(last.size() - 1), leaf.key(0)) < 0, "(2) leaves ascend");
      }
      before = entry.leaf;
      earliest = std::min(earliest, entry.earliest_expiry);
      ++leaves;
    }
    LS_CHECK(earliest == branch.earliest_expiry && earliest == root_entry.earliest_expiry,
             "(3) a branch knows its earliest expiry");
    LS_CHECK(root_entry.prefix == branch.entries[0].prefix &&
                 root_entry.packed == branch.entries[0].packed,
             "(3) the root knows where a branch starts");
  }
  LS_CHECK(leaves == leaf_count_, "leaves are counted");
}

}  // namespace liststore::storage
