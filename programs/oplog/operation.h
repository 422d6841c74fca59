// One line of an operation log, as plain data.
#ifndef LISTSTORE_PROGRAMS_OPLOG_OPERATION_H_
#define LISTSTORE_PROGRAMS_OPLOG_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "liststore/list_item.h"
#include "liststore/list_ref.h"

namespace liststore {

enum class OperationKind : uint8_t {
  kCreateFeature,
  kAdd,
  kGet,
  kRemoveValue,
  kRemoveAll,
};
inline constexpr size_t kOperationKinds = 5;
// Names in the log, by kind.
inline constexpr std::string_view kOperationNames[kOperationKinds] = {
    "create_feature", "add", "get", "remove_value", "remove_all"};

// Borrows its strings and items from the batch that it was read into. Fields that its kind does not
// have keep their defaults.
struct Operation {
  OperationKind kind = OperationKind::kGet;
  uint64_t line = 0;                 // in the log, from 1
  uint64_t at_nanos = 0;             // when it happened
  ListId list;                       // create_feature: entity_id is empty
  int64_t ttl_seconds = 0;           // create_feature
  std::span<const NewItem> items;    // add
  std::string_view value;            // remove_value
  uint64_t min_timestamp_nanos = 0;  // get
  size_t limit = 0;                  // get
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_OPLOG_OPERATION_H_
