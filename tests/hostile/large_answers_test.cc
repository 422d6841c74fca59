// A few hundred bytes of requests that ask for gigabytes of answers.
#include <malloc.h>

#include <string>

#include "engine/cql/values/encode_value.h"
#include "tests/hostile/hostile_session_test.h"

namespace liststore::testing {
namespace large_answers_test {

// Of answers that are 48 MiB each.
constexpr int kRequests = 16;
constexpr size_t kNamed = 48;
constexpr size_t kAnswerBytes = kNamed * kMiB;
// One answer, what the buffer has it in, and some MiB; all of them are three times as much.
constexpr size_t kGrownBytesMax = 5 * kAnswerBytes;

class LargeAnswers : public HostileTest {
 protected:
  void SetUp() override {
    CqlServerOptions options;
    options.journal_entries = 1000;
    StartServer(options, "k");
    // Of the shape that runs in groups when it was prepared.
    Must("CREATE TABLE k.t (p text, c text, v blob, PRIMARY KEY (p, c))");
    Must("INSERT INTO k.t (p, c, v) VALUES ('p', 'c', ?)", {{std::string(kMiB, 'x')}});
  }

  std::string Select() const {
    return "SELECT " + Repeated("v", kNamed) + " FROM k.t WHERE p = 'p'";
  }
  // Requests for the large answer, and behind each one for a small one.
  std::string Requests(const std::string& prepared_id) const {
    std::string bytes;
    for (int i = 0; i < kRequests; ++i) {
      bytes += Large(prepared_id, 2 * i).Bytes();
      bytes += Query("SELECT c FROM k.t WHERE p = 'p'", 2 * i + 1).Bytes();
    }
    return bytes;
  }
  RawFrame Large(const std::string& prepared_id, int stream) const {
    if (prepared_id.empty()) return Query(Select(), stream);
    std::string body(2, '\0');
    StoreBigEndian16(body.data(), static_cast<uint16_t>(prepared_id.size()));
    body += prepared_id + std::string("\0\1\0", 3);
    return {.stream = static_cast<int16_t>(stream), .opcode = kExecute, .body = body};
  }
  std::string Prepare(RawCqlClient& client) const {
    std::string body(4, '\0');
    const std::string text = Select() + " LIMIT 10";
    StoreBigEndian32(body.data(), static_cast<uint32_t>(text.size()));
    const auto answer = client.Ask({.stream = 1, .opcode = kPrepare, .body = body + text});
    EXPECT_TRUE(answer && answer->opcode == kResult);
    return answer ? answer->body.substr(6, LoadBigEndian16(answer->body.data() + 4)) : "";
  }

  void ExpectAll(RawCqlClient& client) {
    for (int i = 0; i < 2 * kRequests; ++i) {
      const auto answer = ReadAnswer(client);
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->stream, i);
      ASSERT_EQ(answer->opcode, kResult);
      EXPECT_EQ(answer->body_bytes > kAnswerBytes, i % 2 == 0);
    }
  }
};

TEST_F(LargeAnswers, OfOneTurnAreMadeOneByOne) {
  for (const bool prepared : {false, true}) {
    RawCqlClient client(server_->cql_port());
    RawCqlClient other(server_->cql_port());
    ASSERT_TRUE(client.StartUp() && other.StartUp());
    const std::string id = prepared ? Prepare(client) : "";
    const PeakMemory memory;
    ASSERT_TRUE(client.Send(Requests(id)));
    ExpectAnswers(other, 10);
    ExpectAll(client);
    EXPECT_LT(memory.judged_bytes(), kGrownBytesMax) << prepared;
  }
  // Each was written down once.
  const CqlAnswer requests =
      Must("SELECT op FROM liststore.requests WHERE tbl = 'k.t' ALLOW FILTERING");
  EXPECT_EQ(requests.rows.size(), 2u + 4 * kRequests + 1);
}

TEST_F(LargeAnswers, AreNotMadeForAClientThatDoesNotRead) {
  const PeakMemory memory;
  RawCqlClient client(server_->cql_port());
  RawCqlClient other(server_->cql_port());
  ASSERT_TRUE(client.StartUp() && other.StartUp());
  ASSERT_TRUE(client.Send(Requests("")));
  ExpectAnswers(other, 10);
  EXPECT_LT(memory.judged_bytes(), kGrownBytesMax);
  ExpectAll(client);
}

// A write behind a read that waits for its turn is seen by those that come behind it alone.
TEST_F(LargeAnswers, KeepTheirPlaceAmongTheRequests) {
  RawCqlClient client(server_->cql_port());
  ASSERT_TRUE(client.StartUp());
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += Query(Select(), 3 * i).Bytes();
    bytes += Query("SELECT c FROM k.t WHERE p = 'q'", 3 * i + 1).Bytes();
    const std::string row = std::to_string(i);
    bytes += Query("INSERT INTO k.t (p, c) VALUES ('q', '" + row + "')", 3 * i + 2).Bytes();
  }
  ASSERT_TRUE(client.Send(bytes));
  for (int i = 0; i < 8; ++i) {
    for (int part = 0; part < 3; ++part) {
      const auto answer = client.Read();
      ASSERT_TRUE(answer);
      EXPECT_EQ(answer->stream, 3 * i + part);
      if (part == 1) {
        EXPECT_EQ(OneColumnOf(*answer).size(), static_cast<size_t>(i));
      }
    }
  }
}

