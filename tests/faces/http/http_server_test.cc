// HTTP of a whole server: its port, who comes in, TLS.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "liststore/cql_server.h"
#include "tests/faces/http/http_client.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_authority.h"
#include "tests/support/tls_peer.h"

namespace liststore::testing {
namespace http_server_test {

std::unique_ptr<CqlServer> Start(CqlServerOptions options = {}) {
  options.http_port = 0;
  options.memory_limit_bytes = 64 << 20;
  auto server = CqlServer::Start(options);
  EXPECT_TRUE(server.ok()) << server.status().message();
  return server.ok() ? *std::move(server) : nullptr;
}

TEST(HttpServerTest, ThereIsNoPortUnlessItIsAskedFor) {
  CqlServerOptions options;
  options.memory_limit_bytes = 64 << 20;
  auto server = CqlServer::Start(options);
  ASSERT_TRUE(server.ok());
  EXPECT_EQ((*server)->http_port(), 0);
}

TEST(HttpServerTest, SaysThatItLivesAndIsReady) {
  const auto server = Start();
  ASSERT_NE(server->http_port(), 0);
  HttpClient client(server->http_port());
  EXPECT_EQ(client.Ask("GET /health").body, "{\"status\":\"alive\"}\n");
  EXPECT_EQ(client.Ask("GET /ready").body, "{\"status\":\"ready\"}\n");
  EXPECT_EQ(client.Ask("POST /ready", "{}").status, 405);
  const HttpReply nowhere = client.Ask("GET /nowhere");
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_NE(nowhere.body.find(R"("path":"/health")"), std::string::npos) << nowhere.body;
}

TEST(HttpServerTest, APortThatIsTakenIsNamed) {
  const auto server = Start();
  CqlServerOptions options;
  options.memory_limit_bytes = 64 << 20;
  options.http_port = server->http_port();
  const auto second = CqlServer::Start(options);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find(absl::StrCat(server->http_port())), std::string::npos)
      << second.status().message();
}

TEST(HttpServerTest, TakesTlsAndNothingElseWhereThereIsTls) {
  const TestAuthority authority("HTTP");
  const TempFolder folder;
  const TestCertificate own = authority.SignLocalhost();
  WriteFile(folder / "node.crt", own.certificate);
  WriteFile(folder / "node.key", own.key);
  CqlServerOptions options;
  options.tls =
      TlsOptions{.certificate_file = folder / "node.crt", .key_file = folder / "node.key"};
  const auto server = Start(options);
  ASSERT_NE(server, nullptr);
  RawTlsClient client(server->http_port(), {.ca = authority.certificate()});
  ASSERT_TRUE(client.Send(HttpClient::Text("GET /health")));
  const auto header = client.ReadBytes(15);
  EXPECT_EQ(header, "HTTP/1.1 200 OK");
  HttpClient plain(server->http_port());
  EXPECT_EQ(plain.Ask("GET /health").status, 0);
}

}  // namespace http_server_test
}  // namespace liststore::testing
