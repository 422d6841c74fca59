#include "engine/dynamodb/values/error.h"

#include <array>

namespace liststore::dynamodb {
namespace {

struct ErrorName {
  std::string_view type;  // with its prefix
  int http_status = 400;
};

// In the order of ErrorCode.
constexpr std::array<ErrorName, 26> kErrorNames = {{
    {"com.amazon.coral.validate#ValidationException"},
    {"com.amazon.coral.service#SerializationException"},
    {"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"},
    {"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"},
    {"com.amazonaws.dynamodb.v20120810#ResourceInUseException"},
    {"com.amazonaws.dynamodb.v20120810#TableNotFoundException"},
    {"com.amazonaws.dynamodb.v20120810#TableInUseException"},
    {"com.amazonaws.dynamodb.v20120810#TransactionCanceledException"},
    {"com.amazonaws.dynamodb.v20120810#TransactionConflictException"},
    {"com.amazonaws.dynamodb.v20120810#TransactionInProgressException"},
    {"com.amazonaws.dynamodb.v20120810#IdempotentParameterMismatchException"},
    {"com.amazonaws.dynamodb.v20120810#ItemCollectionSizeLimitExceededException"},
    {"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException"},
    {"com.amazonaws.dynamodb.v20120810#RequestLimitExceeded"},
    {"com.amazon.coral.availability#ThrottlingException"},
    {"com.amazonaws.dynamodb.v20120810#LimitExceededException"},
    {"com.amazonaws.dynamodb.v20120810#DuplicateItemException"},
    {"com.amazonaws.dynamodb.v20120810#TrimmedDataAccessException"},
    {"com.amazonaws.dynamodb.v20120810#ExpiredIteratorException"},
    {"com.amazon.coral.service#AccessDeniedException"},
    {"com.amazon.coral.service#MissingAuthenticationTokenException"},
    {"com.amazon.coral.service#IncompleteSignatureException"},
    {"com.amazon.coral.service#InvalidSignatureException"},
    {"com.amazon.coral.service#UnrecognizedClientException"},
    {"com.amazon.coral.service#UnknownOperationException"},
    {"com.amazonaws.dynamodb.v20120810#InternalServerError", 500},
}};
static_assert(kErrorNames.size() == static_cast<size_t>(ErrorCode::kInternalServerError) + 1);

const ErrorName& ErrorNameOf(ErrorCode code) { return kErrorNames[static_cast<size_t>(code)]; }

}  // namespace

std::string_view NameOf(ErrorCode code) {
  const std::string_view type = TypeOf(code);
  return type.substr(type.find('#') + 1);
}

std::string_view TypeOf(ErrorCode code) { return ErrorNameOf(code).type; }

int HttpStatusOf(ErrorCode code) { return ErrorNameOf(code).http_status; }

Error InvalidParameter(std::string_view what) {
  std::string message = "One or more parameter values were invalid: ";
  message += what;
  return Invalid(std::move(message));
}

}  // namespace liststore::dynamodb
