// TestServer: a liststore in a test's own process, which drivers take for a ScyllaDB, with a clock
// that the test moves.
//
//   auto server = liststore::TestServer::Start({});
//   if (!server.ok()) return server.status();
//   ConnectDriver((*server)->host(), (*server)->port());
//   (*server)->clock().Advance(std::chrono::hours(24));
//
// gtest.h beside this file has a fixture for GoogleTest. What a test is to fail with goes to
// TestServerOptions::fail.
#ifndef LISTSTORE_TESTING_TEST_SERVER_H_
#define LISTSTORE_TESTING_TEST_SERVER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "liststore/cql_server.h"
#include "liststore/server_clock.h"

namespace liststore {

// An instant of a server's clock.
using TestTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

struct TestServerOptions {
  // Without clock, store and TLS, and with its instruments. What is not said: free ports, HTTP, and the journal of the last 10,000
  // requests.
  CqlServerOptions server;
  // Where the clock stands, 1970 or later; nullopt: at the present. A reset goes back to it.
  std::optional<TestTime> clock;
  // Faults may fire less often than their times say.
  bool faults_are_optional = false;
  // Told what the test fails with: a fault that has not fired, a table that is not there, a clock
  // that was to go back. Empty: says it on standard error and ends the process.
  std::function<void(const std::string& message)> fail;
};

// Something that is to go wrong: the columns of the table liststore.faults. It meets requests that
// match all that is given. Words may be in any case.
// Members have initializers so that no compiler asks for those that are not given.
struct TestFault {
  std::string name{};  // empty: one is chosen
  std::string op{};    // "SELECT", "INSERT", "BATCH"; empty: all but PREPARE
  // "keyspace.table", a view or "keyspace.index_index", which has to be there, but with op "CREATE".
  std::string table{};
  std::string statement{};    // a part of its text
  std::string consistency{};  // "LOCAL_QUORUM"
  std::string key{};          // the partition key, its columns joined by ':'
  std::string connection{};   // the client's "address:port", or its driver's name
  // How often it fires; a test in which it has fired less often fails. 0: until it is removed.
  int times = 0;
  // That it fires, with `seed`; 0: always. With one, chance decides how often, and no test fails by
  // `times`.
  double probability = 0;
  int64_t seed = 0;
  // "read_timeout", "write_timeout", "unavailable", "overloaded", "server_error", "unprepared",
  // "rate_limit", "close_connection", "no_answer", "delay 200ms" or "delay 5ms..20ms".
  std::string action{};
  bool applies = false;   // the statement runs all the same, only its answer is lost
  bool optional = false;  // it may fire less often than `times`
};

// A request that a client has sent: a row of liststore.requests. What it does not have is empty or
// 0.
struct TestRequest {
  int64_t seq = 0;
  std::string at{};  // by the server's clock, as "2026-01-01 00:00:00.000Z"
  std::string client{};
  std::string driver{};
  std::string op{};
  std::string table{};  // "keyspace.table"; empty: none, or a batch has several
  std::string key{};    // the partition key, its columns joined by ':'
  std::string statement{};
  bool prepared = false;
  std::vector<std::string> values{};  // what was bound, as literals
  std::string consistency{};
  std::string serial_consistency{};
  int64_t page_size = 0;               // 0: all rows at once
  std::optional<int64_t> timestamp{};  // the client's, in microseconds
  std::string outcome{};               // "ok", or an error's name
  std::string error{};
  int64_t duration_us = 0;
};

// A habit that hurts at scale: a row of liststore.lint.
struct LintFinding {
  std::string rule{};     // "allow_filtering", "unprepared"
  std::string subject{};  // a statement, or "keyspace.table"
  int64_t count = 0;
  std::string detail{};
};

class TestServer;

// A fault that a server has. For as long as the server.
class ArmedFault {
 public:
  const std::string& name() const { return name_; }
  // How often it has happened.
  int64_t fired() const;
  // Disarms it. That it was to fire more often is said all the same. Again: nothing.
  void Remove();

