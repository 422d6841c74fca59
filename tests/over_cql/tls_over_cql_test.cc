// CQL over TLS: ports, what drivers are told of them, and what the server says of its clients.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "liststore/cql_server.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_authority.h"
#include "tests/support/tls_peer.h"

namespace liststore::testing {
namespace tls_over_cql_test {

constexpr uint8_t kStartup = 0x01, kAuthenticate = 0x03, kOptions = 0x05, kSupported = 0x06,
                  kResult = 0x08, kAuthResponse = 0x0f, kAuthSuccess = 0x10;

class TlsOverCql : public CqlSessionTest {
 protected:
  TlsOverCql() { Write(authority_.SignLocalhost()); }

  void Write(const TestCertificate& own) const {
    WriteFile(folder_ / "node.crt", own.certificate);
    WriteFile(folder_ / "node.key", own.key);
  }
  // TLS on the ports themselves, or beside them.
  CqlServerOptions WithTls(bool is_beside) const {
    CqlServerOptions options;
    options.tls =
        TlsOptions{.certificate_file = folder_ / "node.crt", .key_file = folder_ / "node.key"};
    options.shards = 3;
    options.memory_limit_bytes = 64 << 20;
    if (is_beside) {
      options.tls_port = 0;
      options.tls_shard_aware_port = 0;
    }
    return options;
  }
  void Start(const CqlServerOptions& options) {
    auto server = CqlServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = *std::move(server);
  }
  RawTlsClient Connect(uint16_t port, uint16_t source_port = 0) const {
    return RawTlsClient(port, {.ca = authority_.certificate()}, source_port);
  }

  // The value of an option of SUPPORTED, "" where there is none. `client` is of either kind.
  template <typename Client>
  static std::string Supported(Client& client, const std::string& name) {
    const auto frame = client.Ask({.opcode = kOptions});
    EXPECT_TRUE(frame && frame->opcode == kSupported);
    if (!frame) return "";
    const std::string entry = name + std::string("\0\1\0", 3);
    const size_t at = frame->body.find(entry);
    if (at == std::string::npos) return "";
    return frame->body.substr(at + entry.size() + 1,
                              static_cast<size_t>(frame->body[at + entry.size()]));
  }
  static std::vector<std::string> Column(RawTlsClient& client, const std::string& select) {
    const auto frame = client.Query(select);
    EXPECT_TRUE(frame);
    return frame ? OneColumnOf(*frame) : std::vector<std::string>();
  }
  static int64_t Counter(RawTlsClient& client, const std::string& name) {
    const auto values =
        Column(client, "SELECT value FROM liststore.counters WHERE name = '" + name + "'");
    EXPECT_EQ(values.size(), 1u) << name;
    return values.size() == 1 ? cql::DecodeInteger(values[0]) : -1;
  }

