// What it costs to remember requests: the same server asked with its journal on and off in turn.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measure/median.h"
#include "bench/shapes/shapes.h"
#include "bench/shapes/wire_shape.h"
#include "bench/wire/wire_sources.h"
#include "engine/base/status_macros.h"
#include "programs/client/cql_client.h"

namespace liststore {
namespace {

constexpr uint64_t kJournalLists = 100'000;
constexpr uint64_t kRecords = 10'000;  // as a server has that is not told otherwise
// Short turns: what else happens on the machine meets both sides alike.
constexpr int kJournalTurns = 20;

struct JournalSide {
  std::vector<double> rates;       // a turn each
  std::vector<double> core_rates;  // by the server's time on its core
};

// The median of the turns' ratios.
double MedianRatio(const std::vector<double>& on, const std::vector<double>& off) {
  std::vector<double> ratios;
  for (size_t i = 0; i < on.size(); ++i) ratios.push_back(on[i] / off[i]);
  return Median(ratios);
}

absl::Status SetJournal(const WireShape& shape, const std::string& assignment) {
  const std::string statement =
      absl::StrCat("UPDATE liststore.journal SET ", assignment, " WHERE key = 'journal'");
  return shape.clients()[0]->Query(statement).status();
}

// `make_source` makes what one turn asks.
template <typename MakeSource>
absl::Status MeasureKind(const WireShape& shape, const char* key, const char* name, double seconds,
                         const MakeSource& make_source, ShapeReport* report) {
  JournalSide sides[2];
  for (int turn = 0; turn < kJournalTurns; ++turn) {
    for (const bool first : {false, true}) {
      const bool on = first == (turn % 2 == 0);
      LS_RETURN_IF_ERROR(SetJournal(shape, absl::StrCat("enabled = ", on ? "true" : "false")));
      auto source = make_source(turn);
      LS_ASSIGN_OR_RETURN(const WireLine line, shape.Measure(source, seconds / kJournalTurns));
      sides[on].rates.push_back(Median(line.rates));
      sides[on].core_rates.push_back(Median(line.core_rates));
    }
  }
  report->Number(absl::StrCat(key, "_without_journal_per_s"), absl::StrCat(name, ", without it"),
                 Median(sides[false].rates), "a second");
  report->Number(absl::StrCat(key, "_with_journal_per_s"), absl::StrCat(name, ", with it"),
                 Median(sides[true].rates), "a second");
  report->Number(absl::StrCat(key, "_journal_ratio"), "with by without, median of turns",
                 MedianRatio(sides[true].rates, sides[false].rates), "");
  report->Number(absl::StrCat(key, "_journal_core_ratio"),
                 "the same by the server's time on its core",
                 MedianRatio(sides[true].core_rates, sides[false].core_rates), "");
  return absl::OkStatus();
}

}  // namespace

absl::Status MeasureJournalCost(const ShapeOptions& options, ShapeReport* report) {
  report->Begin(absl::StrCat("the journal of requests: ", options.connections, " connections, ",
                             WireShape::kInFlight, " requests under way on each"));
  LS_ASSIGN_OR_RETURN(const std::unique_ptr<WireShape> shape,
                      WireShape::Open(options, kJournalLists));
  LS_RETURN_IF_ERROR(SetJournal(*shape, absl::StrCat("capacity = ", kRecords)));
  const size_t slots = options.connections * WireShape::kInFlight;
  LS_RETURN_IF_ERROR(MeasureKind(
      *shape, "select", "SELECT 10", options.seconds,
      [&](int turn) {
        const ListPicker picker(kJournalLists, false, static_cast<uint64_t>(turn) + 1);
        return SelectSource(shape->lists(), shape->select(), slots, picker);
      },
      report));
  return MeasureKind(
      *shape, "insert", "INSERT 1", options.seconds,
      [&](int turn) {
        const ListPicker picker(kJournalLists, false, static_cast<uint64_t>(turn) + 1000);
        return InsertSource(shape->lists(), shape->insert(), picker);
      },
      report);
}

}  // namespace liststore
