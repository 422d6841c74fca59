#include "tools/liststore/instrument_command.h"

#include "programs/console/failure.h"
#include "tools/liststore/connection_arguments.h"
#include "tools/query/result_printer.h"

namespace liststore {

InstrumentCommand::InstrumentCommand(const Subcommand& program, const std::string& name,
                                     const std::string& text, const std::string& help)
    : name_(name), command_(program.Add(name, text)) {
  command_.Footer(help + kConnectionHelp);
  command_.Option("--format", &options_->format, "How rows are printed")
      .OneOf(kResultFormats)
      .ShowDefault();
  AddConnectionArguments(command_, &options_->server);
}

std::function<int()> InstrumentCommand::Sending(const Statements& statements) const {
  return [name = name_, options = options_, statements] {
    const absl::StatusOr<std::vector<std::string>> sent = statements();
    if (!sent.ok()) return ReportFailure(name, sent.status());
    return RunInstrument(name, *options, *sent);
  };
}

void InstrumentCommand::Sends(const Statements& statements) const {
  command_.Runs(Sending(statements));
}

void InstrumentCommand::Runs(const std::function<int(const InstrumentOptions&)>& run) const {
  command_.Runs([options = options_, run] { return run(*options); });
}

Subcommand InstrumentCommand::Add(const std::string& name, const std::string& text,
                                  const Statements& statements) const {
  const Subcommand subcommand = command_.Add(name, text);
  subcommand.TakesOptionsOfParent();
  subcommand.Runs(Sending(statements));
  return subcommand;
}

}  // namespace liststore
