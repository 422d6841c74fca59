#include "tools/serve/demo.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "tools/serve/server_options.h"

namespace liststore {

absl::StatusOr<std::unique_ptr<ListStore>> OpenDemo(const ServeOptions& options,
                                                    uint64_t memory_limit_bytes,
                                                    const Clock& clock) {
  Options store_options;
  store_options.clock = &clock;
  store_options.keyspace = "demo";
  store_options.shards = options.shards;
  store_options.memory_limit_bytes = memory_limit_bytes;
  store_options.memory_policy = MemoryPolicyOf(options);
  LS_ASSIGN_OR_RETURN(std::unique_ptr<ListStore> store, ListStore::Open(store_options));
  LS_RETURN_IF_ERROR(store->Populate(options.populate_bytes));
  constexpr int64_t kThirtyDays = 30 * 86'400;
  LS_RETURN_IF_ERROR(store->CreateListFeature("user", "reading_history", kThirtyDays));
  constexpr uint64_t kMinuteNanos = 60'000'000'000;
  const uint64_t now = clock.NowNanos();
  int story = 0;
  for (const std::string_view user : {"alice", "bob", "carol"}) {
    std::vector<std::string> values;
    for (int i = 0; i < 5; ++i) values.push_back(absl::StrCat("story-", ++story));
    std::vector<NewItem> items;
    for (size_t i = 0; i < values.size(); ++i) {
      items.push_back({now - (i + 1) * kMinuteNanos, values[i]});
    }
    const ListId list{"user", "reading_history", "", user};
    LS_RETURN_IF_ERROR(store->AddListItems(list, items).status());
  }
  return store;
}

std::string HowToConnect(std::string_view address, int port) {
  const std::string host(address);
  return absl::StrFormat(R"(
Keyspace demo, table list_items: what alice, bob and carol read lately. From another terminal:

  Python   # in a shell: python3 -m venv demo-env && demo-env/bin/pip install cassandra-driver
           # and then, in demo-env/bin/python:
           from cassandra.cluster import Cluster
           session = Cluster(["%s"], port=%d).connect("demo")
           for row in session.execute("SELECT item_key, value, TTL(value) FROM list_items"): print(row)

  Node     const { Client } = require("cassandra-driver")   // npm install cassandra-driver
           const client = new Client({ contactPoints: ["%s:%d"], localDataCenter: "datacenter1" })
           client.execute("SELECT * FROM demo.list_items").then(r => console.log(r.rows))

  Go       cluster := gocql.NewCluster("%s:%d")      // go get github.com/gocql/gocql
           session, err := cluster.CreateSession()
           iter := session.Query("SELECT entity_id, value FROM demo.list_items").Iter()

Ctrl-C ends it; what is in memory goes with it.
)",
                         host, port, host, port, host, port);
}

}  // namespace liststore
