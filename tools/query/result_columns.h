// Names and types of the columns of an answer.
#ifndef LISTSTORE_TOOLS_QUERY_RESULT_COLUMNS_H_
#define LISTSTORE_TOOLS_QUERY_RESULT_COLUMNS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/types/data_type.h"

namespace liststore {

struct ResultColumn {
  std::string name;
  DataType type;
};

// Of the body of a RESULT; none of one that has no rows (Void and others). InvalidArgument: it cannot
// be read, or has no metadata. Source: native_protocol_v4.spec, section 4.2.5.2.
absl::StatusOr<std::vector<ResultColumn>> ReadResultColumns(std::string_view body);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_QUERY_RESULT_COLUMNS_H_
