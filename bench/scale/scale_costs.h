// The costs that the simulation starts from: measured ones by default, single ones by name.
#ifndef LISTSTORE_BENCH_SCALE_SCALE_COSTS_H_
#define LISTSTORE_BENCH_SCALE_SCALE_COSTS_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "bench/scale/scale_setup.h"

namespace liststore {

// Who asks.
struct ScaleForm {
  const char* name;  // "wire"
  const char* text;  // in a line of help
  ScaleCosts costs;
};
// docs/scale.md says how each figure was measured.
std::span<const ScaleForm> ScaleForms();
// Null: no cost has that name.
const ScaleForm* FindScaleForm(std::string_view name);

// Sets one: "transfer=120". InvalidArgument names what is wrong, and what there is.
absl::Status SetCost(std::string_view assignment, ScaleCosts* costs);
// A line for each: name, value, what it is.
std::string DescribeCosts(const ScaleCosts& costs);

}  // namespace liststore

#endif  // LISTSTORE_BENCH_SCALE_SCALE_COSTS_H_
