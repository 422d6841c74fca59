#include "engine/instruments/journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/cql/values/encode_value.h"
#include "engine/instruments/journal_table.h"
#include "tests/support/seed.h"

namespace liststore::testing {
namespace journal_test {

std::shared_ptr<const instruments::JournalClient> Client() {
  static const auto client = std::make_shared<instruments::JournalClient>();
  return client;
}

void Record(instruments::Journal& journal, const std::vector<std::string>& texts) {
  journal.Append(texts.size(), [&](size_t i, instruments::JournalWriter& record) {
    record.SetClient(Client());
    record.facts.outcome = "ok";
    record.AddText(texts[i]);
    record.SetError({});
  });
}

struct Seen {
  uint64_t seq;
  std::string text;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> SeenIn(const instruments::Journal& journal) {
  std::vector<Seen> seen;
  journal.ForEach([&](const instruments::JournalRecord& record) {
    seen.push_back({record.seq(), std::string(record.Statements().at(0).text)});
  });
  return seen;
}

// What a journal is to hold, the plain way.
struct Model {
  size_t capacity = 0;
  bool enabled = false;
  uint64_t last_seq = 0;
  uint64_t recorded = 0;
  std::deque<Seen> kept;

  void Trim() {
    while (kept.size() > capacity) kept.pop_front();
  }
};

TEST(Journal, IsARingOfTheLastRecordsWhateverIsDoneToIt) {
  std::mt19937_64 random(TestSeed());
  const auto below = [&](uint64_t bound) { return random() % bound; };
  Model model;
  model.capacity = 5;
  model.enabled = true;
  instruments::Journal journal(model.capacity);
  const uint64_t steps = TestSteps(5000);
  for (uint64_t step = 0; step < steps; ++step) {
    const uint64_t choice = below(40);
    if (choice == 0) {
      journal.Clear();
      model.kept.clear();
      model.recorded = 0;
    } else if (choice == 1) {
      model.capacity = below(12);
      model.enabled &= model.capacity > 0;
      ASSERT_TRUE(journal.Configure({}, static_cast<int64_t>(model.capacity)).ok());
      model.Trim();
    } else if (choice == 2) {
      const bool enabled = below(3) > 0;
      const bool possible = !enabled || model.capacity > 0;
      ASSERT_EQ(journal.Configure(enabled, {}).ok(), possible);
      if (possible) model.enabled = enabled;
    } else {
      std::vector<std::string> texts;
      // Some long ones: blocks end now and then.
      const uint64_t bytes_max = below(10) == 0 ? 4000 : 40;
      for (uint64_t i = below(9); i > 0; --i) texts.push_back(std::string(below(bytes_max), 'x'));
      Record(journal, texts);
      for (size_t i = 0; model.enabled && i < texts.size(); ++i) {
        model.kept.push_back({++model.last_seq, texts[i]});
        ++model.recorded;
      }
      model.Trim();
    }
    ASSERT_EQ(SeenIn(journal), std::vector<Seen>(model.kept.begin(), model.kept.end()))
        << "step " << step;
    const instruments::JournalCounts counts = journal.counts();
    ASSERT_EQ(counts.enabled, model.enabled);
    ASSERT_EQ(counts.capacity, model.capacity);
    ASSERT_EQ(counts.kept, model.kept.size());
    ASSERT_EQ(counts.recorded, model.recorded);
    ASSERT_EQ(counts.dropped, model.recorded - model.kept.size());
    ASSERT_EQ(counts.last_seq, model.last_seq);
  }
}

TEST(Journal, GivesNoRecordTwiceAndNoneOutOfOrderToAReaderWhileOthersWrite) {
  instruments::Journal journal(100);
  const uint64_t steps = TestSteps(5000);
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&journal, steps] {
      for (uint64_t step = 0; step < steps; ++step) Record(journal, {"SELECT", "INSERT"});
    });
  }
  for (int round = 0; round < 50; ++round) {
    const std::vector<Seen> seen = SeenIn(journal);
    for (size_t i = 1; i < seen.size(); ++i) {
      ASSERT_EQ(seen[i].seq, seen[i - 1].seq + 1) << "nothing is missing in between";
    }
  }
  for (std::thread& writer : writers) writer.join();
  const instruments::JournalCounts counts = journal.counts();
  EXPECT_EQ(counts.recorded, 6 * steps);
  EXPECT_EQ(counts.kept, 100u);
  EXPECT_EQ(SeenIn(journal).size(), 100u);
}

