// HotRow: a row of the shape that most rows of lists have, where many of them are put in at once.
// Plain data with borrowed bytes.
#ifndef LISTSTORE_ENGINE_MODEL_HOT_ROW_H_
#define LISTSTORE_ENGINE_MODEL_HOT_ROW_H_

#include <string_view>

#include "engine/model/cell.h"
#include "engine/model/clustering_key.h"

namespace liststore {

// Its marker and the live value of its one column are of one write. A third of a StoredRow with its
// cell.
struct HotRow {
  ClusteringKeyView key;
  std::string_view value;
  Liveness liveness;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_HOT_ROW_H_
