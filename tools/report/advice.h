// What the findings of a server mean, and what to do about them.
#ifndef LISTSTORE_TOOLS_REPORT_ADVICE_H_
#define LISTSTORE_TOOLS_REPORT_ADVICE_H_

#include <span>
#include <string_view>

namespace liststore {

struct Advice {
  std::string_view name;   // of the rule or the counter
  std::string_view means;  // what it does to clients or to the cluster
  std::string_view remedy;
};

// Of the rules of liststore.lint, by name.
std::span<const Advice> LintAdvice();
// Of what liststore.counters counts that should be 0, by name.
std::span<const Advice> CounterAdvice();

// nullptr: there is none of that name.
const Advice* FindAdvice(std::span<const Advice> all, std::string_view name);

}  // namespace liststore

#endif  // LISTSTORE_TOOLS_REPORT_ADVICE_H_
