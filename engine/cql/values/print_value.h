// Values -> CQL literals, for messages, DESCRIBE and tools.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_PRINT_VALUE_H_
#define LISTSTORE_ENGINE_CQL_VALUES_PRINT_VALUE_H_

#include <optional>
#include <string>
#include <string_view>

#include "engine/model/types/data_type.h"

namespace liststore::cql {

// A literal that EncodeLiteral turns back into a value equal to `value`, which is valid for `type`;
// nullopt is `null`. Of the same bytes, but where a type has several forms of one value: booleans
// other than 00 and 01, padded varints, NaNs, sets out of order, tuples without their last fields.
// What has no literal prints as the function that makes it: empty values (blobasint(0x)), and
// numbers of more digits than EncodeLiteral takes (blobasvarint(0x...)).
//
// Forms: text '...' with doubled quotes; blob 0x...; timestamp '2011-02-03T04:05:06.789Z', date
// '2011-02-03' and, for years outside of 0000 to 9999, both as integers; time '04:05:06.789000000';
// inet '127.0.0.1'; duration 1mo2d3ns; [list], {set}, {k: v}, (tuple), {field: v} of a user type.
std::string PrintValue(const DataType& type, std::optional<std::string_view> value);

// Its literals are quoted as strings are; so it has one for the value without bytes.
bool HasQuotes(CqlType type);

// 0x...
std::string PrintBlob(std::string_view bytes);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_PRINT_VALUE_H_
