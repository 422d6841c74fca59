#include "bench/measure/report_head.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "programs/console/terminal.h"
#include "programs/console/text.h"

namespace liststore {

void PrintReportHead(std::string_view bench, const MachineFacts& machine, std::FILE* out) {
  absl::FPrintF(
      out, "%s\n",
      Style(out).Bold(absl::StrCat("liststore ", machine.version, ", ", std::string(bench))));
  PrintReportLine("date", absl::StrCat(machine.date, " UTC"), out);
  PrintReportLine("machine",
                  absl::StrFormat("%s, %d cores, %s; %s", machine.cpu, machine.cores,
                                  Bytes(machine.memory_bytes), machine.kernel),
                  out);
}

void PrintReportLine(std::string_view name, const std::string& text, std::FILE* out) {
  absl::FPrintF(out, "  %s %s\n", Style(out).Bold(Padded(std::string(name), 9)), text);
}

void AddMachine(const MachineFacts& machine, JsonLine* json) {
  json->Text("version", machine.version);
  json->Text("date", machine.date);
  json->Text("cpu", machine.cpu);
  json->Count("cores", machine.cores);
  json->Count("memory_bytes", machine.memory_bytes);
  json->Text("huge_pages", machine.huge_pages);
  json->Text("kernel", machine.kernel);
  json->Text("compiler", machine.compiler);
}

}  // namespace liststore
