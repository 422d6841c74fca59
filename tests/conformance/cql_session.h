// CqlSession: statements over one connection, as a driver sends them, and what they are answered.
#ifndef LISTSTORE_TESTS_CONFORMANCE_CQL_SESSION_H_
#define LISTSTORE_TESTS_CONFORMANCE_CQL_SESSION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/raw_cql_client.h"

namespace liststore::testing {

struct BoundParameter {
  std::optional<std::string> bytes;  // absent: null
  bool unset = false;
  std::string name = {};  // of its marker; all of a statement have one, or none
};

struct CqlStatement {
  std::string text;
  std::vector<BoundParameter> parameters;
  bool prepared = false;  // PREPARE and EXECUTE instead of QUERY
};

struct CqlParameters {
  std::optional<int32_t> page_size;
  std::string paging_state;
  std::optional<int64_t> default_timestamp;
};

struct CqlLogin {
  std::string user;
  std::string password;
};

using ResultRow = std::vector<std::optional<std::string>>;

struct CqlAnswer {
  std::string error;  // empty: there was none
  int32_t code = 0;   // of the error
  std::vector<ResultRow> rows;
  std::string paging_state;  // empty: no more pages
  std::vector<std::string> warnings = {};
};

// Statements stay prepared while the schema changes, as a driver keeps them.
class CqlSession {
 public:
  explicit CqlSession(uint16_t port, const std::string& address = "127.0.0.1");
  // Statements, and starting, may take this long. What takes longer ends the connection, and
  // is_late().
  CqlSession(uint16_t port, const std::string& address, int seconds_max);
  bool is_late() const { return client_.is_late(); }
  // Logs in. What is refused says so in login_error(), and answers nothing.
  CqlSession(uint16_t port, const CqlLogin& login);
  const std::string& login_error() const { return login_error_; }

  CqlAnswer Run(const CqlStatement& statement, const CqlParameters& parameters = {});
  // A BATCH message.
  CqlAnswer RunBatch(bool logged, const std::vector<CqlStatement>& statements,
                     std::optional<int64_t> default_timestamp);
  CqlAnswer RunCounterBatch(const std::vector<CqlStatement>& statements);

 private:
  enum class BatchKind : uint8_t {
    kLogged = 0,
    kUnlogged = 1,
    kCounter = 2
  };
  CqlAnswer RunBatchOf(BatchKind kind, const std::vector<CqlStatement>& statements,
                       std::optional<int64_t> default_timestamp);
  CqlAnswer Ask(uint8_t opcode, std::string body);
  // The id, which may be older than the schema; an error in `answer`.
  std::string Prepare(const std::string& text, CqlAnswer& answer);
  // Its id, or its text. False: the error of the PREPARE is in `answer`.
  bool AppendStatement(const CqlStatement& statement, std::string& body, CqlAnswer& answer);
  // Of statements that are prepared; again if the server knows one of them no longer.
  CqlAnswer AskPrepared(const std::function<CqlAnswer()>& ask);

  RawCqlClient client_;
  std::string login_error_;
  std::map<std::string, std::string> prepared_;  // text -> id
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_CQL_SESSION_H_
