// JSON of values, written out for itself: what SELECT JSON and toJson() answer with, and what
// INSERT JSON and fromJson() take.
#ifndef LISTSTORE_TESTS_CONFORMANCE_JSON_MODEL_H_
#define LISTSTORE_TESTS_CONFORMANCE_JSON_MODEL_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/types/data_type.h"
#include "tests/conformance/value_pool.h"

namespace liststore::testing {

enum class JsonStyle : uint8_t {
  kScylla,
  kJava
};

// nullopt: there is none, of a number of no bytes. Of the native types that are not written out
// here, the value is one of a pool.
std::optional<std::string> JsonOf(const DataType& type, const std::optional<std::string>& bytes,
                                  JsonStyle style);
// Whether all values of a pool have some.
bool HaveJson(const DataType& type);

// JSON that makes the value, in several spellings; none: no JSON makes it.
std::vector<std::string> JsonsFor(const DataType& type, std::string_view bytes);

// Numbers with a point or an exponent that make a whole number, or a timestamp.
std::vector<std::string> WholeJsonsFor(const DataType& type, const std::string& bytes);
// A tuple of the first field alone, as an array of one; nullopt: no JSON makes it.
std::optional<PoolValue> ShortTuple(const DataType& type, std::string_view bytes);

// "a\"b"
std::string QuotedJson(std::string_view text);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_JSON_MODEL_H_
