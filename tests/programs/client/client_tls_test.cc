// The tools' client over TLS, against a server in the process.
#include "programs/client/client_tls.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "liststore/cql_server.h"
#include "programs/client/cql_client.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_authority.h"

namespace liststore::testing {
namespace client_tls_test {

class ClientTlsTest : public ::testing::Test {
 protected:
  ClientTlsTest() {
    Write("node", authority_.SignLocalhost());
    Write("client", clients_.Sign("client"));
    WriteFile(folder_ / "ca.crt", authority_.certificate());
    WriteFile(folder_ / "clients.crt", clients_.certificate());
  }
  void Write(const std::string& name, const TestCertificate& own) const {
    WriteFile(folder_ / (name + ".crt"), own.certificate);
    WriteFile(folder_ / (name + ".key"), own.key);
  }
  void Start(bool asks_clients = false) {
    CqlServerOptions options;
    options.memory_limit_bytes = 64 << 20;
    options.tls =
        TlsOptions{.certificate_file = folder_ / "node.crt", .key_file = folder_ / "node.key"};
    options.tls_port = 0;
    if (asks_clients) {
      options.tls->ca_file = folder_ / "clients.crt";
      options.tls->require_client_certificate = true;
    }
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
  }
  absl::StatusOr<std::unique_ptr<CqlClient>> Connect(const ClientTlsOptions& tls,
                                                     const std::string& host = "127.0.0.1") const {
    return CqlClient::Connect(At(host), {}, tls);
  }
  std::string At(const std::string& host) const {
    return host + ":" + std::to_string(server_->tls_port());
  }
  // Why it does not connect, without the server's name; empty: it does.
  std::string WhyNot(const ClientTlsOptions& tls, const std::string& host = "127.0.0.1") const {
    const auto client = Connect(tls, host);
    const std::string message(client.status().message());
    return message.starts_with(At(host) + ": ") ? message.substr(At(host).size() + 2) : message;
  }

  const TempFolder folder_;
  const TestAuthority authority_{"servers"};
  const TestAuthority clients_{"clients"};
  std::unique_ptr<CqlServer> server_;
};

TEST_F(ClientTlsTest, AsksAndIsAnswered) {
  Start();
  for (const char* const host : {"127.0.0.1", "localhost"}) {
    auto client = Connect({.is_on = true, .ca_file = folder_ / "ca.crt"}, host);
    ASSERT_TRUE(client.ok()) << client.status().message();
    ASSERT_TRUE((*client)
                    ->Query("CREATE KEYSPACE IF NOT EXISTS k WITH replication = {'class': "
                            "'SimpleStrategy', 'replication_factor': 1}")
                    .ok());
    ASSERT_TRUE(
        (*client)->Query("CREATE TABLE IF NOT EXISTS k.t (p int PRIMARY KEY, v text)").ok());
    const std::string value(500'000, 'v');
    const std::string key = CqlInt(1);
    const std::string_view values[] = {key, value};
    ASSERT_TRUE((*client)->Query("INSERT INTO k.t (p, v) VALUES (?, ?)", values).ok());
    const auto rows = (*client)->Query("SELECT v FROM k.t");
    ASSERT_TRUE(rows.ok() && rows->size() == 1) << rows.status().message();
    EXPECT_EQ(rows->at(0, 0), value);
    // Many under way.
    constexpr int kRequests = 1000;
    for (int i = 0; i < kRequests; ++i) {
      (*client)->requests().Query(static_cast<int16_t>(i), "SELECT p FROM k.t", {});
    }
    ASSERT_TRUE((*client)->Send().ok());
    // In any order: a statement that takes long is overtaken.
    std::set<int> answered;
    for (CqlReply reply; answered.size() < kRequests;) {
      if ((*client)->Take(&reply)) {
        EXPECT_TRUE(answered.insert(reply.stream).second) << reply.stream;
      } else {
        ASSERT_TRUE((*client)->Receive().ok());
      }
    }
  }
}

TEST_F(ClientTlsTest, BelievesNobodyUnlessToldTo) {
  Start();
  const std::string unknown = "the server's certificate is not believed: ";
  EXPECT_EQ(WhyNot({.is_on = true}), unknown + "unable to get local issuer certificate");
  EXPECT_EQ(WhyNot({.ca_file = folder_ / "clients.crt"}),
            unknown + "unable to get local issuer certificate");
  EXPECT_EQ(WhyNot({.ca_file = folder_ / "ca.crt"}), "") << "a CA alone asks for TLS too";
  EXPECT_EQ(WhyNot({.trusts_anybody = true}), "");
  Write("node", authority_.Sign("elsewhere", {"DNS:elsewhere.example", "IP:192.0.2.1"}));
  ASSERT_TRUE(server_->ReloadTls().ok());
  EXPECT_EQ(WhyNot({.ca_file = folder_ / "ca.crt"}), unknown + "IP address mismatch");
  EXPECT_EQ(WhyNot({.ca_file = folder_ / "ca.crt"}, "localhost"), unknown + "hostname mismatch");
}

TEST_F(ClientTlsTest, ShowsItsCertificate) {
  Start(/*asks_clients=*/true);
  EXPECT_EQ(WhyNot({.ca_file = folder_ / "ca.crt"}),
            "TLS: tlsv13 alert certificate required (STARTUP)");
  EXPECT_EQ(WhyNot({.ca_file = folder_ / "ca.crt",
                    .certificate_file = folder_ / "client.crt",
                    .key_file = folder_ / "client.key"}),
            "");
  WriteFile(folder_ / "both.pem",
            ReadFile(folder_ / "client.crt") + ReadFile(folder_ / "client.key"));
  EXPECT_EQ(WhyNot({.ca_file = folder_ / "ca.crt", .certificate_file = folder_ / "both.pem"}), "");
}

TEST_F(ClientTlsTest, SaysWhatItCannotUse) {
  Start();
  EXPECT_EQ(WhyNot({.ca_file = "/nowhere/ca.crt"}),
            "TLS CA /nowhere/ca.crt: No such file or directory");
  EXPECT_EQ(WhyNot({.key_file = folder_ / "client.key"}),
            "TLS key " + folder_ / "client.key" + ": no certificate is given that it is of");
  EXPECT_EQ(WhyNot({.certificate_file = folder_ / "client.crt", .key_file = folder_ / "node.key"}),
            "TLS key " + folder_ / "node.key" + ": key values mismatch");
  WriteFile(folder_ / "locked.key", EncryptedKey(ReadFile(folder_ / "client.key"), "secret"));
  EXPECT_NE(WhyNot({.certificate_file = folder_ / "client.crt", .key_file = folder_ / "locked.key"})
                .find("locked.key: "),
            std::string::npos);
  const auto plain = CqlClient::Connect("127.0.0.1:" + std::to_string(server_->cql_port()), {},
                                        {.is_on = true, .ca_file = folder_ / "ca.crt"});
  EXPECT_TRUE(absl::IsUnavailable(plain.status()));
  EXPECT_EQ(plain.status().message(),
            "127.0.0.1:" + std::to_string(server_->cql_port()) + ": TLS: wrong version number");
}

}  // namespace client_tls_test
}  // namespace liststore::testing
