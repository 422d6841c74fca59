// Values from their JSON, and random ones, for tests of DynamoDB's layer.
#ifndef LISTSTORE_TESTS_DYNAMODB_VALUES_H_
#define LISTSTORE_TESTS_DYNAMODB_VALUES_H_

#include <string>
#include <string_view>

#include "engine/base/random.h"
#include "engine/dynamodb/expressions/placeholders.h"
#include "engine/dynamodb/values/attribute_value.h"

namespace liststore::dynamodb::testing {

// Of JSON that is right; a failure of the test and NULL or no attributes of other.
AttributeValue ValueOf(std::string_view json);
Item ItemOf(std::string_view json);
// "error: message" of JSON that is wrong; what it says of other.
std::string ValueError(std::string_view json);

// :names and #names by their JSON; either may be empty.
Placeholders PlaceholdersOf(std::string_view names, std::string_view values);

// Of every type, `nesting_max` levels deep at most. Small: from few names and few values, so that equal ones
// meet.
AttributeValue RandomValue(Random& random, int nesting_max);
Item RandomItem(Random& random, int nesting_max);
Number RandomNumber(Random& random);

}  // namespace liststore::dynamodb::testing

#endif  // LISTSTORE_TESTS_DYNAMODB_VALUES_H_
