#include "engine/storage/partition/range_tombstones.h"

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

RangeTombstones::Node* RangeTombstones::CopyOf(const Node* node) {
  if (node == nullptr) return nullptr;
  char* const block =
      static_cast<char*>(arena_.Allocate(node->bytes(), memory::Arena::Mobility::kFixed));
  Node* const copy = new (block) Node(*node);
  // Two bounds that are empty may have no bytes behind the node.
  if (node->bytes() != sizeof(Node)) {
    std::memcpy(block + sizeof(Node), node->lower().data(), node->bytes() - sizeof(Node));
  }
  copy->left = CopyOf(node->left);
  copy->right = CopyOf(node->right);
  return copy;
}

void RangeTombstones::Update(Node* node) {
  node->height = static_cast<int8_t>(1 + std::max(HeightOf(node->left), HeightOf(node->right)));
  node->count = 1 + CountOf(node->left) + CountOf(node->right);
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

RangeTombstones::Node* RangeTombstones::TakeLast(Node* root, Node*& last) {
  if (root->right == nullptr) {
    last = root;
    return root->left;
  }
  root->right = TakeLast(root->right, last);
  return Balance(root);
}

RangeTombstones::Node* RangeTombstones::Join(Node* left, Node* middle, Node* right) {
  if (HeightOf(left) > HeightOf(right) + 1) {
    left->right = Join(left->right, middle, right);
    return Balance(left);
  }
  if (HeightOf(right) > HeightOf(left) + 1) {
    right->left = Join(left, middle, right->left);
    return Balance(right);
  }
  middle->left = left;
  middle->right = right;
  return Balance(middle);
}

void RangeTombstones::Split(Node* root, std::string_view bound, Node*& before, Node*& others) {
  if (root == nullptr) {
    before = nullptr;
    others = nullptr;
    return;
  }
  Node* between = nullptr;
  if (root->lower() < bound) {
    Split(root->right, bound, between, others);
    before = Join(root->left, root, between);
  } else {
    Split(root->left, bound, before, between);
    others = Join(between, root, root->right);
  }
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
  bool rebuilds = (gone.size() + made.size()) * kRebuiltPart >= size();
  std::vector<Node*> stay;
  std::vector<Node*> all;
  try {
    if (rebuilds) {
      stay.reserve(size() - gone.size());
      all.reserve(size() - gone.size() + made.size());
    }
  } catch (const std::bad_alloc&) {
    rebuilds = false;  // one by one it goes without the heap
  }
  if (!rebuilds) {
    for (const Node* node : gone) root_ = Erase(root_, node);
    for (Node* node : made) {
      node->left = nullptr;
      node->right = nullptr;
      Update(node);
      root_ = Insert(root_, node);
    }
  } else {
    for (Node* node : gone) node->goes = true;
    ForEachNode(root_, [&](Node& node) {
      if (!node.goes) stay.push_back(&node);
    });
    std::merge(stay.begin(), stay.end(), made.begin(), made.end(), std::back_inserter(all),
               [](const Node* a, const Node* b) { return a->lower() < b->lower(); });
    root_ = Build(all);
  }
  for (Node* node : gone) FreeNode(node);
}

void RangeTombstones::FreeOf(RangeTombstones& owner, Node*& root, size_t& budget) {
  while (root != nullptr && budget > 0) {
    if (Node* const left = root->left; left != nullptr) {
      root->left = std::exchange(left->right, root);
      root = left;
      continue;
    }
    owner.FreeNode(std::exchange(root, root->right));
    --budget;
  }
}

size_t RangeTombstones::FreeDead(size_t budget) {
  size_t left = budget;
  FreeOf(*this, dead_, left);
  return budget - left;
}

bool RangeTombstones::FreeSome(size_t budget) {
  FreeOf(*this, dead_, budget);
  FreeOf(*this, root_, budget);
  return root_ == nullptr && dead_ == nullptr;
}

void RangeTombstones::Bury(Node* subtree) {
  if (subtree == nullptr) return;
  Node* last = subtree;
  while (last->right != nullptr) last = last->right;
  last->right = dead_;
  dead_ = subtree;
}

// --- Laying a deletion ---------------------------------------------------------------------------

void RangeTombstones::CollectTouching(Node* node, const End& from, const End& to,
                                      std::vector<Node*>& touching) {
  if (node == nullptr) return;
  // What is left of it ends where it begins at the latest, what is right of it begins where it ends.
  if (!Before(LowerOf(*node), from)) CollectTouching(node->left, from, to, touching);
  if (!Before(UpperOf(*node), from) && !Before(to, LowerOf(*node))) touching.push_back(node);
  if (!Before(to, UpperOf(*node))) CollectTouching(node->right, from, to, touching);
}

void RangeTombstones::Lay(std::span<Node* const> touching, const End& from, const End& to,
                          const Tombstone& tombstone, std::vector<Piece>& pieces) {
  pieces.clear();
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
}

void RangeTombstones::MakePlan(const ClusteringRange& range, const Tombstone& tombstone,
                               Scratch& scratch) const {
  std::vector<Node*>& touching = scratch.touching_;
  touching.clear();
  scratch.gone_.clear();
  scratch.made_.clear();
  if (range.lower.at_end) return;
  const End from = LowerOf(range);
  const End to = UpperOf(range);
  if (!Before(from, to)) return;
  CollectTouching(root_, from, to, touching);
  Lay(touching, from, to, tombstone, scratch.pieces_);
  // What stays as it is neither goes nor comes.
  size_t next = 0;
  for (const Piece& piece : scratch.pieces_) {
    while (next < touching.size() && Before(LowerOf(*touching[next]), piece.from)) {
      scratch.gone_.push_back(touching[next++]);
    }
    const bool stays = next < touching.size() && Same(LowerOf(*touching[next]), piece.from) &&
                       Same(UpperOf(*touching[next]), piece.to) &&
                       touching[next]->tombstone == piece.tombstone;
    if (stays) {
      ++next;
    } else {
      scratch.made_.push_back(piece);
    }
  }
  scratch.gone_.insert(scratch.gone_.end(), touching.begin() + static_cast<ptrdiff_t>(next),
                       touching.end());
}

size_t RangeTombstones::CountBefore(const End& bound) const {
  size_t count = 0;
  for (const Node* node = root_; node != nullptr;) {
    if (Before(LowerOf(*node), bound)) {
      count += 1 + CountOf(node->left);
      node = node->right;
    } else {
      node = node->left;
    }
  }
  return count;
}

void RangeTombstones::PrepareAdd(const ClusteringRange& range, const Tombstone& tombstone,
                                 size_t others, Scratch& scratch) const {
  size_t touching = 2;  // one at each end
  if ((others > 0 || !CutsBeneath(tombstone)) && !range.lower.at_end) {
    const size_t until = CountBefore(UpperOf(range));
    touching += until - std::min(until, CountBefore(LowerOf(range)));
  }
  scratch.Reserve(2 * (touching + others + 1));
}

void RangeTombstones::PrepareFirstAdd(size_t others, Scratch& scratch) {
  scratch.Reserve(2 * (others + 1));
}

void RangeTombstones::CutBeneath(const ClusteringRange& range) {
  if (range.lower.at_end) return;
  const End from = LowerOf(range);
  const End to = UpperOf(range);
  if (!Before(from, to)) return;
  Node* left = nullptr;
  Node* middle = nullptr;
  Node* right = nullptr;
  Split(root_, from.bytes, left, middle);
  if (!to.at_end) Split(middle, to.bytes, middle, right);
  if (middle != nullptr) {
    // It may reach behind the range.
    Node* last = nullptr;
    middle = TakeLast(middle, last);
    if (Before(to, UpperOf(*last))) {
      right = Join(nullptr, last, right);
    } else {
      middle = Join(middle, last, nullptr);
    }
  }
  Bury(middle);
  if (right == nullptr) {
    root_ = left;
    return;
  }
  Node* first = nullptr;
  right = TakeFirst(right, first);
  root_ = Join(left, first, right);
}

ClusteringBound RangeTombstones::ReachFromBegin(WriteTimestamp timestamp) const {
  ClusteringBound reach;
  ForEachBehind(std::nullopt, [&](const ClusteringRange& range, const Tombstone& tombstone) {
    if (range.lower.bytes != reach.bytes || !tombstone.Covers(timestamp)) return false;
    reach = range.upper;
    return !reach.at_end;
  });
  return reach;
}

bool RangeTombstones::AllCovered(std::span<Node* const> touching, const End& from, const End& to,
                                 WriteTimestamp timestamp) {
  End position = from;  // they cover up to here
  for (const Node* const node : touching) {
    if (!Before(position, to) || Before(position, LowerOf(*node))) break;
    // One that only touches is before, or behind.
    if (!Before(position, UpperOf(*node))) continue;
    if (!node->tombstone.Covers(timestamp)) return false;
    position = UpperOf(*node);
  }
  return !Before(position, to);
}

bool RangeTombstones::Add(const ClusteringRange& range, const Tombstone& tombstone,
                          Scratch& scratch) {
  if (CutsBeneath(tombstone)) CutBeneath(range);
  if (root_ == nullptr) newest_ = {};
  newest_.timestamp = std::max(newest_.timestamp, tombstone.timestamp);
  newest_.deletion_seconds = std::max(newest_.deletion_seconds, tombstone.deletion_seconds);
  MakePlan(range, tombstone, scratch);
  const bool is_news = !range.lower.at_end && !AllCovered(scratch.touching_, LowerOf(range),
                                                          UpperOf(range), tombstone.timestamp);
  // Pieces borrow bytes of what goes.
  std::vector<Node*>& nodes = scratch.nodes_;
  nodes.clear();
  for (const Piece& piece : scratch.made_) nodes.push_back(NewNode(piece));
  Replace(scratch.gone_, nodes);
  return is_news;
}

size_t RangeTombstones::AddBytes(const ClusteringRange& range, const Tombstone& tombstone,
                                 Scratch& scratch) const {
  size_t bytes = 0;
  if (CutsBeneath(tombstone)) {
    // Itself, and what is left of those that reach into it.
    bytes = FirstAddBytes(range);
    const auto reaches_behind = [](const Node* node, std::string_view bound) {
      return node != nullptr && Before({bound, false}, UpperOf(*node));
    };
    const Node* const left = LastBefore(range.lower.bytes);
    if (reaches_behind(left, range.lower.bytes)) {
      bytes +=
          memory::Arena::BlockBytes(sizeof(Node) + left->lower_size + range.lower.bytes.size());
    }
    const Node* const right = range.upper.at_end ? nullptr : LastBefore(range.upper.bytes);
    if (reaches_behind(right, range.upper.bytes)) {
      bytes +=
          memory::Arena::BlockBytes(sizeof(Node) + range.upper.bytes.size() + right->upper_size);
    }
    return bytes;
  }
  MakePlan(range, tombstone, scratch);
  for (const Piece& piece : scratch.made_) {
    bytes += memory::Arena::BlockBytes(BytesOf(piece));
  }
  return bytes;
}

// --- Looking and forgetting ----------------------------------------------------------------------

RangeTombstones::Node* RangeTombstones::Over(ClusteringKeyView key) const {
  char text[kItemKeyTextBytes];
  const std::string_view plain = PlainKey(key, text);
  Node* last = nullptr;  // that begins at the key or before it
  for (Node* node = root_; node != nullptr;) {
    if (plain < node->lower()) {
      node = node->left;
    } else {
      last = node;
      node = node->right;
    }
  }
  return last == nullptr || (!last->to_end && plain >= last->upper()) ? nullptr : last;
}

Tombstone RangeTombstones::At(ClusteringKeyView key) const {
  if (root_ == nullptr) return {};
  const Node* const over = Over(key);
  return over == nullptr ? Tombstone{} : over->tombstone;
}

const RangeTombstones::Node* RangeTombstones::LastBefore(std::string_view bound) const {
  const Node* last = nullptr;
  for (const Node* node = root_; node != nullptr;) {
    if (node->lower() < bound) {
      last = node;
      node = node->right;
    } else {
      node = node->left;
    }
  }
  return last;
}

template <typename Goes>
void RangeTombstones::Forget(Goes&& goes, size_t stretches_max) {
  if (root_ != nullptr && goes(newest_.timestamp, newest_.deletion_seconds)) {
    BuryAll();
    return;
  }
  absl::InlinedVector<Node*, 8> gone;
  size_t left = stretches_max;
  const auto collect = [&](auto& self, Node* node) -> void {
    if (node == nullptr || !goes(node->oldest_timestamp, node->oldest_deletion_seconds)) return;
    self(self, node->left);
    if (gone.size() >= left) return;
    if (goes(node->tombstone.timestamp, node->tombstone.deletion_seconds)) gone.push_back(node);
    self(self, node->right);
  };
  for (bool more = true; more;) {
    more = false;
    gone.clear();
    try {
      collect(collect, root_);
    } catch (const std::bad_alloc&) {
      more = true;  // those that it has room for go first
    }
    left -= gone.size();
    if (!gone.empty()) Replace(gone, {});
  }
}

void RangeTombstones::Cover(WriteTimestamp timestamp) {
  Forget([&](WriteTimestamp written, int64_t) { return written <= timestamp; }, SIZE_MAX);
}

void RangeTombstones::Purge(int64_t now_seconds, const GracePolicy& grace, size_t stretches_max) {
  Forget([&](WriteTimestamp, int64_t deletion) { return grace.Gone(deletion, now_seconds); },
         stretches_max);
}

void RangeTombstones::PurgeAt(ClusteringKeyView key, int64_t now_seconds,
                              const GracePolicy& grace) {
  Node* const over = Over(key);
  if (over != nullptr && grace.Gone(over->tombstone, now_seconds)) Replace({&over, 1}, {});
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
    LS_CHECK(expected.count == node.count, "(3) nodes are counted");
    LS_CHECK(node.tombstone.timestamp <= newest_.timestamp &&
                 node.tombstone.deletion_seconds <= newest_.deletion_seconds,
             "(4) none is later than the newest");
    before = &node;
  });
  LS_CHECK(nodes == size(), "stretches are counted");
}

}  // namespace liststore::storage
