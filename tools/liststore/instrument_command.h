// What the commands that are statements on `liststore.*` have in common on the command line.
#ifndef LISTSTORE_TOOLS_LISTSTORE_INSTRUMENT_COMMAND_H_
#define LISTSTORE_TOOLS_LISTSTORE_INSTRUMENT_COMMAND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "programs/console/command_line.h"
#include "tools/instruments/instruments.h"

namespace liststore {

// One of them: how its answers are printed, how its server is found, and what its help says about both.
class InstrumentCommand {
 public:
  // What it sends. A status is why nothing is sent, which is said then.
  using Statements = std::function<absl::StatusOr<std::vector<std::string>>()>;

  // `help` stands below the options, before what they have in common.
  InstrumentCommand(const Subcommand& program, const std::string& name, const std::string& text,
                    const std::string& help);

  // For options of its own.
  const Subcommand& command() const { return command_; }

  // What it does when it is given: sends the statements in turn, and prints the answers that have rows; or
  // something else, which returns the exit status.
  void Sends(const Statements& statements) const;
  void Runs(const std::function<int(const InstrumentOptions&)>& run) const;
  // A subcommand that sends them, behind which these options may stand as well.
  Subcommand Add(const std::string& name, const std::string& text,
                 const Statements& statements) const;

 private:
  std::function<int()> Sending(const Statements& statements) const;

  const std::string name_;
  const Subcommand command_;
  const std::shared_ptr<InstrumentOptions> options_ = std::make_shared<InstrumentOptions>();
};

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_LISTSTORE_INSTRUMENT_COMMAND_H_
