// Two servers between which the tests of `liststore export` and `import` copy.
#ifndef LISTSTORE_TESTS_TOOLS_COPY_COPY_SERVER_H_
#define LISTSTORE_TESTS_TOOLS_COPY_COPY_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "programs/client/cql_client.h"
#include "tests/tools/program.h"

namespace liststore::testing {

inline constexpr char kClock[] = "manual:1700000000";

// A server, and a connection to it. What fails is a failure of the test.
class CopyServer {
 public:
  explicit CopyServer(const std::vector<std::string>& options = {"--clock", kClock},
                      const CqlCredentials& credentials = {});
  const std::string& address() const { return address_; }
  CqlClient& client() { return *client_; }

  CqlRows Run(const std::string& statement);
  // Rows as text in any order: the bytes of their values.
  std::vector<std::string> Answer(const std::string& statement);
  int64_t Number(const std::string& statement);
  void Advance(int seconds);

 private:
  RunningProgram program_;
  std::string address_;
  std::unique_ptr<CqlClient> client_;
};

ProgramResult Export(const CopyServer& from, const CopyServer& to,
                     std::vector<std::string> more = {});
bool Has(const std::string& text, std::string_view part);
// feat.
void MakeKeyspace(CopyServer& server);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_TOOLS_COPY_COPY_SERVER_H_
