// The paths of elements: which element of a column of several cells a cell is. Their order by
// unsigned bytes is that of the elements in the column's value. None is empty.
//
//   list         01, then the position: 12 bytes, see ListPosition, and 6 bytes more where a
//                timeuuid that was given has them
//   set, map     01, then the element or key, encoded as a clustering key of one column
//   user type    01, then the field's number, 2 bytes, big-endian
#ifndef LISTSTORE_ENGINE_MODEL_CELL_PATH_H_
#define LISTSTORE_ENGINE_MODEL_CELL_PATH_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/table_schema.h"
#include "engine/model/types/data_type.h"
#include "engine/model/types/uuid.h"

namespace liststore {

// Where an element of a list stands: by the write that appended it, and within that. Elements that
// are prepended stand where a write as long before `kListMirrorMicros` as it was after it would
// have appended them, as in ScyllaDB (cql3/lists.cc).
struct ListPosition {
  int64_t micros = 0;
  uint32_t number = 0;  // ticks of 100 ns, then kListNumberBits of the elements of one tick

  auto operator<=>(const ListPosition&) const = default;
};
// Source: ScyllaDB utils/UUID_gen.hh, SUBMICRO_LIMIT.
inline constexpr int kListNumberBits = 17;
// 2010-01-01.
inline constexpr int64_t kListMirrorMicros = int64_t{1'262'304'000} * 1'000'000;

void AppendPath(const ListPosition& position, std::string& out);
// Of an element of a set, or the key of a map. `key`: its type; `value` is a valid one.
void AppendPath(const DataType& key, std::string_view value, std::string& out);
void AppendFieldPath(size_t field, std::string& out);

// Paths of lists as ScyllaDB has them: timeuuids, which order them as the bytes of ours do. What is
// no timeuuid has no path: false, and nothing is appended. `timeuuid`: 16 bytes.
bool AppendTimeuuidPath(std::string_view timeuuid, std::string& out);
// The inverse. What was written before 1582, where timeuuids begin, comes first of all.
Uuid TimeuuidOfPath(std::string_view path);

// The inverse; of equal elements or keys the simplest form comes back.
std::string KeyOfPath(const DataType& key, std::string_view path);
size_t FieldOfPath(std::string_view path);

// Puts the value of a column together from its elements, which come in the order of their paths.
class ElementsValue {
 public:
  // `type`: of the column, not frozen; it outlives the value.
  void Begin(const DataType& type);
  void Add(std::string_view path, std::string_view value);
  // Something was added. Valid until the next Begin.
  std::string_view Finish();

 private:
  void Append(std::string_view bytes);

  // The key of an element, of a set or a map.
  void AppendKey(std::string_view path);

  const DataType* type_ = nullptr;
  std::vector<ClusteringColumnSchema> key_;  // of type_; to make it takes longer than to use it
  uint32_t count_ = 0;
  std::string bytes_;
};

}  // namespace liststore

#endif  // LISTSTORE_ENGINE_MODEL_CELL_PATH_H_
