// What operations answer about tables, as JSON; tags.
#ifndef LISTSTORE_ENGINE_FACES_DYNAMODB_TABLE_WRITER_H_
#define LISTSTORE_ENGINE_FACES_DYNAMODB_TABLE_WRITER_H_

#include <map>
#include <string>
#include <string_view>

#include "engine/dynamodb/values/error.h"
#include "engine/dynamodb/values/json.h"
#include "engine/faces/dynamodb/table_shape.h"

namespace liststore::dynamodb_face {

// TableDescription. Counts and sizes are 0: Amazon's are of some hours ago.
std::string DescriptionOf(const TableShape& shape, std::string_view status = "ACTIVE");

// [{"Key","Value"}] is put into `all`.
dynamodb::Status AddTags(dynamodb::Json tags, std::map<std::string, std::string>& all);

}  // namespace liststore::dynamodb_face

#endif  // LISTSTORE_ENGINE_FACES_DYNAMODB_TABLE_WRITER_H_
