#include "tests/opinion/opinion_file.h"

#include <cstdlib>
#include <fstream>
#include <string_view>

#include "tests/opinion/wire_type.h"

namespace liststore::testing {
namespace {

using Kind = OpinionStep::Kind;

constexpr std::string_view kDetails[] = {"warning ", "columns ", "types "};

bool TakePrefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  return true;
}

class Reader {
 public:
  explicit Reader(OpinionFile& file) : file_(file) {}

  void Read() {
    std::ifstream stream(file_.path);
    if (!stream) file_.errors.push_back(file_.path + ": cannot be read");
    std::string whole;
    int begin = 0;
    for (std::string line; std::getline(stream, line);) {
      ++line_;
      // What begins with spaces belongs to the line before.
      if (line.starts_with("  ") && !whole.empty()) {
        whole += line.substr(1);
        continue;
      }
      ReadLine(whole, begin);
      whole = line;
      begin = line_;
    }
    ReadLine(whole, begin);
    EndCheck();
  }

 private:
  void ReadLine(std::string_view line, int number) {
    if (line.empty() || line.starts_with("#")) return;
    number_ = number;
    if (TakePrefix(line, "= ")) {
      EndCheck();
      file_.sections.push_back({std::string(line), {}});
      source_.clear();
    } else if (file_.sections.empty()) {
      Complain("stands before the first section");
    } else if (TakePrefix(line, "@ ")) {
      source_ = line;
    } else if (TakePrefix(line, "+ ")) {
      Begin(Kind::kSetUp).statements.push_back({std::string(line), {}});
    } else if (TakePrefix(line, "> ")) {
      BeginWithOptions(Kind::kRun, line);
    } else if (TakePrefix(line, "prepare> ")) {
      BeginWithOptions(Kind::kPrepare, line);
    } else if (TakePrefix(line, "batch>")) {
      BeginWithOptions(Kind::kBatch, line);
      file_.sections.back().steps.back().statements.clear();
    } else if (TakePrefix(line, "clock +")) {
      Begin(Kind::kClock).seconds = std::atoi(std::string(line).c_str());
    } else {
      ReadPartOfStep(line);
    }
  }

  void ReadPartOfStep(std::string_view line) {
    if (file_.sections.back().steps.empty()) return Complain("belongs to no statement");
    OpinionStep& step = file_.sections.back().steps.back();
    if (TakePrefix(line, "- ") && step.kind == Kind::kBatch) {
      step.statements.push_back({std::string(line), {}});
    } else if (TakePrefix(line, "with ") && !step.statements.empty()) {
      step.statements.back().values = SplitLiterals(line);
    } else if (TakePrefix(line, "! ")) {
      step.differs = line;
    } else if (TakePrefix(line, "<~ ")) {
      step.any_order = true;
      AddAnswer(step, line);
    } else if (TakePrefix(line, "< ")) {
      for (const std::string_view detail : kDetails) {
        if (line.starts_with(detail)) return step.details.emplace_back(line), void();
      }
      if (line == "more") return step.details.emplace_back(line), void();
      AddAnswer(step, line);
    } else {
      Complain("is no line of an opinion");
    }
  }

  static void AddAnswer(OpinionStep& step, std::string_view line) {
    if (!step.answer.empty()) step.answer += "; ";
    step.answer += line;
  }

  OpinionStep& Begin(Kind kind) {
    EndCheck();
    OpinionStep step;
    step.kind = kind;
    step.line = number_;
    step.source = source_;
    return file_.sections.back().steps.emplace_back(std::move(step));
  }

  // "[page_size=2, text] SELECT ..."
  void BeginWithOptions(Kind kind, std::string_view line) {
    OpinionStep& step = Begin(kind);
    while (TakePrefix(line, " ")) {
    }
    const size_t end = line.find(']');
    if (line.starts_with("[") && end != std::string_view::npos) {
      for (const std::string& option : SplitLiterals(line.substr(1, end - 1))) {
        const size_t equals = option.find('=');
        step.options[option.substr(0, equals)] =
            equals == std::string::npos ? "" : option.substr(equals + 1);
      }
      line.remove_prefix(end + 1);
      TakePrefix(line, " ");
    }
    step.statements.push_back({std::string(line), {}});
  }

  // A check says what is expected, and where that was read.
  void EndCheck() {
    if (file_.sections.empty() || file_.sections.back().steps.empty()) return;
    const OpinionStep& step = file_.sections.back().steps.back();
    if (!step.is_check()) return;
    if (step.answer.empty()) ComplainAt(step.line, "expects nothing");
    if (step.source.empty()) ComplainAt(step.line, "names no source");
  }

  void Complain(const std::string& what) { ComplainAt(number_, what); }
  void ComplainAt(int line, const std::string& what) {
    file_.errors.push_back(file_.path + ":" + std::to_string(line) + ": " + what);
  }

  OpinionFile& file_;
  std::string source_;
  int line_ = 0;
  int number_ = 0;  // of the line that is read, or where it began
};

}  // namespace

OpinionFile ReadOpinionFile(const std::string& path) {
  OpinionFile file;
  file.path = path;
  Reader(file).Read();
  return file;
}

}  // namespace liststore::testing
