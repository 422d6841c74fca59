// Expiries: rows that a table gave back because everything in them was over, as it tells those who
// asked.
#ifndef LISTSTORE_ENGINE_MODEL_EXPIRY_H_
#define LISTSTORE_ENGINE_MODEL_EXPIRY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace liststore {

struct Expiry {
  std::string partition_key;
  std::string clustering_key;  // plain
  std::string value;           // of the one regular column
  int64_t at_seconds = 0;      // since the Unix epoch: when it was over
};

using ExpiryLog = std::vector<Expiry>;
// Called with what one call found, in order of `at_seconds`, while nothing is held.
using ExpirySink = std::function<void(const ExpiryLog& expiries)>;

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_EXPIRY_H_