  const TempFolder folder_;
  const TestAuthority authority_{"servers"};
};

TEST_F(TlsOverCql, PlainAndEncryptedPortsSideBySide) {
  Start(WithTls(/*is_beside=*/true));
  const std::set<uint16_t> ports = {server_->cql_port(), server_->shard_aware_port(),
                                    server_->tls_port(), server_->tls_shard_aware_port()};
  EXPECT_EQ(ports.size(), 4u);
  RawCqlClient plain(server_->cql_port());
  ASSERT_TRUE(plain.StartUp());
  RawTlsClient client = Connect(server_->tls_port());
  ASSERT_TRUE(client.StartUp()) << client.peer().error();
  const std::string aware = std::to_string(server_->shard_aware_port());
  const std::string tls_aware = std::to_string(server_->tls_shard_aware_port());
  EXPECT_EQ(Supported(plain, "SCYLLA_SHARD_AWARE_PORT"), aware);
  EXPECT_EQ(Supported(plain, "SCYLLA_SHARD_AWARE_PORT_SSL"), tls_aware);
  EXPECT_EQ(Supported(client, "SCYLLA_SHARD_AWARE_PORT"), aware);
  EXPECT_EQ(Supported(client, "SCYLLA_SHARD_AWARE_PORT_SSL"), tls_aware);
  // The client's port chooses the shard there.
  for (int i = 0; i < 4; ++i) {
    RawTlsClient shard = Connect(server_->tls_shard_aware_port());
    ASSERT_TRUE(shard.is_open()) << shard.peer().error();
    EXPECT_EQ(Supported(shard, "SCYLLA_SHARD"), std::to_string(shard.socket().source_port() % 3));
  }
}

TEST_F(TlsOverCql, AloneOnThePortsThemselves) {
  Start(WithTls(/*is_beside=*/false));
  EXPECT_EQ(server_->tls_port(), server_->cql_port());
  EXPECT_EQ(server_->tls_shard_aware_port(), server_->shard_aware_port());
  RawTlsClient client = Connect(server_->cql_port());
  ASSERT_TRUE(client.StartUp()) << client.peer().error();
  EXPECT_EQ(Supported(client, "SCYLLA_SHARD_AWARE_PORT"), "");
  EXPECT_EQ(Supported(client, "SCYLLA_SHARD_AWARE_PORT_SSL"),
            std::to_string(server_->shard_aware_port()));
  RawCqlClient plain(server_->cql_port());
  EXPECT_FALSE(plain.StartUp());
}

TEST_F(TlsOverCql, WithoutTlsNothingIsSaidOfIt) {
  Start([] {
    CqlServerOptions options;
    options.memory_limit_bytes = 64 << 20;
    return options;
  }());
  EXPECT_EQ(server_->tls_port(), 0);
  EXPECT_EQ(server_->tls_shard_aware_port(), 0);
  RawCqlClient plain(server_->cql_port());
  EXPECT_EQ(Supported(plain, "SCYLLA_SHARD_AWARE_PORT_SSL"), "");
  EXPECT_TRUE(absl::IsFailedPrecondition(server_->ReloadTls()));
  // Whoever shakes hands there has no frame of CQL: an error, and the end.
  RawTlsClient client = Connect(server_->cql_port());
  EXPECT_FALSE(client.is_open());
  EXPECT_EQ(client.peer().error(), "wrong version number");
  EXPECT_TRUE(plain.StartUp());
}

TEST_F(TlsOverCql, TheServerSaysHowItsClientsAreConnected) {
  Start(WithTls(/*is_beside=*/true));
  RawCqlClient plain(server_->cql_port());
  ASSERT_TRUE(plain.StartUp());
  RawTlsClient client = Connect(server_->tls_port());
  ASSERT_TRUE(client.StartUp());
  RawTlsClient older(server_->tls_port(), {.ca = authority_.certificate(), .max_version = "1.2"});
  ASSERT_TRUE(older.StartUp());
  const auto of = [&](const std::string& column, uint16_t port) {
    const auto values = Column(client, "SELECT " + column +
                                           " FROM system.clients WHERE address = "
                                           "'127.0.0.1' AND port = " +
                                           std::to_string(port));
    return values.size() == 1 ? values[0] : "no row";
  };
  const uint16_t tls_port = client.socket().source_port();
  const uint16_t older_port = older.socket().source_port();
  EXPECT_EQ(of("ssl_enabled", tls_port), "\1");
  EXPECT_EQ(of("ssl_protocol", tls_port), "TLSv1.3");
  EXPECT_EQ(of("ssl_cipher_suite", tls_port), "TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(of("ssl_protocol", older_port), "TLSv1.2");
  EXPECT_EQ(of("ssl_cipher_suite", older_port), "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
  EXPECT_EQ(of("ssl_enabled", plain.source_port()), std::string(1, '\0'));
  EXPECT_EQ(of("ssl_protocol", plain.source_port()), "");
  EXPECT_EQ(Counter(client, "tls_handshakes"), 2);
  EXPECT_EQ(Counter(client, "tls_handshakes_failed"), 0);
  RawCqlClient lost(server_->tls_port());
  EXPECT_FALSE(lost.StartUp()) << "it is a port of TLS";
  EXPECT_EQ(Counter(client, "tls_handshakes_failed"), 1);
}

TEST_F(TlsOverCql, PasswordsAreAskedForAsWithout) {
  CqlServerOptions options = WithTls(/*is_beside=*/false);
  options.user = "alice";
  options.password = "secret";
  Start(options);
  const auto log_in = [](RawTlsClient& client, const std::string& password) {
    const auto asked = client.Ask({.opcode = kStartup, .body = StartupBody()});
    EXPECT_TRUE(asked && asked->opcode == kAuthenticate);
    const std::string token = std::string("\0alice\0", 7) + password;
    const auto answer =
        client.Ask({.stream = 2, .opcode = kAuthResponse, .body = BytesBody(token)});
    return answer && answer->opcode == kAuthSuccess;
  };
  RawTlsClient client = Connect(server_->cql_port());
  ASSERT_TRUE(log_in(client, "secret"));
  EXPECT_EQ(Column(client, "SELECT role FROM system.roles"), std::vector<std::string>{"alice"});
  RawTlsClient other = Connect(server_->cql_port());
  EXPECT_FALSE(log_in(other, "wrong"));
}

TEST_F(TlsOverCql, EventsAndLargeAnswersComeThrough) {
  Start(WithTls(/*is_beside=*/false));
  RawTlsClient client = Connect(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  const auto must = [&](const std::string& text) {
    const auto answer = client.Query(text);
    ASSERT_TRUE(answer && answer->opcode == kResult) << text;
  };
  RawTlsClient listener = Connect(server_->cql_port());
  ASSERT_TRUE(listener.StartUp());
  constexpr uint8_t kRegister = 0x0b, kEvent = 0x0c;
  ASSERT_TRUE(listener.Ask({.opcode = kRegister, .body = StringListBody({"SCHEMA_CHANGE"})}));
  must("CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
  const auto event = listener.Read();
  ASSERT_TRUE(event && event->opcode == kEvent);
  must("CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))");
  const std::string value(300'000, 'v');
  for (int c = 0; c < 10; ++c) {
    must("INSERT INTO k.t (p, c, v) VALUES (1, " + std::to_string(c) + ", '" + value + "')");
  }
  EXPECT_EQ(Column(client, "SELECT v FROM k.t"), std::vector<std::string>(10, value));
}

TEST_F(TlsOverCql, FilesAreReadAgain) {
  Start(WithTls(/*is_beside=*/false));
  RawTlsClient before = Connect(server_->cql_port());
  ASSERT_TRUE(before.StartUp());
  Write(authority_.Sign("another", {"DNS:localhost"}));
  ASSERT_TRUE(server_->ReloadTls().ok());
  RawTlsClient after = Connect(server_->cql_port());
  ASSERT_TRUE(after.StartUp());
  EXPECT_EQ(after.peer().server_name(), "another");
  WriteFile(folder_ / "node.crt", "");
  const absl::Status status = server_->ReloadTls();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(status.message(),
            "TLS certificate " + folder_ / "node.crt" + ": holds no certificate in PEM form");
  RawTlsClient last = Connect(server_->cql_port());
  EXPECT_TRUE(last.StartUp());
  EXPECT_EQ(Counter(before, "tls_handshakes"), 3);
}

TEST_F(TlsOverCql, OptionsThatDoNotGoTogetherAreRefused) {
  const auto why = [](const CqlServerOptions& options) {
    return std::string(CqlServer::Start(options).status().message());
  };
  CqlServerOptions options = WithTls(/*is_beside=*/true);
  options.tls->certificate_file = "/nowhere/node.crt";
  EXPECT_EQ(why(options), "TLS certificate /nowhere/node.crt: No such file or directory");
  options.tls.reset();
  EXPECT_EQ(why(options), "a port of TLS is given, but no certificate");
}

}  // namespace tls_over_cql_test
}  // namespace liststore::testing
