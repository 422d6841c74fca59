// Prepared statements of the list model have a short way for values in their usual form. Whatever the
// values are, it answers as the long way does, which the same statement takes as a text. That it is
// taken says execute/item_short_way_test.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/random_values.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace item_statements_test {

constexpr uint64_t kNanos = 1'700'000'000'000'000'000;

std::string Int(int32_t value) {
  std::string bytes(sizeof(value), '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(static_cast<uint32_t>(value) >> (24 - 8 * i));
  }
  return bytes;
}

BoundParameter Value(std::string bytes) { return {.bytes = std::move(bytes)}; }
BoundParameter Null() { return {.bytes = std::nullopt}; }
BoundParameter Unset() { return {.bytes = std::nullopt, .unset = true}; }

class ItemStatements : public CqlDialogueTest {
 protected:
  void SetUp() override {
    StartDialogue();
    for (const std::string name : {"prepared", "text"}) {
      Must("CREATE TABLE " + name +
           " (f text, e text, i text, v blob, PRIMARY KEY ((f, e), i)) "
           "WITH CLUSTERING ORDER BY (i DESC)");
      Must("CREATE INDEX ON " + name + "((f, e), v)");
      Must("CREATE TABLE " + name + "_one (e text PRIMARY KEY, i int)");
      Must("CREATE TABLE " + name +
           "_lasting (e text, i text, v text, PRIMARY KEY (e, i)) WITH default_time_to_live = 60");
    }
  }