 private:
  friend class TestServer;
  ArmedFault(TestServer* server, TestFault fault, std::string name)
      : server_(server), fault_(std::move(fault)), name_(std::move(name)) {}

  TestServer* const server_;
  const TestFault fault_;
  const std::string name_;
  std::optional<int64_t> fired_at_end_;
};

// For one thread at a time; drivers' threads connect as they like.
class TestServer {
 public:
  // A row by the names of its columns; values as SELECT JSON writes them, texts without quotes,
  // "null" for null.
  using Row = std::map<std::string, std::string, std::less<>>;

  // The clock by which TTLs end and writes are stamped. It stands until it is moved.
  class Clock {
   public:
    TestTime Now() const;
    // Not backwards: that fails the test, and moves nothing.
    void Advance(std::chrono::nanoseconds by);
    void Set(TestTime to);

   private:
    friend class TestServer;
    explicit Clock(TestServer* server) : server_(server) {}
    TestServer* const server_;
  };

  // It listens, and is empty. Errors are those of CqlServer::Start.
  static absl::StatusOr<std::unique_ptr<TestServer>> Start(TestServerOptions options);
  // Stop.
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  // Where drivers connect.
  const std::string& host() const { return host_; }
  uint16_t port() const;
  // 0: there is none.
  uint16_t shard_aware_port() const;
  uint16_t http_port() const;
  // The server itself.
  CqlServer& server() { return *server_; }

  Clock& clock() { return clock_; }
  // What is stored now, and the present time, is what Reset goes back to.
  void Mark();
  // Back to the mark, or to an empty server: schema, rows and clock; faults and recorded requests
  // go. A fault that has not fired as often as it was to fails the test.
  void Reset();
  // Runs a statement of CQL, without a driver: all its rows, 1000 to a request. Those are recorded, and met by faults, as
  // any requests are.
  std::vector<Row> Execute(std::string_view statement);
  // The same with no more rows than `limit`, and without the pages behind them. 0 fails the test.
  std::vector<Row> ExecuteUpTo(size_t limit, std::string_view statement);
  // Never null: one that could not be armed has failed the test, and never fires. Valid until the
  // next Reset or CheckFaults.
  ArmedFault* Fault(TestFault fault);
  void RemoveFault(std::string_view name);
  // What clients have sent, oldest first: of an operation, "SELECT", and of a table,
  // "keyspace.table"; empty: of all. A table that is not there fails the test.
  std::vector<TestRequest> Requests(std::string_view op = "", std::string_view table = "");
  void ClearRequests();
  // What in the recorded requests a reviewer would ask about.
  std::vector<LintFinding> Lint();
  // Fails the test with each finding but those of the rules that are named.
  void AssertNoLint(const std::vector<std::string>& except = {});
  // Fails the test where a statement was refused, since the start or the last Reset, because
  // liststore does not support what it asks for.
  void AssertSupported();
  // At a test's end: fails it for each fault that has not fired as often as it was to, and forgets
  // all.
  void CheckFaults();
  // Ends it, and fails as CheckFaults does. Again: nothing.
  void Stop();

 private:
  friend class ArmedFault;
  class Api;

  explicit TestServer(TestServerOptions options);
  void Fail(const std::string& message) const;
  // What there is to say of faults that have not fired, which it forgets.
  std::vector<std::string> TakeUnfired();
  int64_t FiredNow(const std::string& name) const;

  const TestServerOptions options_;
  ServerClock server_clock_;
  Clock clock_{this};
  std::unique_ptr<CqlServer> server_;
  std::string host_;
  std::unique_ptr<Api> api_;
  std::vector<std::unique_ptr<ArmedFault>> faults_;
  // What was refused before the test, by code.
  std::map<std::string, int64_t> refused_before_;
  bool is_stopped_ = false;
};

}  // namespace liststore

#endif  // LISTSTORE_TESTING_TEST_SERVER_H_