// Threads that write side by side have blocks of their own; those of threads that are gone do not stay.
TEST(Journal, GivesBackTheBlocksOfThreadsThatWriteNoMore) {
  constexpr size_t kWriters = 8;
  instruments::Journal journal(100);
  const auto write = [&journal](size_t records) {
    for (size_t i = 0; i < records; ++i) Record(journal, {std::string(1'000, 's')});
  };
  std::barrier all_there(kWriters);
  std::vector<std::thread> writers;
  for (size_t i = 0; i < kWriters; ++i) {
    writers.emplace_back([&] {
      all_there.arrive_and_wait();
      write(100);
    });
  }
  for (std::thread& writer : writers) writer.join();
  write(100 * instruments::kJournalBlockBytes / 1'000);
  EXPECT_LE(journal.bytes(), 6 * instruments::kJournalBlockBytes);
  EXPECT_EQ(SeenIn(journal).size(), 100u);
}

TEST(Journal, KeepsTheBeginningOfWhatIsTooLong) {
  instruments::Journal journal(4);
  const std::string text(instruments::kRecordedTextBytesMax + 10, 't');
  const std::string value(instruments::kRecordedValueBytesMax + 1, 'v');
  journal.Append(1, [&](size_t /*i*/, instruments::JournalWriter& record) {
    record.SetClient(Client());
    record.AddText(text);
    record.AddValue({cql::BoundValue::State::kValue, value}, "first");
    record.AddValue({cql::BoundValue::State::kNull, {}}, "name");
    for (int i = 0; i < 20; ++i) record.AddValue({cql::BoundValue::State::kValue, value}, "");
    record.SetError("why");
  });
  size_t records = 0;
  journal.ForEach([&](const instruments::JournalRecord& record) {
    ++records;
    const std::vector<instruments::RecordedStatement> statements = record.Statements();
    ASSERT_EQ(statements.size(), 1u);
    EXPECT_EQ(statements[0].text, text.substr(0, instruments::kRecordedTextBytesMax));
    EXPECT_TRUE(statements[0].is_text_cut);
    const std::vector<instruments::RecordedValue>& values = statements[0].values;
    ASSERT_GE(values.size(), 3u);
    EXPECT_LT(values.size(), 22u) << "what has no room is left out";
    EXPECT_EQ(values[0].value.bytes, value.substr(0, instruments::kRecordedValueBytesMax));
    EXPECT_TRUE(values[0].is_cut);
    EXPECT_TRUE(values[1].value.is_null());
    EXPECT_EQ(values[1].name, "name");
    EXPECT_FALSE(values[1].is_cut);
  });
  EXPECT_EQ(records, 1u);
}

TEST(Journal, ReadsValuesAsTheyWereSentAsItReadsThemOneByOne) {
  const auto value = [](uint32_t length, std::string bytes) {
    return std::string{static_cast<char>(length >> 24), static_cast<char>(length >> 16),
                       static_cast<char>(length >> 8), static_cast<char>(length)} +
           bytes;
  };
  const std::string text(300, 'x');
  const std::string sent = value(300, text) + value(0, "") + value(UINT32_MAX, "") +
                           value(UINT32_MAX - 1, "") + value(3, "abc");
  const cql::BoundValue values[] = {{cql::BoundValue::State::kValue, text},
                                    {cql::BoundValue::State::kValue, ""},
                                    {cql::BoundValue::State::kNull, {}},
                                    {cql::BoundValue::State::kUnset, {}},
                                    {cql::BoundValue::State::kValue, "abc"}};
  instruments::Journal journal(3);
  journal.Append(3, [&](size_t i, instruments::JournalWriter& record) {
    record.SetClient(Client());
    record.AddText("a");
    if (i == 0) {
      EXPECT_TRUE(record.AddSentValues(sent, std::size(values), false));
    } else if (i == 1) {
      for (const cql::BoundValue& one : values) record.AddValue(one);
    } else {
      const std::string long_value(instruments::kRecordedValueBytesMax - 3, 'y');
      EXPECT_FALSE(record.AddSentValues(value(instruments::kRecordedValueBytesMax - 3, long_value),
                                        1, false))
          << "one of them may have to be cut";
      EXPECT_TRUE(record.AddSentValues(std::string("\0\4name", 6) + value(2, "zz"), 1, true));
    }
  });
  journal.ForEach([&](const instruments::JournalRecord& record) {
    const std::vector<instruments::RecordedValue> read = record.Statements().at(0).values;
    if (record.seq() == 3) {
      ASSERT_EQ(read.size(), 1u);
      EXPECT_EQ(read[0].name, "name");
      EXPECT_EQ(read[0].value.bytes, "zz");
      return;
    }
    ASSERT_EQ(read.size(), std::size(values));
    for (size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].value.state, values[i].state) << i;
      EXPECT_EQ(read[i].value.bytes, values[i].bytes) << i;
      EXPECT_FALSE(read[i].is_cut) << i;
    }
  });
}

// Statements that its records hold count, also when nobody else has them any more.
TEST(Journal, HoldsSoManyBytes) {
  constexpr size_t kMiB = size_t{1} << 20;
  instruments::Journal journal(1000, 20 * kMiB);
  for (int i = 0; i < 100; ++i) {
    const auto prepared = std::make_shared<cql::PlannedStatement>();
    journal.Append(2, [&](size_t, instruments::JournalWriter& record) {
      record.SetClient(Client());
      record.AddPrepared(*prepared, 3 * kMiB);
    });
    EXPECT_LE(journal.bytes(), 20 * kMiB + 8 * kMiB) << "the last block is not full";
  }
  const instruments::JournalCounts counts = journal.counts();
  EXPECT_EQ(counts.recorded, 200u);
  EXPECT_LE(counts.kept, 12u) << "three of each block of six MiB, and those of the last";
  EXPECT_GE(counts.kept, 4u);
  uint64_t seq = 200 - counts.kept;
  journal.ForEach(
      [&](const instruments::JournalRecord& record) { EXPECT_EQ(record.seq(), ++seq); });
  EXPECT_EQ(seq, 200u);
  // One that alone is more than all may be is recorded, until the next block.
  const auto large = std::make_shared<cql::PlannedStatement>();
  journal.Append(1, [&](size_t, instruments::JournalWriter& record) {
    record.SetClient(Client());
    record.AddPrepared(*large, 50 * kMiB);
  });
  journal.Append(1, [&](size_t, instruments::JournalWriter& record) {
    record.SetClient(Client());
    record.AddText("small");
  });
  EXPECT_LT(journal.bytes(), kMiB);
  EXPECT_EQ(journal.counts().kept, 1u);
}

TEST(Journal, KeepsTheFirstStatementsOfALongBatchAndWhatFollowsIsWhole) {
  instruments::Journal journal(2);
  const auto prepared = std::make_shared<cql::PlannedStatement>();
  prepared->text = "b ?";
  journal.Append(2, [&](size_t i, instruments::JournalWriter& record) {
    record.SetClient(Client());
    for (size_t k = 0; i == 0 && k < instruments::kRecordedStatementsMax + 5; ++k) {
      record.AddText("a");
      if (k % 2 == 0) {
        record.AddValue({cql::BoundValue::State::kValue, "1"});
      } else {
        EXPECT_TRUE(record.AddSentValues(std::string_view("\0\0\0\0011", 5), 1, false));
      }
    }
    if (i == 1) {
      record.facts.page_size = 7;
      record.AddPrepared(*prepared);
      record.AddValue({cql::BoundValue::State::kUnset, {}});
    }
    record.SetError(i == 0 ? "no" : "");
  });
  std::vector<uint64_t> seqs;
  journal.ForEach([&](const instruments::JournalRecord& record) {
    seqs.push_back(record.seq());
    const std::vector<instruments::RecordedStatement> statements = record.Statements();
    if (record.seq() == 1) {
      EXPECT_EQ(statements.size(), instruments::kRecordedStatementsMax);
      EXPECT_EQ(statements.back().values.at(0).value.bytes, "1");
      EXPECT_TRUE(record.leaves_out_statements());
      EXPECT_EQ(record.error(), "no");
      EXPECT_FALSE(record.page_size);
      return;
    }
    ASSERT_EQ(statements.size(), 1u);
    EXPECT_EQ(statements[0].prepared, prepared.get());
    EXPECT_EQ(statements[0].text, "b ?");
    ASSERT_EQ(statements[0].values.size(), 1u);
    EXPECT_TRUE(statements[0].values[0].value.is_unset());
    EXPECT_FALSE(record.leaves_out_statements());
    EXPECT_EQ(record.error(), "");
    EXPECT_EQ(record.page_size, 7);
  });
  EXPECT_EQ(seqs, (std::vector<uint64_t>{1, 2}));
}

// Facts are written where they change: each record has its own all the same, in every block.
TEST(Journal, TellsTheFactsOfEveryRecord) {
  std::mt19937_64 random(TestSeed());
  const auto coin = [&] { return random() % 2 == 0; };
  const auto other_client = std::make_shared<instruments::JournalClient>();
  std::vector<instruments::JournalFacts> written;
  size_t bytes = 0;
  instruments::JournalFacts facts;
  facts.client = Client().get();
  while (bytes < 3 * instruments::kJournalBlockBytes) {
    switch (random() % 12) {
      case 0:
        facts.at_nanos += 1;
        break;
      case 1:
        facts.duration_nanos = coin() ? 0 : 1;
        break;
      case 2:
        facts.dead_rows = coin() ? 0 : 1;
        break;
      case 3:
        facts.client = coin() ? Client().get() : other_client.get();
        break;
      case 4:
        facts.consistency = coin() ? "ONE" : "TWO";
        break;
      case 5:
        facts.serial_consistency = coin() ? "SERIAL" : "";
        break;
      case 6:
        facts.outcome = coin() ? "ok" : "invalid";
        break;
      case 7:
        facts.page_size = coin() ? std::optional<int32_t>(0) : std::nullopt;
        break;
      case 8:
        facts.kind = coin() ? execute::RequestKind::kBatch : execute::RequestKind::kQuery;
        break;
      default:
        facts.timestamp = coin() ? std::optional<int64_t>(-1) : std::nullopt;
    }
    written.push_back(facts);
    bytes += 100;
  }
  instruments::Journal journal(written.size());
  const std::string text(100, 't');
  journal.Append(written.size(), [&](size_t i, instruments::JournalWriter& record) {
    record.facts = written[i];
    record.SetClient(written[i].client == Client().get() ? Client() : other_client);
    record.AddText(text);
  });
  size_t read = 0;
  journal.ForEach([&](const instruments::JournalRecord& record) {
    ASSERT_LT(read, written.size());
    const instruments::JournalFacts& wanted = written[read++];
    EXPECT_EQ(record.seq(), read);
    EXPECT_TRUE(static_cast<const instruments::SharedFacts&>(record) == wanted) << read;
    EXPECT_EQ(record.timestamp, wanted.timestamp) << read;
    EXPECT_EQ(record.Statements().at(0).text, text) << read;
  });
  EXPECT_EQ(read, written.size());
}

// In groups, over several blocks, some with more to tell in between.
TEST(Journal, RepeatsARecordButForTimestampAndValues) {
  constexpr uint64_t kRecords = 5000;
  instruments::Journal journal(kRecords);
  std::mt19937_64 random(TestSeed());
  const auto prepared = std::make_shared<cql::PlannedStatement>();
  prepared->text = "a ?";
  const auto sent = [](uint64_t i) {
    const std::string value(i % 40, static_cast<char>('a' + i % 26));
    return std::string("\0\0\0", 3) + static_cast<char>(value.size()) + value;
  };
  const auto is_special = [](uint64_t i) { return i % 50 == 7; };
  uint64_t repeated = 0;
  for (uint64_t first = 0; first < kRecords;) {
    const size_t count = std::min<uint64_t>(kRecords - first, 1 + random() % 30);
    journal.Append(count, [&](size_t k, instruments::JournalWriter& record) {
      const uint64_t i = first + k;
      const auto timestamp = i % 3 == 0 ? std::nullopt : std::optional<int64_t>(i);
      if (!is_special(i) && record.Repeat(timestamp, sent(i), 1)) {
        EXPECT_GT(k, 0u) << "there is no record before";
        EXPECT_FALSE(is_special(i - 1)) << "there is more to tell of the record before";
        ++repeated;
        return;
      }
      record.facts.kind = execute::RequestKind::kExecute;
      record.facts.outcome = "ok";
      record.facts.timestamp = timestamp;
      record.SetClient(Client());
      record.AddPrepared(*prepared);
      EXPECT_TRUE(record.AddSentValues(sent(i), 1, false));
      record.SetError(is_special(i) ? "why" : "");
    });
    first += count;
  }
  EXPECT_GT(repeated, kRecords / 2);
  uint64_t i = 0;
  journal.ForEach([&](const instruments::JournalRecord& record) {
    EXPECT_EQ(record.seq(), i + 1);
    EXPECT_EQ(record.timestamp, i % 3 == 0 ? std::nullopt : std::optional<int64_t>(i)) << i;
    EXPECT_EQ(record.kind, execute::RequestKind::kExecute) << i;
    EXPECT_EQ(record.client, Client().get()) << i;
    EXPECT_EQ(record.error(), is_special(i) ? "why" : "") << i;
    const std::vector<instruments::RecordedStatement> statements = record.Statements();
    ASSERT_EQ(statements.size(), 1u) << i;
    EXPECT_EQ(statements[0].prepared, prepared.get()) << i;
    ASSERT_EQ(statements[0].values.size(), 1u) << i;
    EXPECT_EQ(statements[0].values[0].value.bytes, sent(i).substr(4)) << i;
    ++i;
  });
  EXPECT_EQ(i, kRecords);
}

TEST(Journal, DoesNotRepeatWhatIsNotAlike) {
  const auto prepared = std::make_shared<cql::PlannedStatement>();
  const std::string null("\377\377\377\377", 4);
  const std::string longest(instruments::kRecordedValueBytesMax, 'v');
  struct Case {
    const char* before;
    bool is_text;
    bool has_names;
    const char* error;
    std::string sent;
    size_t value_count;
    bool repeats;
  };
  const Case cases[] = {
      {"one statement", false, false, "", null, 1, true},
      {"a text", true, false, "", null, 1, false},
      {"names", false, true, "", null, 1, false},
      {"an error", false, false, "e", null, 1, false},
      {"fewer values", false, false, "", null + null, 2, false},
      {"short values", false, false, "", longest + null, 1, false},
  };
  for (const Case& one : cases) {
    instruments::Journal journal(2);
    journal.Append(2, [&](size_t i, instruments::JournalWriter& record) {
      if (i == 1) {
        EXPECT_EQ(record.Repeat(std::nullopt, one.sent, one.value_count), one.repeats)
            << one.before;
        return;
      }
      EXPECT_FALSE(record.Repeat(std::nullopt, null, 1)) << "nothing was before";
      record.SetClient(Client());
      if (one.is_text) {
        record.AddText("a ?");
      } else {
        record.AddPrepared(*prepared);
      }
      if (one.has_names) {
        record.AddValue({cql::BoundValue::State::kNull, {}}, "name");
      } else {
        record.AddValue({cql::BoundValue::State::kNull, {}});
      }
      record.SetError(one.error);
    });
    EXPECT_EQ(journal.counts().kept, 2u) << one.before;
  }
}

TEST(Journal, HoldsWhatItsRecordsPointAtAndLetsGoOfWhatIsDropped) {
  instruments::Journal journal(3);
  const std::string text(1000, 't');
  auto prepared = std::make_shared<const cql::PlannedStatement>();
  const std::weak_ptr<const cql::PlannedStatement> seen = prepared;
  journal.Append(1, [&](size_t /*i*/, instruments::JournalWriter& record) {
    record.SetClient(Client());
    record.AddPrepared(*prepared);
    record.SetError({});
  });
  prepared.reset();
  EXPECT_FALSE(seen.expired());
  // While it is read, whatever becomes of it.
  journal.ForEach([&](const instruments::JournalRecord& record) {
    journal.Clear();
    EXPECT_EQ(record.Statements().at(0).prepared, seen.lock().get());
    EXPECT_FALSE(seen.expired());
  });
  EXPECT_TRUE(seen.expired());
  // A block goes when its last record has become too old.
  auto client = std::make_shared<const instruments::JournalClient>();
  const std::weak_ptr<const instruments::JournalClient> seen_client = client;
  journal.Append(
      1, [&](size_t /*i*/, instruments::JournalWriter& record) { record.SetClient(client); });
  client.reset();
  EXPECT_FALSE(seen_client.expired());
  for (size_t i = 0; i <= instruments::kJournalBlockBytes / text.size(); ++i)
    Record(journal, {text});
  EXPECT_TRUE(seen_client.expired());
}

struct WriteCase {
  const char* name;
  cql::VirtualTable::Values values;
  const char* error;  // empty: it succeeds
  bool enabled;       // behind the write
  size_t capacity;
};

TEST(JournalTable, IsSetAsAWholeOrNotAtAll) {
  const std::string yes = cql::EncodeBoolean(true);
  const std::string no = cql::EncodeBoolean(false);
  const WriteCase cases[] = {
      {"off", {{"key", "journal"}, {"enabled", no}}, "", false, 3},
      {"another capacity", {{"key", "journal"}, {"capacity", cql::EncodeInt(7)}}, "", true, 7},
      {"a capacity of none is off",
       {{"key", "journal"}, {"capacity", cql::EncodeInt(0)}},
       "",
       false,
       0},
      {"both",
       {{"key", "journal"}, {"enabled", no}, {"capacity", cql::EncodeInt(9)}},
       "",
       false,
       9},
      {"on needs a capacity",
       {{"key", "journal"}, {"enabled", yes}, {"capacity", cql::EncodeInt(0)}},
       "liststore.journal: cannot be enabled with a capacity of 0",
       true,
       3},
      {"not more than there may be",
       {{"key", "journal"}, {"enabled", no}, {"capacity", cql::EncodeInt(100'001)}},
       "liststore.journal: capacity is 100001, not 0 to 100000",
       true,
       3},
      {"not less than none",
       {{"key", "journal"}, {"capacity", cql::EncodeInt(-1)}},
       "liststore.journal: capacity is -1, not 0 to 100000",
       true,
       3},
      {"another key",
       {{"key", "x"}, {"enabled", no}},
       "liststore.journal: the only key is 'journal'",
       true,
       3},
      {"a count",
       {{"key", "journal"}, {"kept", cql::EncodeInt(1)}},
       "liststore.journal: kept cannot be set",
       true,
       3},
      {"null",
       {{"key", "journal"}, {"enabled", std::nullopt}},
       "liststore.journal: enabled cannot be null",
       true,
       3},
      {"nothing",
       {{"key", "journal"}},
       "liststore.journal: set enabled, capacity or both",
       true,
       3},
  };
  for (const WriteCase& test : cases) {
    instruments::Journal journal(3);
    instruments::JournalTable table(journal);
    const std::optional<cql::CqlError> error = table.Write(test.values);
    EXPECT_EQ(error ? error->message : "", test.error) << test.name;
    EXPECT_EQ(journal.enabled(), test.enabled) << test.name;
    EXPECT_EQ(journal.counts().capacity, test.capacity) << test.name;
  }
}

}  // namespace journal_test
}  // namespace liststore::testing
