#include "engine/storage/range_tombstones.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace liststore::storage {
namespace {

// Where more than this part of the nodes comes and goes, the tree is built anew: a node that is
// taken out or put in alone costs a way down and up.
constexpr size_t kRebuiltPart = 16;

}  // namespace

// --- The tree ------------------------------------------------------------------------------------

RangeTombstones::Node* RangeTombstones::NewNode(const Piece& piece) {
  void* const memory = arena_.Allocate(BytesOf(piece), memory::Arena::Mobility::kFixed);
  Node* const node = new (memory) Node;
  node->tombstone = piece.tombstone;
  node->lower_size = static_cast<uint32_t>(piece.from.bytes.size());
  node->to_end = piece.to.at_end;
  node->upper_size = node->to_end ? 0 : static_cast<uint32_t>(piece.to.bytes.size());
  char* const bytes = reinterpret_cast<char*>(node + 1);
  // The first bound may be no address at all.
  if (node->lower_size != 0) std::memcpy(bytes, piece.from.bytes.data(), node->lower_size);
  if (node->upper_size != 0) {
    std::memcpy(bytes + node->lower_size, piece.to.bytes.data(), node->upper_size);
  }
  Update(node);
  return node;
}

void RangeTombstones::Update(Node* node) {
  node->height = static_cast<int8_t>(1 + std::max(HeightOf(node->left), HeightOf(node->right)));
  node->oldest_timestamp = node->tombstone.timestamp;
  node->oldest_deletion_seconds = node->tombstone.deletion_seconds;
  for (const Node* below : {node->left, node->right}) {
    if (below == nullptr) continue;
    node->oldest_timestamp = std::min(node->oldest_timestamp, below->oldest_timestamp);
    node->oldest_deletion_seconds =
        std::min(node->oldest_deletion_seconds, below->oldest_deletion_seconds);
  }
}

RangeTombstones::Node* RangeTombstones::RotateRight(Node* node) {
  Node* const top = node->left;
  node->left = std::exchange(top->right, node);
  Update(node);
  Update(top);
  return top;
}

RangeTombstones::Node* RangeTombstones::RotateLeft(Node* node) {
  Node* const top = node->right;
  node->right = std::exchange(top->left, node);
  Update(node);
  Update(top);
  return top;
}

RangeTombstones::Node* RangeTombstones::Balance(Node* node) {
  Update(node);
  const int lean = HeightOf(node->left) - HeightOf(node->right);
  if (lean > 1) {
    if (HeightOf(node->left->left) < HeightOf(node->left->right)) {
      node->left = RotateLeft(node->left);
    }
    return RotateRight(node);
  }
  if (lean < -1) {
    if (HeightOf(node->right->right) < HeightOf(node->right->left)) {
      node->right = RotateRight(node->right);
    }
    return RotateLeft(node);
  }
  return node;
}

RangeTombstones::Node* RangeTombstones::Insert(Node* root, Node* node) {
  if (root == nullptr) return node;
  Node*& side = node->lower() < root->lower() ? root->left : root->right;
  side = Insert(side, node);
  return Balance(root);
}

RangeTombstones::Node* RangeTombstones::TakeFirst(Node* root, Node*& first) {
  if (root->left == nullptr) {
    first = root;
    return root->right;
  }
  root->left = TakeFirst(root->left, first);
  return Balance(root);
}

RangeTombstones::Node* RangeTombstones::Erase(Node* root, const Node* node) {
  LS_CHECK(root != nullptr, "a stretch that is taken out is in the tree");
  if (root != node) {
    Node*& side = node->lower() < root->lower() ? root->left : root->right;
    side = Erase(side, node);
    return Balance(root);
  }
  if (root->right == nullptr) return root->left;
  Node* first = nullptr;
  Node* const right = TakeFirst(root->right, first);
  first->left = root->left;
  first->right = right;
  return Balance(first);
}

RangeTombstones::Node* RangeTombstones::Build(std::span<Node* const> ascending) {
  if (ascending.empty()) return nullptr;
  const size_t middle = ascending.size() / 2;
  Node* const root = ascending[middle];
  root->left = Build(ascending.first(middle));
  root->right = Build(ascending.subspan(middle + 1));
  Update(root);
  return root;
}

