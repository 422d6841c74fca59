// Values of CQL types -> JSON: what toJson() and SELECT JSON answer.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_ENCODE_JSON_H_
#define LISTSTORE_ENGINE_CQL_VALUES_ENCODE_JSON_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/syntax/cql_error.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// `value`, a valid one of `type`, as JSON; nullopt is null, and so are numbers that JSON has not.
// Times, UUIDs and addresses are strings, blobs "0x...". Keys of maps that are no strings are put
// into one.
//
// Invalid: numbers and booleans of no bytes, numbers of too many digits (kLiteralDigitsMax), keys
// of maps that are a megabyte of JSON; more than `bytes_max` of it, in the words of a row of a result,
// before much more than that is made.
// Source: ScyllaDB types/json_utils.cc. What differs: strings within keys of maps are escaped,
// where ScyllaDB's answer is no JSON; decimals have an exponent where they have many zeros; fields
// that a user type got later are null.
CqlOr<std::string> EncodeJson(const DataType& type, std::optional<std::string_view> value,
                              size_t bytes_max = SIZE_MAX);

// A row of a result, or what it is made of, would be larger than that.
CqlError RowOfResultTooLarge(size_t bytes_max);

// The type of a row as SELECT JSON shows it: a user type that has the columns as its fields. Names
// that are case-sensitive are in quotes.
DataType JsonRowType(const std::vector<std::string>& names, std::vector<DataType> types);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_ENCODE_JSON_H_
