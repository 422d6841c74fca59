// The properties of a WITH clause: looked up by name, checked for their form.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_PROPERTIES_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_PROPERTIES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/syntax/statement.h"
#include "engine/model/schema.h"

namespace liststore::cql {

// Borrows the properties of a statement. Errors are Syntax, in ScyllaDB's words. Source: ScyllaDB
// cql3/statements/property_definitions.cc.
class Properties {
 public:
  explicit Properties(std::span<const Property> properties) : properties_(properties) {}

  // Each property once, and only those of `known` and `obsolete`, which are ignored.
  CqlStatus Check(std::span<const std::string_view> known,
                  std::span<const std::string_view> obsolete = {}) const;

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  bool IsText(std::string_view name) const;
  // nullopt: not given.
  CqlOr<std::optional<std::string>> Text(std::string_view name) const;
  CqlOr<std::optional<PropertyMap>> Map(std::string_view name) const;
  // Of numbers the one at the front counts, whatever follows it: 1.5 is an Int of 1.
  CqlOr<std::optional<int32_t>> Int(std::string_view name) const;
  CqlOr<std::optional<double>> Double(std::string_view name) const;
  // "true", "yes" and "1" in any case are true, all else is false.
  CqlOr<std::optional<bool>> Boolean(std::string_view name) const;

 private:
  const Property* Find(std::string_view name) const;
  // nullptr: not given.
  CqlOr<const std::string*> FindText(std::string_view name) const;

  std::span<const Property> properties_;
};

// nullopt: it is anything but one integer.
std::optional<int64_t> ParseInteger(std::string_view text);
// The number at the front of `text`, behind blanks, as std::stoi, std::stol and std::stod read it:
// whatever follows is left. nullopt: there is none, or it is too large.
std::optional<int32_t> LeadingInt32(const std::string& text);
std::optional<int64_t> LeadingInt64(const std::string& text);
std::optional<double> LeadingDouble(const std::string& text);
std::string AsciiLower(std::string_view text);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_PROPERTIES_H_
