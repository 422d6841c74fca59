#include "engine/model/clustering_key.h"

#include "engine/base/check.h"

namespace liststore {

ClusteringKeyView MakeClusteringKey(std::string_view plain, bool table_packs_item_keys,
                                    PackedItemKey& scratch) {
  if (table_packs_item_keys && plain.size() == kItemKeyTextBytes &&
      PackItemKey(plain, scratch.data())) {
    return {{scratch.data(), scratch.size()}, true};
  }
  return {plain, false};
}

ClusteringBound ClusteringBound::At(std::string_view bytes, bool table_packs_item_keys) {
  ClusteringBound bound{bytes, std::nullopt, false};
  if (table_packs_item_keys) bound.packed = PackItemKeyBound(bytes);
  return bound;
}

std::optional<std::string> BoundAfterPrefix(std::string_view prefix) {
  std::string after(prefix);
  if (!MoveBehindPrefix(after)) return std::nullopt;
  return after;
}

bool MoveBehindPrefix(std::string& prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return false;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return true;
}

std::string BoundAfterKey(std::string_view key) {
  std::string after(key);
  after.push_back('\0');
  return after;
}

std::string_view PlainKey(ClusteringKeyView key, char scratch[kItemKeyTextBytes]) {
  if (!key.packed) return key.bytes;
  LS_DCHECK(key.bytes.size() == kPackedItemKeyBytes, "a packed key has 24 bytes");
  UnpackItemKey(key.bytes.data(), scratch);
  return {scratch, kItemKeyTextBytes};
}

int CompareKeys(ClusteringKeyView a, ClusteringKeyView b) {
  if (a.packed && b.packed) return ComparePackedItemKeys(a.bytes.data(), b.bytes.data());
  char a_text[kItemKeyTextBytes];
  char b_text[kItemKeyTextBytes];
  return PlainKey(a, a_text).compare(PlainKey(b, b_text));
}

int CompareKeyToBound(ClusteringKeyView key, const ClusteringBound& bound) {
  if (bound.at_end) return -1;
  if (key.packed && bound.packed) {
    return ComparePackedItemKeys(key.bytes.data(), bound.packed->data());
  }
  char text[kItemKeyTextBytes];
  return PlainKey(key, text).compare(bound.bytes);
}

}  // namespace liststore
