// ExpressionAttributeNames and ExpressionAttributeValues of a request: what #names and :values stand for.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PLACEHOLDERS_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PLACEHOLDERS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"
#include "engine/dynamodb/values/json.h"

namespace liststore::dynamodb {

// All substitutions of a request. Source: DynamoDB's developer guide, "Quotas", expression parameters.
inline constexpr size_t kPlaceholderBytesMax = size_t{2} << 20;

// Made once for a request, handed to the parser of each of its expressions, and asked at the end whether all
// were used:
//
//   LS_ASSIGN_OR_RETURN(Placeholders placeholders, Placeholders::FromJson(
//       request.Find("ExpressionAttributeNames"), request.Find("ExpressionAttributeValues"), true, true));
//   LS_ASSIGN_OR_RETURN(Condition condition, ParseCondition(text, ExpressionKind::kCondition, placeholders));
//   LS_RETURN_IF_ERROR(placeholders.CheckAllUsed());
class Placeholders {
 public:
  // None.
  Placeholders() = default;
  // Either may be absent. `names_are_allowed`, `values_are_allowed`: the request has an expression in which
  // they may stand; if not, they must be absent: "... can only be specified when using expressions", and
  // ": " + `absent` of values ("UpdateExpression and ConditionExpression are null").
  // Validation errors: empty, keys that are not #name or :value, values that are none ("... contains
  // invalid value: ... for key :v").
  static ErrorOr<Placeholders> FromJson(Json names, Json values, bool names_are_allowed,
                                        bool values_are_allowed, std::string_view absent = {});
  // For tests, and requests that were not JSON: keys with their '#' or ':'.
  void AddName(std::string key, std::string name);
  void AddValue(std::string key, AttributeValue value);

  // With '#' or ':'; nullptr: not defined. It counts as used from then on. Valid as long as this is not
  // changed. O(log n).
  const std::string* UseName(std::string_view key);
  const AttributeValue* UseValue(std::string_view key);
  // Of values that expressions hold copies of, as Amazon counts.
  void NoteCopied(size_t bytes) { copied_bytes_ += bytes; }
  size_t copied_bytes() const { return copied_bytes_; }

  // "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a, #b}".
  Status CheckAllUsed() const;

 private:
  // By key, each once.
  void Sort();

  template <typename T>
  struct Entry {
    std::string key;
    T stands_for;
    bool used = false;
  };
  // Sorted by key.
  std::vector<Entry<std::string>> names_;
  std::vector<Entry<AttributeValue>> values_;
  size_t copied_bytes_ = 0;
};

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_PLACEHOLDERS_H_
