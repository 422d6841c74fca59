// UpdateExpression: SET, REMOVE, ADD and DELETE, parsed, then carried out on items.
#ifndef LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_UPDATE_H_
#define LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_UPDATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/dynamodb/expressions/path.h"
#include "engine/dynamodb/expressions/placeholders.h"
#include "engine/dynamodb/values/attribute_value.h"
#include "engine/dynamodb/values/error.h"

namespace liststore::dynamodb {

// The right-hand side of SET.
struct UpdateValue {
  enum class Kind : uint8_t {
    kConstant,     // constant
    kPath,         // what is at the path
    kIfNotExists,  // what is at the path, else operands[0]
    kListAppend,   // operands[0] and behind it operands[1]
    kPlus,         // operands[0] + operands[1]
    kMinus,        // operands[0] - operands[1]
  };

  Kind kind = Kind::kConstant;
  AttributeValue constant;
  Path path;
  std::vector<UpdateValue> operands;
};

struct UpdateAction {
  enum class Kind : uint8_t {
    kSet,     // path = value
    kRemove,  // path, if it is there; elements of lists too
    kAdd,     // a number is added, elements are put into a set; what is not there begins as nothing
    kDelete,  // elements are taken out of a set
    // Of AttributeUpdates alone: ADD of a list, which is put behind the one that is there.
    kAddToList,
  };

  Kind kind = Kind::kSet;
  Path path;
  UpdateValue value;  // of kAdd, kDelete, kAddToList: a constant
};

struct Update {
  std::vector<UpdateAction> actions;  // no two of them on overlapping paths
  bool of_attribute_updates = false;  // errors in the words for AttributeUpdates
};

// Validation errors, in Amazon's words, "Invalid UpdateExpression: ...": syntax, sections that are there
// twice, reserved words, names and values that are not defined, functions and types of constants, paths that
// overlap, limits. O(bytes log bytes).
ErrorOr<Update> ParseUpdate(std::string_view text, Placeholders& placeholders);

// "One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key".
// `sort_name` is empty where there is none. O(actions).
Status CheckUpdateOfKey(const Update& update, std::string_view hash_name,
                        std::string_view sort_name);

// `before` with all actions carried out; what the right-hand sides name is taken from `before`, whatever the
// order. An item that is not there: its key attributes alone. Validation errors: "The provided expression
// refers to an attribute that does not exist in the item", "An operand in the update expression has an
// incorrect data type", "The document path provided in the update expression is invalid for update", errors
// of numbers, nesting. The size is for the caller to check (ItemSize). O(actions * values).
ErrorOr<Item> Apply(const Update& update, const Item& before);

// Of the update's own paths and of those it reads; sorted, each once.
std::vector<std::string_view> AttributesOf(const Update& update);

enum class ReturnValues : uint8_t {
  kNone,
  kAllOld,
  kUpdatedOld,
  kAllNew,
  kUpdatedNew
};
// nullopt: no such value.
std::optional<ReturnValues> ReturnValuesNamed(std::string_view name);

// What UpdateItem answers as Attributes: `before` and `after` the update, nullptr where there was no item. Of
// kUpdatedOld and kUpdatedNew what is at the paths of the actions, lists as a whole, with the maps on the way,
// as a projection gives it; empty: Attributes is left out.
Item ReturnedAttributes(ReturnValues values, const Update& update, const Item* before,
                        const Item* after);

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_EXPRESSIONS_UPDATE_H_
