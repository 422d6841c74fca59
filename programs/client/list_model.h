// The list model in CQL, as a service keeps it in ScyllaDB: its table and the statements for it.
#ifndef LISTSTORE_PROGRAMS_CLIENT_LIST_MODEL_H_
#define LISTSTORE_PROGRAMS_CLIENT_LIST_MODEL_H_

#include <string>
#include <vector>

namespace liststore {

// The keyspace, the table and the index of the list model in this order, IF NOT EXISTS, each a
// statement.
std::vector<std::string> ListModelSchema();

inline constexpr char kInsertItemStatement[] =
    "INSERT INTO feature_store.list_items (feature_key, entity_id, item_key, value) "
    "VALUES (?, ?, ?, ?) USING TTL ?";
inline constexpr char kSelectItemsStatement[] =
    "SELECT value, item_key FROM feature_store.list_items WHERE feature_key = ? AND entity_id = ? "
    "AND item_key >= ? ORDER BY item_key DESC LIMIT ?";

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CLIENT_LIST_MODEL_H_
