// OpinionFile: sections of set-up statements and checks, read from a text; README.md has its form.
#ifndef LISTSTORE_TESTS_OPINION_OPINION_FILE_H_
#define LISTSTORE_TESTS_OPINION_OPINION_FILE_H_

#include <map>
#include <string>
#include <vector>

namespace liststore::testing {

struct OpinionStatement {
  std::string text;
  std::vector<std::string> values;  // literals
};

struct OpinionStep {
  enum class Kind {
    kSetUp,    // must succeed
    kRun,      // as a text, or prepared when it has values
    kPrepare,  // a PREPARE alone
    kBatch,    // a BATCH message
    kClock     // goes on by `seconds`
  };

  Kind kind = Kind::kSetUp;
  int line = 0;
  std::vector<OpinionStatement> statements;  // one, but of a batch any number
  std::map<std::string, std::string> options;
  int seconds = 0;

  // What is asked for. Warnings that are not expected must not come.
  std::string answer;                // "void", "error 2200 text", rows between "; "
  std::vector<std::string> details;  // "warning ...", "columns ...", "types ...", "more"
  bool any_order = false;
  std::string source;   // file and function of ScyllaDB
  std::string differs;  // why the server knowingly answers another thing; empty: it does not

  bool is_check() const { return kind != Kind::kSetUp && kind != Kind::kClock; }
};

struct OpinionSection {
  std::string title;
  std::vector<OpinionStep> steps;
};

struct OpinionFile {
  std::string path;
  std::vector<OpinionSection> sections;
  std::vector<std::string> errors;  // of the form, with their lines
};

OpinionFile ReadOpinionFile(const std::string& path);

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_OPINION_OPINION_FILE_H_