// A page ends with the row that fills it, and a row may be named as often as one likes.
TEST_F(LargeAnswers, HaveTheirPartOfTheMemoryForClients) {
  CqlServerOptions options;
  options.client_memory_bytes = 32 * kMiB;
  StartServer(options, "k");
  Must("CREATE TABLE k.t (p text, c text, v blob, PRIMARY KEY (p, c))");
  Must("INSERT INTO k.t (p, c, v) VALUES ('p', 'c', ?)", {{std::string(kMiB, 'x')}});
  const PeakMemory memory;
  for (const bool prepared : {false, true}) {
    for (const CqlParameters& parameters : {CqlParameters{}, CqlParameters{100, {}, {}}}) {
      EXPECT_EQ(session_->Run({Select(), {}, prepared}, parameters).error,
                "A row of the result is larger than 6291456 bytes, which an answer may take of the "
                "memory for clients: select fewer columns of it");
    }
  }
  // What is made of one value for another counts before that is made.
  for (const std::string& json :
       {"SELECT JSON " + Repeated("v", 190), "SELECT JSON v, " + Repeated("v", 6),
        "SELECT " + Repeated("min(v)", 190), "SELECT JSON " + Repeated("max(v)", 7)}) {
    EXPECT_EQ(session_->Run({json + " FROM k.t WHERE p = 'p'", {}, false}, CqlParameters{}).error,
              "A row of the result is larger than 6291456 bytes, which an answer may take of the "
              "memory for clients: select fewer columns of it");
  }
  EXPECT_LT(memory.judged_bytes(), 32 * kMiB);
  Must("SELECT " + Repeated("v", 5) + " FROM k.t WHERE p = 'p'");
}

// A fault holds answers back; no more than some MiB of them are made before.
TEST_F(LargeAnswers, ThatAreDelayedAreFew) {
  Must("INSERT INTO liststore.faults (name, tbl, action) VALUES ('f', 'k.t', 'delay 5ms')");
  RawCqlClient client(server_->cql_port());
  RawCqlClient other(server_->cql_port());
  ASSERT_TRUE(client.StartUp() && other.StartUp());
  const PeakMemory memory;
  ASSERT_TRUE(client.Send(Requests("")));
  ExpectAnswers(other, 10);
  for (int i = 0; i < 2 * kRequests; ++i) ASSERT_TRUE(ReadAnswer(client));
  EXPECT_LT(memory.judged_bytes(), kGrownBytesMax);
}

// Nor does a thread keep what it has gathered of them.
TEST_F(LargeAnswers, LeaveNothingBehindWhereThereIsNoRoom) {
  CqlServerOptions options;
  options.client_memory_bytes = 64 * kMiB;  // 12 MiB of it for a result
  StartServer(options, "k");
  Must("CREATE TABLE k.t (p text, c int, v blob, PRIMARY KEY (p, c))");
  for (int c = 0; c < 200; ++c) {
    Must("INSERT INTO k.t (p, c, v) VALUES ('p', ?, ?)",
         {{cql::EncodeInt(c)}, {std::string(100'000, 'x')}});
  }
  const auto refuse = [&](const std::string& more) {
    const std::string text = "SELECT v, p FROM k.t WHERE p = 'p'" + more;
    EXPECT_NE(session_->Run({text, {}, false}, CqlParameters{}).error, "");
  };
  Must("SELECT c FROM k.t WHERE p = 'p'");
  const size_t before = PeakMemory::judged_now_bytes();
  for (int i = 0; i < 8; ++i) {
    refuse("");
    refuse(" AND v > 0x ALLOW FILTERING");
  }
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  EXPECT_LT(PeakMemory::judged_now_bytes(), before + 4 * kMiB);
}

}  // namespace large_answers_test
}  // namespace liststore::testing
