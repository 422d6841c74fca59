// What DynamoDB answers instead of a result: the name of an exception and a message. No exceptions and no
// absl::Status here: clients act on the name.
#ifndef LISTSTORE_ENGINE_DYNAMODB_VALUES_ERROR_H_
#define LISTSTORE_ENGINE_DYNAMODB_VALUES_ERROR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/base/check.h"

namespace liststore::dynamodb {

// Source: DynamoDB's API reference, "Common errors" and the errors of each operation.
enum class ErrorCode : uint8_t {
  kValidation,
  kSerialization,
  kConditionalCheckFailed,
  kResourceNotFound,
  kResourceInUse,
  kTableNotFound,
  kTableInUse,
  kTransactionCanceled,
  kTransactionConflict,
  kTransactionInProgress,
  kIdempotentParameterMismatch,
  kItemCollectionSizeLimitExceeded,
  kProvisionedThroughputExceeded,
  kRequestLimitExceeded,
  kThrottling,
  kLimitExceeded,
  kDuplicateItem,
  kTrimmedDataAccess,
  kExpiredIterator,
  kAccessDenied,
  kMissingAuthenticationToken,
  kIncompleteSignature,
  kInvalidSignature,
  kUnrecognizedClient,
  kUnknownOperation,
  kInternalServerError,
};

// "ConditionalCheckFailedException": the name behind the '#' of `__type`.
std::string_view NameOf(ErrorCode code);
// "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException": what `__type` says. General errors
// have another prefix, com.amazon.coral.validate for ValidationException. Source: what Amazon answers.
std::string_view TypeOf(ErrorCode code);
// 400, or 500 where it is the server's fault.
int HttpStatusOf(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::kInternalServerError;
  std::string message;  // Amazon's words where they are known, else DynamoDB Local's

  bool operator==(const Error&) const = default;
};

inline Error Invalid(std::string message) { return {ErrorCode::kValidation, std::move(message)}; }
// "One or more parameter values were invalid: " + `what`.
Error InvalidParameter(std::string_view what);

// Success, or why not. A pointer, because success is what counts. Works with LS_RETURN_IF_ERROR.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error)  // NOLINT(google-explicit-constructor)
      : error_(std::make_unique<Error>(std::move(error))) {}

  bool ok() const { return error_ == nullptr; }
  const Error& error() const {
    LS_CHECK(!ok(), "success has no error");
    return *error_;
  }
  Error TakeError() {
    LS_CHECK(!ok(), "success has no error");
    return std::move(*std::exchange(error_, nullptr));
  }

 private:
  std::unique_ptr<Error> error_;
};

// A value, or why there is none. Works with LS_ASSIGN_OR_RETURN.
template <typename T>
class [[nodiscard]] ErrorOr {
 public:
  ErrorOr(T value)
      : result_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  ErrorOr(Error error)                                        // NOLINT(google-explicit-constructor)
      : result_(std::in_place_index<1>, std::move(error)) {}
  // `status` is not ok.
  ErrorOr(Status status)  // NOLINT(google-explicit-constructor)
      : result_(std::in_place_index<1>, status.TakeError()) {}

  bool ok() const { return result_.index() == 0; }
  const Error& error() const {
    LS_CHECK(!ok(), "a value is no error");
    return std::get<1>(result_);
  }
  // The error, moved out: what LS_ASSIGN_OR_RETURN hands on.
  Error status() {
    LS_CHECK(!ok(), "a value is no error");
    return std::get<1>(std::move(result_));
  }

  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(value()); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const T& value() const& {
    LS_CHECK(ok(), "an error has no value");
    return std::get<0>(result_);
  }
  T& value() & {
    LS_CHECK(ok(), "an error has no value");
    return std::get<0>(result_);
  }

 private:
  std::variant<T, Error> result_;
};

}  // namespace liststore::dynamodb

#endif  // LISTSTORE_ENGINE_DYNAMODB_VALUES_ERROR_H_
