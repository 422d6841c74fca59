// The names of kinds of requests, as CQL's protocol has them.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_NAMES_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_NAMES_H_

#include <string_view>

#include "engine/execute/request_view.h"

namespace liststore::instruments {

constexpr std::string_view NameOf(execute::RequestKind kind) {
  switch (kind) {
    case execute::RequestKind::kQuery:
      return "QUERY";
    case execute::RequestKind::kPrepare:
      return "PREPARE";
    case execute::RequestKind::kExecute:
      return "EXECUTE";
    case execute::RequestKind::kBatch:
      return "BATCH";
  }
  return "";
}

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_REQUEST_NAMES_H_
