#include "programs/client/list_model.h"

namespace liststore {

std::vector<std::string> ListModelSchema() {
  return {
      "CREATE KEYSPACE IF NOT EXISTS feature_store WITH replication = "
      "{'class': 'SimpleStrategy', 'replication_factor': 1}",
      "CREATE TABLE IF NOT EXISTS feature_store.list_items (feature_key text, entity_id text, "
      "item_key text, value blob, PRIMARY KEY ((feature_key, entity_id), item_key)) "
      "WITH CLUSTERING ORDER BY (item_key DESC)",
      "CREATE INDEX IF NOT EXISTS list_items_by_value ON "
      "feature_store.list_items((feature_key, entity_id), value)",
  };
}

}  // namespace liststore
