// OpinionSession: runs the statements of an opinion over one connection and says the answers in the
// words of the README.
#ifndef LISTSTORE_TESTS_OPINION_OPINION_SESSION_H_
#define LISTSTORE_TESTS_OPINION_OPINION_SESSION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/opinion/opinion_file.h"
#include "tests/opinion/wire_type.h"
#include "tests/support/raw_cql_client.h"

namespace liststore::testing {

struct OpinionAnswer {
  std::string kind;               // "void", "error 2200 text", "prepared ...", "rows"
  std::vector<std::string> rows;  // when it is "rows"
  std::vector<std::string> warnings;
  std::string columns, types;  // "a, b", "a int, b text"
  std::string paging_state;

  bool is_error() const { return kind.starts_with("error "); }
};

class OpinionSession {
 public:
  explicit OpinionSession(uint16_t port);

  // `prepared`: PREPARE and EXECUTE even without values.
  OpinionAnswer Run(const OpinionStep& step, bool prepared);

 private:
  struct Prepared {
    std::string id;
    std::vector<WireType> types;
  };

  OpinionAnswer Ask(uint8_t opcode, std::string body);
  OpinionAnswer RunBatch(const OpinionStep& step);
  // False: the error is in `answer`.
  bool Prepare(const std::string& text, Prepared& prepared, OpinionAnswer& answer);
  bool AppendValues(const OpinionStatement& statement, const std::vector<WireType>& types,
                    std::string& body, OpinionAnswer& answer);
  // Consistency, flags and what they announce.
  bool AppendParameters(const OpinionStep& step, const std::vector<WireType>& types,
                        std::string& body, OpinionAnswer& answer);

  RawCqlClient client_;
  Prepared last_;             // of a PREPARED
  std::string paging_state_;  // of the answer before
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_OPINION_OPINION_SESSION_H_
