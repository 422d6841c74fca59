// WireType: the type of a column as the protocol sends it, and values of it as CQL literals. By
// itself, so that it shares no error with what is tested.
#ifndef LISTSTORE_TESTS_OPINION_WIRE_TYPE_H_
#define LISTSTORE_TESTS_OPINION_WIRE_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/protocol/primitives.h"

namespace liststore::testing {

// An [option] of native_protocol_v4.spec, section 4.2.5.2.
struct WireType {
  uint16_t id = 0;
  std::string name;                  // of a class or a user type
  std::vector<WireType> parts;       // elements, keys and values, fields
  std::vector<std::string> members;  // names of a user type's fields
};

WireType ReadWireType(protocol::BodyReader& reader);
// "map<int, text>"
std::string ToText(const WireType& type);

// As the README says. No bytes: null.
std::string ToLiteral(const WireType& type, const std::optional<std::string>& bytes);
// nullopt: it is no literal of the type. `0x...` is bytes of any type.
std::optional<std::string> FromLiteral(const WireType& type, std::string_view literal);
// At commas that stand in no text and no brackets; trimmed.
std::vector<std::string> SplitLiterals(std::string_view text, char separator = ',');

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_OPINION_WIRE_TYPE_H_
