// `liststore serve` with TLS: flags, the files while it runs, and a scylla.yaml.
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/raw_cql_client.h"
#include "tests/support/test_authority.h"
#include "tests/support/tls_peer.h"
#include "tests/tools/program.h"

namespace liststore::testing {
namespace serve_tls_test {

struct Ports {
  uint16_t cql = 0;
  uint16_t shard_aware = 0;
  uint16_t tls = 0;
  uint16_t tls_shard_aware = 0;
};

// The ports that the first line says; 0 for those that it does not.
Ports PortsOf(const std::string& ready) {
  const boost::json::object json = boost::json::parse(ready).as_object();
  const auto port = [&](const char* name) {
    const boost::json::value* const value = json.if_contains(name);
    return value == nullptr ? uint16_t{0} : boost::json::value_to<uint16_t>(*value);
  };
  return {port("cql_port"), port("shard_aware_port"), port("tls_port"),
          port("tls_shard_aware_port")};
}

class ServeTls : public ::testing::Test {
 protected:
  ServeTls() {
    Write(authority_.SignLocalhost());
    files_.Write("clients.crt", clients_.certificate());
  }
  void Write(const TestCertificate& own) const {
    files_.Write("node.crt", own.certificate);
    files_.Write("node.key", own.key);
  }
  std::vector<std::string> Arguments(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "serve",     "--cql-port",    "0", "--tls-certificate", Path("node.crt"),
        "--tls-key", Path("node.key")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string Path(const std::string& name) const { return files_.Path(name); }
  TlsPeerOptions Trusting() const { return {.ca = authority_.certificate()}; }
  // The name in the certificate that a new connection gets.
  std::string NameAt(uint16_t port) const {
    RawTlsClient client(port, Trusting());
    return client.is_open() && client.StartUp() ? client.peer().server_name()
                                                : client.peer().error();
  }
  // The first line of a server that ends at once with an error.
  static std::string WhyNot(const std::vector<std::string>& arguments) {
    const ProgramResult result = RunProgram(arguments);
    EXPECT_EQ(result.exit_status, 2) << result.err;
    return result.err.substr(0, result.err.find('\n'));
  }

  const ScratchFiles files_;
  const TestAuthority authority_{"servers"};
  const TestAuthority clients_{"clients"};
};

TEST_F(ServeTls, PortsSideBySide) {
  RunningProgram program(Arguments());
  const Ports ports = PortsOf(program.ReadLine());
  EXPECT_TRUE(RawCqlClient(ports.cql).StartUp());
  EXPECT_TRUE(RawCqlClient(ports.shard_aware).StartUp());
  EXPECT_EQ(NameAt(ports.tls), "localhost");
  EXPECT_EQ(NameAt(ports.tls_shard_aware), "localhost");
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("; TLS on port " + std::to_string(ports.tls) + ", shard-aware " +
                            std::to_string(ports.tls_shard_aware) + "; "),
            std::string::npos)
      << result.err;
}

TEST_F(ServeTls, NoPlainPortsWhereThatIsAskedFor) {
  RunningProgram program(Arguments({"--tls-only", "--tls-min-version", "1.3"}));
  const Ports ports = PortsOf(program.ReadLine());
  EXPECT_EQ(ports.tls, ports.cql);
  EXPECT_EQ(ports.tls_shard_aware, ports.shard_aware);
  EXPECT_EQ(NameAt(ports.cql), "localhost");
  EXPECT_FALSE(RawCqlClient(ports.cql).StartUp());
  TlsPeerOptions older = Trusting();
  older.max_version = "1.2";
  EXPECT_EQ(RawTlsClient(ports.cql, older).peer().error(), "tlsv1 alert protocol version");
}

TEST_F(ServeTls, ClientsNeedACertificateWhereThatIsAskedFor) {
  RunningProgram program(Arguments({"--tls-ca", Path("clients.crt"), "--tls-only",
                                    "--tls-require-client-certificate", "--address", "0.0.0.0"}));
  const Ports ports = PortsOf(program.ReadLine());
  TlsPeerOptions options = Trusting();
  options.own = clients_.Sign("client");
  RawTlsClient client(ports.cql, options);
  EXPECT_TRUE(client.StartUp()) << client.peer().error();
  EXPECT_EQ(NameAt(ports.cql), "tlsv13 alert certificate required");
  program.Signal(SIGTERM);
  const std::string err = program.Wait().err;
  EXPECT_EQ(err.find("open to everybody"), std::string::npos) << err;
}

TEST_F(ServeTls, ReadsItsFilesAgainOnSighup) {
  RunningProgram program(Arguments());
  const Ports ports = PortsOf(program.ReadLine());
  RawTlsClient before(ports.tls, Trusting());
  ASSERT_TRUE(before.StartUp()) << before.peer().error();
  Write(authority_.Sign("another", {"DNS:localhost"}));
  program.Signal(SIGHUP);
  while (NameAt(ports.tls) != "another") std::this_thread::yield();
  EXPECT_TRUE(before.Query("SELECT * FROM system.local")) << "its connection lives on";

  files_.Write("node.key", authority_.SignLocalhost().key);
  program.Signal(SIGHUP);
  EXPECT_EQ(NameAt(ports.tls), "another");
  program.Signal(SIGTERM);  // which comes after SIGHUP
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("SIGHUP: new connections have what the files of TLS hold now\n"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("SIGHUP: the files of TLS are not taken, and those before stay: TLS "
                            "key " +
                            Path("node.key") + ": is not the key of the certificate " +
                            Path("node.crt") + "\n"),
            std::string::npos)
      << result.err;
}

TEST_F(ServeTls, TakesOtherFilesFromTheConfigurationOnSighup) {
  const auto configure = [&](const std::string& certificate, const std::string& key,
                             const std::string& more = "") {
    return files_.Write("c.toml", "cql-port = 0\ntls-certificate = \"" + Path(certificate) +
                                      "\"\ntls-key = \"" + Path(key) + "\"\n" + more);
  };
  RunningProgram program({"serve", "--config", configure("node.crt", "node.key")});
  const Ports ports = PortsOf(program.ReadLine());
  EXPECT_EQ(NameAt(ports.tls), "localhost");
  const TestCertificate other = authority_.Sign("another", {"DNS:localhost"});
  files_.Write("other.crt", other.certificate);
  files_.Write("other.key", other.key);
  configure("other.crt", "other.key", "rack = \"r2\"\n");
  program.Signal(SIGHUP);
  while (NameAt(ports.tls) != "another") std::this_thread::yield();
  // A file that is wrong changes nothing, and the files of TLS are read again all the same.
  configure("node.crt", "node.key", "rack = r2\n");
  program.Signal(SIGHUP);
  while (program.Errors().find("SIGHUP: the configuration is not taken, and what was stays: " +
                               Path("c.toml") + ":4: ") == std::string::npos) {
    std::this_thread::yield();
  }
  EXPECT_EQ(NameAt(ports.tls), "another");
  program.Signal(SIGTERM);
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_NE(result.err.find("SIGHUP: these have changed, and take a restart: rack (" +
                            Path("c.toml") + ":4)\n"),
            std::string::npos)
      << result.err;
}

TEST_F(ServeTls, WhatDoesNotGoTogetherIsRefused) {
  EXPECT_EQ(WhyNot({"serve", "--cql-port", "0", "--tls-key", Path("node.key")}),
            "liststore: --tls-key is given, but no --tls-certificate");
  EXPECT_EQ(WhyNot({"serve", "--cql-port", "0", "--tls-only"}),
            "liststore: --tls-only is given, but no --tls-certificate");
  EXPECT_EQ(WhyNot(Arguments({"--tls-only", "--tls-port", "0"})),
            "liststore: --tls-port: with --tls-only, --cql-port and --shard-aware-port are the "
            "ports of TLS");
  EXPECT_EQ(WhyNot(Arguments({"--tls-require-client-certificate"})),
            "liststore: --tls-require-client-certificate: --tls-ca has to name the CAs that sign "
            "them");
  EXPECT_EQ(WhyNot(Arguments({"--tls-ca", "/nowhere/ca.crt"})),
            "liststore: TLS CA /nowhere/ca.crt: No such file or directory");
  const ProgramResult version = RunProgram(Arguments({"--tls-min-version", "1.1"}));
  EXPECT_EQ(version.exit_status, 2);
}

// As ScyllaDB's packages have it: both plain ports are in the file, and take TLS once that is on.
TEST_F(ServeTls, AScyllaYamlMayTurnItOn) {
  const std::string encryption =
      "client_encryption_options:\n    enabled: true\n    certificate: " + Path("node.crt") +
      "\n    keyfile: " + Path("node.key") + "\n";
  const std::string alone = files_.Write(
      "alone.yaml", "native_transport_port: 9042\nnative_shard_aware_transport_port: 19042\n" +
                        encryption + "    priority_string: SECURE128\n");
  {
    RunningProgram program({"serve", "--cql-port", "0", "--scylla-config", alone});
    const Ports ports = PortsOf(program.ReadLine());
    EXPECT_EQ(ports.tls, ports.cql);
    EXPECT_EQ(ports.tls_shard_aware, ports.shard_aware);
    EXPECT_EQ(NameAt(ports.cql), "localhost");
    program.Signal(SIGTERM);
    const std::string err = program.Wait().err;
    EXPECT_NE(err.find("options of ScyllaDB without effect: "
                       "client_encryption_options.priority_string\n"),
              std::string::npos)
        << err;
  }
  const std::string beside = files_.Write(
      "beside.yaml",
      "native_transport_port: 9042\nnative_transport_port_ssl: 9142\n"
      "native_shard_aware_transport_port: 19042\nnative_shard_aware_transport_port_ssl: 19142\n" +
          encryption + "    truststore: " + Path("clients.crt") +
          "\n    require_client_auth: true\n");
  {
    RunningProgram program({"serve", "--cql-port", "0", "--scylla-config", beside});
    const Ports ports = PortsOf(program.ReadLine());
    EXPECT_NE(ports.tls, ports.cql);
    EXPECT_NE(ports.tls_shard_aware, ports.shard_aware);
    EXPECT_TRUE(RawCqlClient(ports.cql).StartUp());
    EXPECT_EQ(NameAt(ports.tls), "tlsv13 alert certificate required");
    TlsPeerOptions options = Trusting();
    options.own = clients_.Sign("client");
    RawTlsClient client(ports.tls_shard_aware, options);
    EXPECT_TRUE(client.StartUp()) << client.peer().error();
  }
}

TEST_F(ServeTls, TheScyllaYamlsPortsAreScyllas) {
  const std::string encryption =
      "client_encryption_options: {enabled: true, certificate: a.crt, "
      "keyfile: a.key}\n";
  const auto line = [&](const std::string& yaml, const std::string& flag,
                        const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"serve", "--print-config", "--scylla-config",
                                          files_.Write("scylla.yaml", encryption + yaml)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const std::string out = RunProgram(arguments).out;
    // What is set is a line, what the scylla.yaml says a comment.
    size_t at = out.find("\n" + flag + " = ");
    if (at == std::string::npos) at = out.find("\n# " + flag + " = ");
    if (at == std::string::npos) return "none in " + out;
    std::string text = out.substr(at + 1, out.find('\n', at + 1) - at - 1);
    for (size_t two = text.find("  "); two != std::string::npos; two = text.find("  ")) {
      text.erase(two, 1);
    }
    const size_t place = text.find(", " + Path("scylla.yaml"));
    return text.substr(0, place);
  };
  EXPECT_EQ(line("", "tls-certificate"),
            "# tls-certificate = \"a.crt\" # client_encryption_options");
  EXPECT_EQ(line("", "tls-key"), "# tls-key = \"a.key\" # client_encryption_options");
  EXPECT_EQ(line("", "tls-certificate", {"--tls-certificate", "b.crt"}),
            "tls-certificate = \"b.crt\" # flag");
  const std::string both = "native_transport_port: 7000\nnative_transport_port_ssl: 7001\n";
  EXPECT_EQ(line(both, "cql-port"), "# cql-port = 7000 # native_transport_port");
  EXPECT_EQ(line(both, "tls-port"), "# tls-port = 7001 # native_transport_port_ssl");
  EXPECT_EQ(line(both, "tls-port", {"--cql-port", "0"}),
            "# tls-port = 0 # native_transport_port_ssl");
  EXPECT_EQ(line(both, "tls-port", {"--tls-port", "7002"}), "tls-port = 7002 # flag");
  // The port of TLS alone: there is no plain one.
  EXPECT_EQ(line("native_transport_port_ssl: 7001\n", "cql-port"),
            "# cql-port = 7001 # native_transport_port_ssl");
}

// Every command that connects to a server, with its flags of TLS.
TEST_F(ServeTls, TheToolsConnectOverIt) {
  files_.Write("ca.crt", authority_.certificate());
  const TestCertificate own = clients_.Sign("tools");
  files_.Write("tools.pem", own.certificate + own.key);
  const std::vector<std::string> asking = {"--tls-only", "--tls-ca", Path("clients.crt"),
                                           "--tls-require-client-certificate"};
  std::vector<std::string> manual = Arguments(asking);
  manual.insert(manual.end(), {"--clock", "manual:0"});
  RunningProgram server(manual), other(Arguments(asking));
  const auto address = [](RunningProgram& program) {
    return "localhost:" + std::to_string(PortsOf(program.ReadLine()).cql);
  };
  const std::string here = address(server), there = address(other);
  const auto run = [&](std::vector<std::string> arguments, const std::string& prefix) {
    arguments.insert(arguments.end(), {"--" + prefix + "tls-ca", Path("ca.crt"),
                                       "--" + prefix + "tls-certificate", Path("tools.pem")});
    return arguments;
  };
  const std::string log = std::string(LISTSTORE_DATA_DIR) + "/touched_files.oplog.jsonl.gz";
  const std::string expected = std::string(LISTSTORE_DATA_DIR) + "/touched_files.expected.jsonl.gz";
  ProgramResult result =
      RunProgram(run({"replay", log, "--expected", expected, "--via", here}, ""));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  result = RunProgram(run({"report", "--via", there}, ""));
  EXPECT_EQ(result.exit_status, 0) << result.err;
  result = RunProgram({"report", "--via", there, "--tls-ca", Path("ca.crt")});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find(there + ": TLS: tlsv13 alert certificate required"), std::string::npos)
      << result.err;
  result = RunProgram({"report", "--via", there, "--tls"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find(there + ": the server's certificate is not believed: "),
            std::string::npos)
      << result.err;
  result = RunProgram({"report", "--via", there});
  EXPECT_EQ(result.exit_status, 2) << "without TLS";
  result = RunProgram(run(
      run({"export", "--via", here, "--to", there, "--keyspace", "feature_store", "--schema-only"},
          "via-"),
      ""));
  EXPECT_EQ(result.exit_status, 0) << result.err;
}

}  // namespace serve_tls_test
}  // namespace liststore::testing
