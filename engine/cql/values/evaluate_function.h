// Functions of CQL, applied to values.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_EVALUATE_FUNCTION_H_
#define LISTSTORE_ENGINE_CQL_VALUES_EVALUATE_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/cql/syntax/cql_error.h"
#include "engine/cql/values/json_value.h"
#include "engine/cql/values/native_function.h"
#include "engine/model/types/uuid.h"

namespace liststore::cql {

// Where functions that are not pure have their results from, while one statement runs.
class FunctionContext {
 public:
  virtual ~FunctionContext() = default;

  // Nanoseconds since the Unix epoch: one instant for the whole statement.
  virtual uint64_t now_nanos() const = 0;
  // A timeuuid of the present, another one with each call.
  virtual Uuid NewTimeuuid() = 0;
  // A random one.
  virtual Uuid NewUuid() = 0;
  // Of one JSON.
  virtual size_t json_values_max() const { return kJsonValuesMax; }
  // Of a JSON that is made.
  virtual size_t json_bytes_max() const { return SIZE_MAX; }
};

// `arguments`: one for each of the function's, valid for their types; nullopt is null, which all
// functions answer with null but for those that make JSON, and so do those of times to values of no
// bytes. `context` may be nullptr for a pure function.
//
// Invalid: bytes that are no value of the type which they are to become; a key that is too long.
// Of JSON: DecodeJsonRow, FromJson, EncodeJson.
// Server: an instant that the result's type cannot say, in ScyllaDB's words. O(bytes).
CqlOr<std::optional<std::string>> EvaluateFunction(
    const NativeFunction& function, std::span<const std::optional<std::string_view>> arguments,
    FunctionContext* context);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_EVALUATE_FUNCTION_H_
