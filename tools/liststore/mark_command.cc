#include "tools/liststore/mark_command.h"

#include <memory>
#include <string>
#include <vector>

#include "tools/instruments/statements.h"
#include "tools/liststore/instrument_command.h"

namespace liststore {
namespace {

constexpr char kMarkHelp[] =
    R"(What 'liststore reset' goes back to: the present schema, rows, clock and roles, in place of an earlier
mark. Shows what there is.

  UPDATE liststore.data SET action = 'mark' WHERE key = 'data'
  UPDATE liststore.data SET action = 'forget' WHERE key = 'data'     with --forget

Examples:
  liststore mark
)";

}  // namespace

void AddMarkCommand(const Subcommand& program) {
  const InstrumentCommand mark(program, "mark", "Mark what a reset goes back to", kMarkHelp);
  const auto forget = std::make_shared<bool>(false);
  mark.command().Flag("--forget", forget.get(), "Take the mark away; what is stored stays");
  mark.Sends([forget] {
    return std::vector<std::string>{DoWithData(*forget ? "forget" : "mark"), kShowBaseline};
  });
}

}  // namespace liststore
