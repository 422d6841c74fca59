// Typed clustering values <-> bytes whose unsigned order is the clustering order.
//
// Each column is encoded so that memcmp orders it as its type does; a column whose direction
// differs from the first column's is inverted bit by bit (TableSchema::reads_backwards tells which
// way the table is then read).
//
// Forms, bytes in hexadecimal:
//   text, ascii, blob, inet   the bytes, each 00 as 00 01, then 00 00
//   fixed length              00 when empty; else 01 and the bytes, changed so that they sort
//   varint                    00 when empty; else length and sign in 1 or 5 bytes, two's complement
//   decimal                   00 when empty; else sign, exponent (as a varint), digits two a byte,
//                             then 00
//   list, set, map            each element (key and value) after 02, then 00
//   tuple, user type          each field after 02, 01 for a null, none for nulls at the end; then
//                             00
// They are self-delimiting, so that the encoding of the first k columns is a prefix of the whole
// and bounds on it are byte strings (ClusteringBound): "before all rows whose first columns are
// these" is the encoding of those columns, "behind all of them" BoundAfterPrefix of it. The last
// column needs no end: where it is not inverted, the types of the first two lines are their bytes
// alone, so that for `list_items` the encoded key is the item key itself. Of a *whole* key the
// bound behind it is therefore BoundAfterKey.
#ifndef LISTSTORE_ENGINE_MODEL_CLUSTERING_ENCODING_H_
#define LISTSTORE_ENGINE_MODEL_CLUSTERING_ENCODING_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/table_schema.h"

namespace liststore {

// Appends the encoding of the first `values.size()` clustering columns; values are valid encodings
// of their columns' types (DataType::IsValid). Values that compare as equal (CompareValues) have
// one encoding. O(bytes), but decimals take O(bytes^2): 0.3 us for 16 bytes, 0.3 ms for 1000, 1 s
// for the longest key.
void AppendClusteringKey(const std::vector<ClusteringColumnSchema>& columns,
                         std::span<const std::string_view> values, std::string& out);

// The values back from an encoded key of all columns. Where several values are equal the simplest
// comes back: 01 for true, the quiet NaN, varints without superfluous bytes, decimals without
// superfluous zeros behind the point, tuples with all their fields.
std::vector<std::string> DecodeClusteringKey(const std::vector<ClusteringColumnSchema>& columns,
                                             std::string_view encoded);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_CLUSTERING_ENCODING_H_