void RangeTombstones::Replace(std::span<Node* const> gone, std::span<Node* const> made) {
  if ((gone.size() + made.size()) * kRebuiltPart < size_) {
    for (const Node* node : gone) root_ = Erase(root_, node);
    for (Node* node : made) {
      node->left = nullptr;
      node->right = nullptr;
      Update(node);
      root_ = Insert(root_, node);
    }
  } else {
    std::vector<Node*> stay;
    std::vector<Node*> all;
    stay.reserve(size_ - gone.size());
    all.reserve(size_ - gone.size() + made.size());
    // From here on nothing is asked of the heap.
    for (Node* node : gone) node->goes = true;
    ForEachNode(root_, [&](Node& node) {
      if (!node.goes) stay.push_back(&node);
    });
    std::merge(stay.begin(), stay.end(), made.begin(), made.end(), std::back_inserter(all),
               [](const Node* a, const Node* b) { return a->lower() < b->lower(); });
    root_ = Build(all);
  }
  size_ += made.size();
  size_ -= gone.size();
  for (Node* node : gone) FreeNode(node);
}

bool RangeTombstones::FreeSome(size_t budget) {
  while (root_ != nullptr && budget > 0) {
    if (Node* const left = root_->left; left != nullptr) {
      root_->left = std::exchange(left->right, root_);
      root_ = left;
      continue;
    }
    FreeNode(std::exchange(root_, root_->right));
    --size_;
    --budget;
  }
  return root_ == nullptr;
}

// --- Laying a deletion ---------------------------------------------------------------------------

void RangeTombstones::CollectTouching(Node* node, const End& from, const End& to,
                                      absl::InlinedVector<Node*, 8>& touching) {
  if (node == nullptr) return;
  // What is left of it ends where it begins at the latest, what is right of it begins where it ends.
  if (!Before(LowerOf(*node), from)) CollectTouching(node->left, from, to, touching);
  if (!Before(UpperOf(*node), from) && !Before(to, LowerOf(*node))) touching.push_back(node);
  if (!Before(to, UpperOf(*node))) CollectTouching(node->right, from, to, touching);
}

absl::InlinedVector<RangeTombstones::Piece, 8> RangeTombstones::Lay(std::span<Node* const> touching,
                                                                    const End& from, const End& to,
                                                                    const Tombstone& tombstone) {
  absl::InlinedVector<Piece, 8> pieces;
  const auto lay = [&](const End& begin, const End& end, const Tombstone& over) {
    if (!Before(begin, end)) return;
    if (!pieces.empty() && pieces.back().tombstone == over && Same(pieces.back().to, begin)) {
      pieces.back().to = end;
    } else {
      pieces.push_back({begin, end, over});
    }
  };
  End position = from;  // the new deletion is laid up to here
  for (const Node* node : touching) {
    const End low = LowerOf(*node);
    const End high = UpperOf(*node);
    // In front of the new one, in a gap of what is there, under both, behind the new one.
    const End& inner_low = Before(low, position) ? position : low;
    const End& inner_high = Before(high, to) ? high : to;
    lay(low, Before(high, from) ? high : from, node->tombstone);
    lay(position, Before(low, to) ? low : to, tombstone);
    if (Before(inner_low, inner_high)) {
      lay(inner_low, inner_high, Tombstone::Stronger(node->tombstone, tombstone));
      position = inner_high;
    } else if (!Before(low, to)) {
      position = to;
    }
    lay(Before(low, to) ? to : low, high, node->tombstone);
  }
  lay(position, to, tombstone);
  return pieces;
}

RangeTombstones::Plan RangeTombstones::MakePlan(const ClusteringRange& range,
                                                const Tombstone& tombstone) const {
  Plan plan;
  if (range.lower.at_end) return plan;
  const End from{range.lower.bytes, false};
  const End to{range.upper.at_end ? std::string_view() : range.upper.bytes, range.upper.at_end};
  if (!Before(from, to)) return plan;
  absl::InlinedVector<Node*, 8> touching;
  CollectTouching(root_, from, to, touching);
  // What stays as it is neither goes nor comes.
  size_t next = 0;
  for (const Piece& piece : Lay(touching, from, to, tombstone)) {
    while (next < touching.size() && Before(LowerOf(*touching[next]), piece.from)) {
      plan.gone.push_back(touching[next++]);
    }
    const bool stays = next < touching.size() && Same(LowerOf(*touching[next]), piece.from) &&
                       Same(UpperOf(*touching[next]), piece.to) &&
                       touching[next]->tombstone == piece.tombstone;
    if (stays) {
      ++next;
    } else {
      plan.made.push_back(piece);
    }
  }
  plan.gone.insert(plan.gone.end(), touching.begin() + static_cast<ptrdiff_t>(next),
                   touching.end());
  return plan;
}

