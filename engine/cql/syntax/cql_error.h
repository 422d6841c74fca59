// What CQL answers instead of a result: an error code of the native protocol and a message. No
// exceptions and no absl::Status here: a client sees the code, and clients act on it.
#ifndef LISTSTORE_ENGINE_CQL_SYNTAX_CQL_ERROR_H_
#define LISTSTORE_ENGINE_CQL_SYNTAX_CQL_ERROR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/check.h"
#include "engine/cql/syntax/unsupported.h"
#include "engine/model/cql_error_code.h"

namespace liststore::cql {

// What the protocol sends behind the message of some codes.
struct AlreadyExistsDetail {
  std::string keyspace;
  std::string table;  // empty: it is the keyspace that exists

  bool operator==(const AlreadyExistsDetail&) const = default;
};
struct UnpreparedDetail {
  std::string statement_id;

  bool operator==(const UnpreparedDetail&) const = default;
};
struct UnavailableDetail {
  uint16_t consistency = 0;
  int32_t required = 0;
  int32_t alive = 0;

  bool operator==(const UnavailableDetail&) const = default;
};
// Of a write to one row, kept by one node, that failed there.
struct WriteFailureDetail {
  uint16_t consistency = 0;

  bool operator==(const WriteFailureDetail&) const = default;
};
struct FunctionFailureDetail {
  std::string keyspace;
  std::string function;
  std::vector<std::string> argument_types;

  bool operator==(const FunctionFailureDetail&) const = default;
};
using CqlErrorDetail = std::variant<std::monostate, AlreadyExistsDetail, UnpreparedDetail,
                                    UnavailableDetail, WriteFailureDetail, FunctionFailureDetail>;

struct CqlError {
  CqlErrorCode code = CqlErrorCode::kServerError;
  std::string message;  // ScyllaDB's words where it has them: tests of clients look for them
  CqlErrorDetail detail;
  // Set by Unsupported: what CQL has and liststore does not.
  std::optional<CqlFeature> feature = {};

  bool operator==(const CqlError&) const = default;

  static CqlError Syntax(std::string message) {
    return {CqlErrorCode::kSyntax, std::move(message), {}};
  }
  static CqlError Invalid(std::string message) {
    return {CqlErrorCode::kInvalid, std::move(message), {}};
  }
  // "marshaling error: " + `detail`: bytes or a text that are no value of their type.
  static CqlError Marshaling(const std::string& detail) {
    return Invalid("marshaling error: " + detail);
  }
  static CqlError Config(std::string message) {
    return {CqlErrorCode::kConfig, std::move(message), {}};
  }
  static CqlError Server(std::string message) {
    return {CqlErrorCode::kServerError, std::move(message), {}};
  }
  // Invalid, which drivers do not try again. The message says what it is, the nearest way that
  // works and the code; `what` is what of it was asked for ("CREATE ROLE", a column), and may be
  // empty. `feature` is one that is refused.
  static CqlError Unsupported(CqlFeature feature, std::string_view what);
};

// Success, or why not. Works with LS_RETURN_IF_ERROR. A pointer, because success is what counts:
// with the error in line, `return {}` cleared 150 bytes, a fifth of the time of an EXECUTE.
class [[nodiscard]] CqlStatus {
 public:
  CqlStatus() = default;
  CqlStatus(CqlError error)  // NOLINT(google-explicit-constructor)
      : error_(new CqlError(std::move(error))) {}
  CqlStatus(CqlStatus&&) = default;
  CqlStatus& operator=(CqlStatus&&) = default;
  CqlStatus(const CqlStatus& other) : error_(other.ok() ? nullptr : new CqlError(*other.error_)) {}
  CqlStatus& operator=(const CqlStatus& other) { return *this = CqlStatus(other); }

  bool ok() const { return error_ == nullptr; }
  const CqlError& error() const {
    LS_CHECK(!ok(), "success has no error");
    return *error_;
  }
  CqlError TakeError() {
    LS_CHECK(!ok(), "success has no error");
    return std::move(*std::exchange(error_, nullptr));
  }

 private:
  // Out of line, so that the end of a success is a comparison and no call.
  struct Delete {
    void operator()(CqlError* error) const;
  };
  std::unique_ptr<CqlError, Delete> error_;
};

// A value, or why there is none. Works with LS_ASSIGN_OR_RETURN.
template <typename T>
class [[nodiscard]] CqlOr {
 public:
  CqlOr(T value) : result_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  CqlOr(CqlError error) : result_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  // `status` is not ok.
  CqlOr(CqlStatus status)  // NOLINT(google-explicit-constructor)
      : result_(status.TakeError()) {}

  bool ok() const { return result_.index() == 0; }
  const CqlError& error() const {
    LS_CHECK(!ok(), "a value is no error");
    return std::get<1>(result_);
  }
  // The error, moved out: what LS_ASSIGN_OR_RETURN hands on.
  CqlError status() {
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
  std::variant<T, CqlError> result_;
};

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_SYNTAX_CQL_ERROR_H_
