// CopyTable: a table at rest into another of its columns, in one step.
#ifndef LISTSTORE_TESTS_STORAGE_COPY_TABLE_H_
#define LISTSTORE_TESTS_STORAGE_COPY_TABLE_H_

#include <cstdint>

#include "engine/model/op_status.h"
#include "engine/model/schema_actions.h"
#include "engine/storage/table.h"
#include "engine/storage/table_mirror.h"

namespace liststore::testing {

// `to` is empty. kOutOfMemory: a part of it was copied.
inline OpStatus CopyTable(storage::Table& from, storage::Table& to, int64_t now_seconds) {
  const ColumnMap same = ColumnMap::Same(from.schema());
  storage::TableMirror mirror(from, to, same);
  mirror.CopySlice(now_seconds, SIZE_MAX);
  return mirror.status();
}

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_STORAGE_COPY_TABLE_H_
