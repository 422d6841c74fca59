#include "tools/replay/answer_checker.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "programs/console/exit_codes.h"
#include "programs/console/text.h"

namespace liststore {
namespace {

constexpr size_t kItemsShown = 3;

std::string Describe(uint64_t items, std::string_view md5) {
  return absl::StrFormat("%d item%s md5 %s", items, items == 1 ? "" : "s", md5);
}

std::string NewestOf(const ReadItems& items) {
  std::string text;
  for (size_t i = 0; i < std::min(items.size(), kItemsShown); ++i) {
    absl::StrAppend(&text, "\n  ", i + 1, ". ", items.item_key(i), "  ",
                    Printable(items.value(i), 60));
  }
  if (items.size() > kItemsShown) {
    absl::StrAppend(&text, "\n  and ", items.size() - kItemsShown, " more");
  }
  return text.empty() ? text : absl::StrCat("\n  returned, newest first:", text);
}

}  // namespace

absl::StatusOr<AnswerChecker> AnswerChecker::Open(const std::string& path, std::string log_path) {
  absl::StatusOr<LineReader> lines = LineReader::Open(path);
  if (!lines.ok()) return lines.status();
  return AnswerChecker(*std::move(lines), std::move(log_path));
}

absl::Status AnswerChecker::CheckRead(const Operation& get, const ReadAnswer& answer,
                                      const ReadItems& items) {
  const std::string where =
      absl::StrFormat("%s:%d: get of %s", log_path_, get.line, ListName(get.list));
  const std::string got = Describe(answer.items, answer.md5);
  std::string_view line;
  LS_ASSIGN_OR_RETURN(const bool found, lines_.Next(&line));
  if (!found) {
    return DifferenceError(absl::StrFormat("%s: expected nothing, for %s ends before it, got %s",
                                           where, lines_.path(), got));
  }
  const auto parsed = json_.ParseAnswer(line);
  if (!parsed.ok()) return lines_.Error(ToStd(parsed.status().message()));
  const std::string expected_at = absl::StrFormat("%s:%d", lines_.path(), lines_.line_number());
  const ReadAnswer* const expected = std::get_if<ReadAnswer>(&*parsed);
  if (expected == nullptr) {
    return DifferenceError(absl::StrFormat(
        "%s: expected no more reads, for %s is the summary, got %s", where, expected_at, got));
  }
  if (expected->line != get.line) {
    return DifferenceError(absl::StrFormat("%s: %s expects the next read at line %d, got %s", where,
                                           expected_at, expected->line, got));
  }
  if (expected->items != answer.items || expected->md5 != answer.md5) {
    return DifferenceError(absl::StrCat(where, ": expected ",
                                        Describe(expected->items, expected->md5), ", got ", got,
                                        NewestOf(items), "\n  expected by ", expected_at));
  }
  ++reads_checked_;
  return absl::OkStatus();
}

absl::Status AnswerChecker::CheckTotals(const ReplayTotals& totals) {
  std::string_view line;
  LS_ASSIGN_OR_RETURN(const bool found, lines_.Next(&line));
  if (!found) {
    return DifferenceError(absl::StrFormat("%s: ends without a summary after %d reads",
                                           lines_.path(), reads_checked_));
  }
  const auto parsed = json_.ParseAnswer(line);
  if (!parsed.ok()) return lines_.Error(ToStd(parsed.status().message()));
  const std::string where = absl::StrFormat("%s:%d", lines_.path(), lines_.line_number());
  if (const ReadAnswer* const surplus = std::get_if<ReadAnswer>(&*parsed)) {
    return DifferenceError(
        absl::StrFormat("%s: expects a read at line %d, but %s has no more of them", where,
                        surplus->line, log_path_));
  }
  const ReplayTotals& expected = std::get<ReplayTotals>(*parsed);
  const struct {
    std::string_view name;
    uint64_t ReplayTotals::*field;
  } fields[] = {{"reads", &ReplayTotals::reads},
                {"returned", &ReplayTotals::returned},
                {"stored", &ReplayTotals::stored},
                {"skipped_expired", &ReplayTotals::skipped_expired},
                {"removed_live", &ReplayTotals::removed_live},
                {"live_at_end", &ReplayTotals::live_at_end}};
  for (const auto& [name, field] : fields) {
    if (expected.*field != totals.*field) {
      return DifferenceError(absl::StrFormat("%s: summary: %s: expected %d, got %d", where, name,
                                             expected.*field, totals.*field));
    }
  }
  if (expected.md5 != totals.md5) {
    return DifferenceError(
        absl::StrFormat("%s: summary: md5: expected %s, got %s", where, expected.md5, totals.md5));
  }
  LS_ASSIGN_OR_RETURN(const bool surplus, lines_.Next(&line));
  if (surplus) {
    return DifferenceError(
        absl::StrFormat("%s:%d: a line behind the summary", lines_.path(), lines_.line_number()));
  }
  return absl::OkStatus();
}

}  // namespace liststore
