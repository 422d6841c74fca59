// Values as cqlsh shows them.
#ifndef LISTSTORE_TOOLS_QUERY_VALUE_TEXT_H_
#define LISTSTORE_TOOLS_QUERY_VALUE_TEXT_H_

#include <string>
#include <string_view>

#include "engine/model/types/data_type.h"

namespace liststore {

// `value`, which is not null: text as it is; True and False; 2026-01-01 00:00:00.000000+0000; 0x...;
// within a collection, tuple or user type, texts and times in quotes, and null. Of floats all digits that
// tell them apart, where cqlsh rounds them. A value without bytes of a type that has none is an
// empty text; one that is not valid for the type is shown as a blob. O(bytes).
std::string ValueText(const DataType& type, std::string_view value);

// It is shown to the right of its column.
bool IsNumber(const DataType& type);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_QUERY_VALUE_TEXT_H_
