// A server in this process, a row, and its end by the server's clock.
#include <chrono>
#include <cstdio>

#include "liststore/testing/test_server.h"

int main() {
  auto server = liststore::TestServer::Start({});
  if (!server.ok()) {
    std::printf("%s\n", server.status().ToString().c_str());
    return 1;
  }
  liststore::TestServer& s = **server;
  s.Execute(
      "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  s.Execute("CREATE TABLE k.t (id int PRIMARY KEY)");
  s.Execute("INSERT INTO k.t (id) VALUES (1) USING TTL 60");
  const size_t before = s.Execute("SELECT id FROM k.t").size();
  s.clock().Advance(std::chrono::seconds(61));
  std::printf("%zu row, then %zu\n", before, s.Execute("SELECT id FROM k.t").size());
}
