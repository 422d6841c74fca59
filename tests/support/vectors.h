// Golden vectors: JSON files in tests/data/, made by the original implementations.
#ifndef LISTSTORE_TESTS_SUPPORT_VECTORS_H_
#define LISTSTORE_TESTS_SUPPORT_VECTORS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace liststore::testing {

// The parsed file `name` of LISTSTORE_TEST_DATA_DIR; ends the process when it cannot be read.
boost::json::value LoadVectors(std::string_view name);

// Members of an object; 64-bit numbers are decimal strings in the files.
std::string_view StringAt(const boost::json::value& object, std::string_view key);
const boost::json::array& ArrayAt(const boost::json::value& object, std::string_view key);
const boost::json::value& ValueAt(const boost::json::value& object, std::string_view key);
int64_t Int64At(const boost::json::value& object, std::string_view key);
uint64_t Uint64At(const boost::json::value& object, std::string_view key);

std::string FromHex(std::string_view hex);
std::string ToHex(std::string_view bytes);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_VECTORS_H_
