// Functions that CQL has by itself, by name and signature.
// Sources: ScyllaDB cql3/functions/functions.cc, time_uuid_fcts.hh, bytes_conversion_fcts.hh,
// token_fct.hh.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_NATIVE_FUNCTION_H_
#define LISTSTORE_ENGINE_CQL_VALUES_NATIVE_FUNCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cql/syntax/expression.h"
#include "engine/model/schema.h"
#include "engine/model/types/data_type.h"

namespace liststore::cql {

// One signature of a function. Small, copied into plans.
struct NativeFunction {
  enum class Kind : uint8_t {
    kNow,               // a new timeuuid
    kUuid,              // a new random UUID
    kCurrentTimestamp,  // of the statement's instant, as are the next two
    kCurrentDate,
    kCurrentTime,
    kMinTimeuuid,
    kMaxTimeuuid,
    kToDate,
    kToTimestamp,
    kToUnixTimestamp,
    kToBlob,
    kFromBlob,
    kToken,
    kCast,  // CAST(x AS type)
    // What literals and markers of other than native types ask for; they have no names.
    kParts,    // the value that its arguments are the parts of
    kField,    // of a tuple, the first argument, the field that the second one numbers
    kElement,  // of a list or map, the first argument, what the second one is the index or key of
    kInOrder,  // a value that was bound, its sets and maps in order
    kToJson,
    kFromJson,
    // Of INSERT JSON: the text taken apart, of `result`; and of that what stands at the column that
    // the second argument numbers: of a key, which has to be there; of one that is null where it is
    // not named; of one that is left open then.
    kJsonRow,
    kJsonKey,
    kJsonCell,
    kJsonOpenCell,
    kCount,
    kMin,
    kMax,
    kSum,
    kAvg,
  };

  Kind kind = Kind::kNow;
  std::string name;  // in lower case, without a keyspace
  std::vector<DataType> arguments;
  DataType result = CqlType::kBlob;
  std::string keyspace = {};  // of kFromJson: the statement's, which its errors name

  // The same arguments make the same result, whenever and how often.
  bool is_pure() const { return kind > Kind::kCurrentTime && !is_aggregate(); }
  bool is_aggregate() const { return kind >= Kind::kCount; }
};

// "system.todate"; "system.todate : (timeuuid) -> date". As messages have them.
std::string FullName(const NativeFunction& function);
std::string SignatureText(const NativeFunction& function);
// What messages and drivers call an argument that is bound: "arg0(system.todate)".
std::string ArgumentName(const NativeFunction& function, size_t index);

// All signatures of the function of that name, in the order in which messages list them; none:
// there is no such function. count, min and max have those of every type: AggregateOf. `table`:
// whose partition key token() is of; nullptr: of none. O(functions).
std::vector<NativeFunction> FindNativeFunctions(const FunctionName& name,
                                                const TableDefinition* table);

// toJson, which there is of every type, and fromJson, whose result is of the type that is wanted.
bool IsToJson(const FunctionName& name);
bool IsFromJson(const FunctionName& name);
NativeFunction ToJsonOf(const DataType& argument);
NativeFunction FromJsonTo(const DataType& result, std::string_view keyspace);

// count, min or max of one type; nullopt: another function.
std::optional<NativeFunction> AggregateOf(const FunctionName& name, const DataType& argument);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_NATIVE_FUNCTION_H_
