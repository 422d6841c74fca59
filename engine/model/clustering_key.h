// Clustering keys as the engine sees them: bytes whose unsigned order is the order of the columns
// (clustering_encoding.h makes them from typed values), plain or, for item keys, packed.
//
// A key view is packed if and only if its table packs item keys and the text is a canonical item
// key. That rule makes equality simple: a packed and a plain key are never equal.
#ifndef LISTSTORE_ENGINE_MODEL_CLUSTERING_KEY_H_
#define LISTSTORE_ENGINE_MODEL_CLUSTERING_KEY_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/model/packed_item_key.h"

namespace liststore {

// Borrows its bytes from whoever made it.
struct ClusteringKeyView {
  std::string_view bytes;  // 24 bytes when packed
  bool packed = false;
};

// The key view of encoded bytes `plain`; `scratch` receives the packed form where there is one and
// must outlive the view.
ClusteringKeyView MakeClusteringKey(std::string_view plain, bool table_packs_item_keys,
                                    PackedItemKey& scratch);

// A position between rows, as one byte string B: rows with key >= B lie at or after it. Every CQL
// bound has this form: "at or after K" is K; "behind K" is K followed by a zero byte, the next
// string in byte order; "before all keys that begin with P" is P; "behind all of them" is the
// successor of P (BoundAfterPrefix). The empty string lies before everything.
struct ClusteringBound {
  std::string_view bytes;
  // The same position among packed keys, where it has a packed form.
  std::optional<PackedItemKey> packed;
  // Behind everything; the other fields do not count.
  bool at_end = false;

  static ClusteringBound Begin() { return {}; }
  static ClusteringBound End() { return {{}, std::nullopt, true}; }
  // `table_packs_item_keys`: also computes the packed form.
  static ClusteringBound At(std::string_view bytes, bool table_packs_item_keys);
};

// Rows in [lower, upper), in encoded order.
struct ClusteringRange {
  ClusteringBound lower = ClusteringBound::Begin();
  ClusteringBound upper = ClusteringBound::End();
};

// The first string behind all strings that begin with `prefix`; nullopt when there is none (all
// 0xff).
std::optional<std::string> BoundAfterPrefix(std::string_view prefix);
// The same in place; false, and the rest of `prefix` is lost, when there is none.
[[nodiscard]] bool MoveBehindPrefix(std::string& prefix);
// The first string behind `key` itself.
std::string BoundAfterKey(std::string_view key);

// Three-way comparisons in encoded order, whatever the form of either side.
int CompareKeys(ClusteringKeyView a, ClusteringKeyView b);
// Negative: `key` lies before `bound`; 0 or positive: at or after it.
int CompareKeyToBound(ClusteringKeyView key, const ClusteringBound& bound);

// The plain bytes of `key`; `scratch` holds the text of a packed one.
std::string_view PlainKey(ClusteringKeyView key, char scratch[kItemKeyTextBytes]);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_CLUSTERING_KEY_H_