  // Of a column of the partition key; mostly one of few in the usual form, of lengths that are copied in
  // several ways.
  static constexpr size_t kLengths[] = {5, 16, 23, 70};
  BoundParameter Text() {
    switch (rng_.Below(24)) {
      case 0:
        return Value("");
      case 1:
        return Value("\xc3\xa9t\xc3\xa9");
      case 2:
        return Value("cut \xc3");
      case 3:
        return Value(std::string(509, 'x'));
      case 4:
        return Value(std::string(600, 'y'));
      case 5:
        return Value(std::string(65'530, 'z'));
      case 6:
        return Value(std::string(65'536, 'z'));
      case 7:
        return Null();
      case 8:
        return Unset();
      default:
        return Value(std::string(kLengths[rng_.Below(std::size(kLengths))], 'a'));
    }
  }
  std::string Key() {
    keys_.push_back(RandomItemKey(rng_, kNanos + rng_.Below(50)));
    return keys_.back();
  }
  BoundParameter ItemKey() {
    switch (rng_.Below(16)) {
      case 0:
        return Value("");
      case 1:
        return Value("other");
      case 2:
        return Value(std::string(44, '='));
      case 3:
        return Value("\xff");
      case 4:
        return Null();
      case 5:
        return Unset();
      default:
        return Value(keys_.empty() || rng_.Below(3) == 0 ? Key() : keys_[rng_.Below(keys_.size())]);
    }
  }
  BoundParameter Bound() {
    switch (rng_.Below(6)) {
      case 0:
        return Value(std::to_string(kNanos + rng_.Below(50)));
      case 1:
        return Value(std::to_string(kNanos + rng_.Below(50)) + '#');
      case 2:
        return Value(std::to_string(kNanos) + '"');
      case 3:
        return Value(Key() + '\0');
      default:
        return ItemKey();
    }
  }
  BoundParameter Number(int32_t usual) {
    switch (rng_.Below(16)) {
      case 0:
        return Value(Int(0));
      case 1:
        return Value(Int(-1));
      case 2:
        return Value(Int(630'720'001));
      case 3:
        return Value("12");
      case 4:
        return Null();
      case 5:
        return Unset();
      case 6:
        return Value("");
      default:
        return Value(Int(1 + static_cast<int32_t>(rng_.Below(static_cast<uint64_t>(usual)))));
    }
  }
  BoundParameter Content() {
    switch (rng_.Below(12)) {
      case 0:
        return Value("");
      case 1:
        return Value(std::string(32'769, 'v'));
      case 2:
        return Value(std::string(65'536, 'v'));
      case 3:
        return Null();
      case 4:
        return Unset();
      default:
        return Value(RandomBytes(rng_, rng_.Below(70)));
    }
  }

  // Of the statement with `TABLE` in it: as prepared for one table, as a text for the other.
  void ExpectSame(const std::string& text, const std::string& table,
                  const std::vector<BoundParameter>& values, const CqlParameters& parameters = {}) {
    const auto run = [&](const std::string& of, bool prepared) {
      std::string statement = text;
      statement.replace(statement.find("TABLE"), 5, of + table);
      CqlAnswer answer = session_->Run({statement, values, prepared}, parameters);
      for (size_t at = 0; (at = answer.error.find(of + table, at)) != std::string::npos;) {
        answer.error.replace(at, of.size() + table.size(), "TABLE");
      }
      return answer;
    };
    const CqlAnswer prepared = run("prepared", true);
    const CqlAnswer as_text = run("text", false);
    EXPECT_EQ(prepared.error, as_text.error) << text;
    EXPECT_EQ(prepared.code, as_text.code) << text;
    EXPECT_EQ(prepared.rows, as_text.rows) << text;
    EXPECT_EQ(prepared.paging_state.empty(), as_text.paging_state.empty()) << text;
    ++(prepared.error.empty() ? answers_ : errors_);
    if (!prepared.rows.empty()) ++with_rows_;
  }
  void ExpectSameContents(const std::string& table, const std::string& columns) {
    ExpectSame("SELECT " + columns + " FROM TABLE", table, {});
  }

  Random rng_{TestSeed()};
  std::vector<std::string> keys_;
  uint64_t answers_ = 0;
  uint64_t errors_ = 0;
  uint64_t with_rows_ = 0;
};

TEST_F(ItemStatements, AnswerAsTheSameStatementAsAText) {
  const char* const kSelects[] = {
      "SELECT v, i FROM TABLE WHERE f = ? AND e = ? AND i >= ? ORDER BY i DESC LIMIT ?",
      "SELECT v, i FROM TABLE WHERE f = ? AND e = ? AND i >= ? ORDER BY i ASC LIMIT ?",
      "SELECT f, e, v FROM TABLE WHERE f = ? AND e = ? AND i >= ? LIMIT ?",
      "SELECT * FROM TABLE WHERE e = ? AND f = ? AND i >= ? LIMIT ?",
      "SELECT i FROM TABLE WHERE f = ? AND e = ? AND i > ? LIMIT ?",
      "SELECT i FROM TABLE WHERE f = ? AND e = ? AND i <= ? LIMIT ?",
      "SELECT i FROM TABLE WHERE f = ? AND e = ? AND i = ? LIMIT ?",
  };
  const uint64_t steps = TestSteps(4'000);
  for (uint64_t step = 0; step < steps && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    if (rng_.Below(50) == 0) clock_.AdvanceNanos(uint64_t{1'000'000'000} * rng_.Below(20));
    CqlParameters parameters;
    if (rng_.Below(3) == 0) parameters.default_timestamp = int64_t{kNanos} / 1000 - 1'000'000;
    switch (rng_.Below(8)) {
      case 0:
        ExpectSame("INSERT INTO TABLE (f, e, i, v) VALUES (?, ?, ?, ?)", "",
                   {Text(), Text(), ItemKey(), Content()}, parameters);
        break;
      case 1:
        ExpectSame("INSERT INTO TABLE (f, e, i, v) VALUES (?, ?, ?, ?) USING TTL 30", "",
                   {Text(), Text(), ItemKey(), Content()}, parameters);
        break;
      case 2:
      case 3:
        ExpectSame("INSERT INTO TABLE (f, e, i, v) VALUES (?, ?, ?, ?) USING TTL ?", "",
                   {Text(), Text(), ItemKey(), Content(), Number(100)}, parameters);
        break;
      case 4:
        // As many values as there are not.
        ExpectSame("INSERT INTO TABLE (f, e, i, v) VALUES (?, ?, ?, ?)", "", {Text(), Text()});
        break;
      default:
        if (rng_.Below(4) == 0) parameters.page_size = 1 + static_cast<int32_t>(rng_.Below(12));
        ExpectSame(kSelects[rng_.Below(std::size(kSelects))], "",
                   {Text(), Text(), Bound(), Number(12)}, parameters);
    }
  }
  ExpectSameContents("", "f, e, i, v, TTL(v)");
  if (steps < 1'000) return;
  EXPECT_GT(answers_, steps / 4);
  EXPECT_GT(errors_, steps / 10);
  EXPECT_GT(with_rows_, steps / 40);
}

TEST_F(ItemStatements, TablesOfOneKeyColumnAndWithATtlOfTheirOwn) {
  const uint64_t steps = TestSteps(1'500);
  for (uint64_t step = 0; step < steps && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    switch (rng_.Below(4)) {
      case 0:
        ExpectSame("INSERT INTO TABLE (e, i, v) VALUES (?, ?, ?)", "_lasting",
                   {Text(), ItemKey(), Content()});
        break;
      case 1:
        ExpectSame("INSERT INTO TABLE (e, i, v) VALUES (?, ?, ?) USING TTL ?", "_lasting",
                   {Text(), ItemKey(), Content(), Number(100)});
        break;
      case 2:
        ExpectSame("SELECT v, i, e FROM TABLE WHERE e = ? LIMIT 3", "_lasting", {Text()});
        break;
      default:
        ExpectSame("INSERT INTO TABLE (e, i) VALUES (?, ?)", "_one", {Text(), Number(9)});
    }
  }
  ExpectSameContents("_lasting", "e, i, v, TTL(v)");
  ExpectSameContents("_one", "e, i");
}

}  // namespace item_statements_test
}  // namespace liststore::testing
