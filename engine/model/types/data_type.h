// DataType: a type as CQL statements and drivers know it: a native one, a list, set, map or tuple
// of others, or one that a user has defined. Storage sees native types alone, but for the order of
// clustering columns (TableSchema); what a cell of another kind holds is bytes to it.
#ifndef LISTSTORE_ENGINE_MODEL_TYPES_DATA_TYPE_H_
#define LISTSTORE_ENGINE_MODEL_TYPES_DATA_TYPE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/types/cql_type.h"

namespace liststore {

// How a user-defined type is called, and its fields; what types these have, the DataType says.
struct UserTypeNames {
  std::string keyspace;
  std::string name;
  // As statements write it: the language alone knows which names want quotes.
  std::string name_in_cql;
  std::vector<std::string> fields;
  bool operator==(const UserTypeNames&) const = default;
};

// How large a type is: user types inside of each other make giants of short texts.
struct TypeSize {
  // Of what drivers are told of it, all that is in it included; UINT32_MAX: or more.
  uint32_t bytes = 2;
  uint16_t depth = 1;  // UINT16_MAX: or more

  bool operator==(const TypeSize&) const = default;
};

// A small tree with value semantics: 48 bytes, and parameters that copies share. Immutable but by
// assignment.
class DataType {
 public:
  enum class Kind : uint8_t {
    kNative,
    kList,
    kSet,
    kMap,
    kTuple,
    kUser
  };

  // Implicit, so that a native type can stand where any type can.
  DataType(CqlType native) : native_(native) {}  // NOLINT(google-explicit-constructor)
  static DataType List(DataType element) { return {Kind::kList, {std::move(element)}}; }
  static DataType Set(DataType element) { return {Kind::kSet, {std::move(element)}}; }
  static DataType Map(DataType key, DataType value) {
    return {Kind::kMap, {std::move(key), std::move(value)}};
  }
  // At least one field. Tuples are frozen whether or not it is said, and what is in them with them.
  static DataType Tuple(std::vector<DataType> fields) {
    return Frozen({Kind::kTuple, std::move(fields)});
  }
  // What a class of Cassandra's defines that CQL has no type for: a blob to all who look at values,
  // and to drivers a custom type. `class_name`: with its package and parameters.
  static DataType Custom(std::string class_name);
  // As many fields as names; maybe none.
  static DataType User(std::shared_ptr<const UserTypeNames> names, std::vector<DataType> fields);
  // The same type as one value that is only written whole, and so is what is in it. A native type
  // stays as it is. O(what is not frozen yet).
  static DataType Frozen(DataType type);

  Kind kind() const { return kind_; }
  bool is_native() const { return kind_ == Kind::kNative; }
  // Of a native type only.
  CqlType native() const;
  bool is(CqlType type) const { return is_native() && native_ == type; }
  bool is_custom() const { return is_native() && user_ != nullptr; }
  // Of a custom type only.
  const std::string& custom_class() const;
  bool is_frozen() const { return frozen_; }
  bool is_collection() const {
    return kind_ == Kind::kList || kind_ == Kind::kSet || kind_ == Kind::kMap;
  }
  // A tuple or a user type: `parameters` are its fields.
  bool has_fields() const { return kind_ == Kind::kTuple || kind_ == Kind::kUser; }
  // Elements or fields are written one by one.
  bool is_multi_cell() const { return !is_native() && !frozen_; }
  // Of a user type only.
  const UserTypeNames& user() const;
  // Element; key and value; or fields. None for a native type.
  const std::vector<DataType>& parameters() const {
    return parameters_ == nullptr ? NoParameters() : *parameters_;
  }
  // O(1).
  TypeSize size() const { return size_; }

  // `type` is in it, at any depth. `Contains(UserTypeNames)`: the user type of that keyspace and
  // name.
  bool Contains(CqlType type) const;
  bool Contains(const UserTypeNames& user_type) const;

  // The type with `updated`, a user type, in place of every one of its keyspace and name; frozen
  // where those were. Of many types: UserTypeReplacement.
  DataType WithUserType(const DataType& updated) const;

  // As ScyllaDB prints it in system_schema.columns: "frozen<map<text, blob>>". User types without
  // their keyspace.
  std::string ToString() const;
  // True when `value` is a valid encoding (protocol v3 and up, without the outer length): elements
  // each with a length of 4 bytes, none of them null but in tuples and user types, and every one
  // valid. Order and uniqueness in sets and maps are not looked at.
  // Source: native_protocol_v4.spec, section 6.
  bool IsValid(std::string_view value) const;

  bool operator==(const DataType& other) const;

 private:
  friend class UserTypeReplacement;

  DataType(Kind kind, std::vector<DataType> parameters);
  static const std::vector<DataType>& NoParameters();
  bool IsUserType(const UserTypeNames& names) const {
    return kind_ == Kind::kUser && user_->keyspace == names.keyspace && user_->name == names.name;
  }

  Kind kind_ = Kind::kNative;
  CqlType native_ = CqlType::kBlob;
  bool frozen_ = false;
  TypeSize size_;
  std::shared_ptr<const std::vector<DataType>> parameters_;  // nullptr: none
  std::shared_ptr<const UserTypeNames> user_;  // of a custom type: its class is the name
};

// DataType::WithUserType of many types: what they share they share behind it, so that it costs time
// and memory by the types that there are, not by how often each is used.
class UserTypeReplacement {
 public:
  explicit UserTypeReplacement(DataType updated);

  DataType In(const DataType& type);

 private:
  struct Replaced {
    DataType before;  // holds what the key points to
    DataType after;
  };

  const DataType updated_;
  const DataType frozen_;  // the same
  // By where the parameters of the type before are.
  std::map<const std::vector<DataType>*, Replaced> replaced_;
};

// Of one keyspace, by name: user types that are not frozen.
using UserTypes = std::map<std::string, DataType, std::less<>>;

// Takes the elements of a valid list or set, or the keys and values in turn of a valid map, apart;
// nullopt where the framing is broken. The elements themselves are not looked at.
std::optional<std::vector<std::string_view>> SplitCollection(const DataType& type,
                                                             std::string_view value);
// Puts one together: elements of a list or set, keys and values in turn of a map.
std::string JoinCollection(const DataType& type, const std::vector<std::string>& elements);

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_TYPES_DATA_TYPE_H_