void RangeTombstones::Add(const ClusteringRange& range, const Tombstone& tombstone) {
  const Plan plan = MakePlan(range, tombstone);
  // Pieces borrow bytes of what goes.
  absl::InlinedVector<Node*, 8> made;
  for (const Piece& piece : plan.made) made.push_back(NewNode(piece));
  Replace(plan.gone, made);
}

size_t RangeTombstones::AddBytes(const ClusteringRange& range, const Tombstone& tombstone) const {
  size_t bytes = 0;
  for (const Piece& piece : MakePlan(range, tombstone).made) {
    bytes += memory::Arena::BlockBytes(BytesOf(piece));
  }
  return bytes;
}

// --- Looking and forgetting ----------------------------------------------------------------------

Tombstone RangeTombstones::At(ClusteringKeyView key) const {
  if (root_ == nullptr) return {};
  char text[kItemKeyTextBytes];
  const std::string_view plain = PlainKey(key, text);
  const Node* last = nullptr;  // that begins at the key or before it
  for (const Node* node = root_; node != nullptr;) {
    if (plain < node->lower()) {
      node = node->left;
    } else {
      last = node;
      node = node->right;
    }
  }
  if (last == nullptr || (!last->to_end && plain >= last->upper())) return {};
  return last->tombstone;
}

template <typename Goes>
void RangeTombstones::Forget(Goes&& goes) {
  absl::InlinedVector<Node*, 8> gone;
  const auto collect = [&](auto& self, Node* node) -> void {
    if (node == nullptr || !goes(node->oldest_timestamp, node->oldest_deletion_seconds)) return;
    self(self, node->left);
    if (goes(node->tombstone.timestamp, node->tombstone.deletion_seconds)) gone.push_back(node);
    self(self, node->right);
  };
  collect(collect, root_);
  if (!gone.empty()) Replace(gone, {});
}

void RangeTombstones::Cover(WriteTimestamp timestamp) {
  Forget([&](WriteTimestamp written, int64_t) { return written <= timestamp; });
}

void RangeTombstones::Purge(int64_t now_seconds, const GracePolicy& grace) {
  Forget([&](WriteTimestamp, int64_t deletion) { return grace.Gone(deletion, now_seconds); });
}

int64_t RangeTombstones::NextPurge(const GracePolicy& grace) const {
  if (root_ == nullptr) return kNoExpiry;
  return Tombstone{root_->oldest_timestamp, root_->oldest_deletion_seconds}.PurgeSeconds(
      grace.grace_seconds);
}

void RangeTombstones::Verify() const {
  size_t nodes = 0;
  const Node* before = nullptr;
  ForEachNode(root_, [&](const Node& node) {
    ++nodes;
    LS_CHECK(Before(LowerOf(node), UpperOf(node)), "(1) a stretch is not empty");
    if (before != nullptr) {
      LS_CHECK(!Before(LowerOf(node), UpperOf(*before)), "(1) stretches ascend");
      LS_CHECK(Before(UpperOf(*before), LowerOf(node)) || before->tombstone != node.tombstone,
               "(1) stretches that touch differ");
    }
    LS_CHECK(std::abs(HeightOf(node.left) - HeightOf(node.right)) <= 1,
             "(2) siblings are balanced");
    Node expected = node;
    Update(&expected);
    LS_CHECK(expected.height == node.height, "(2) heights are known");
    LS_CHECK(expected.oldest_timestamp == node.oldest_timestamp &&
                 expected.oldest_deletion_seconds == node.oldest_deletion_seconds,
             "(3) the oldest times are known");
    before = &node;
  });
  LS_CHECK(nodes == size_, "stretches are counted");
}

}  // namespace liststore::storage
