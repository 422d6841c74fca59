// HostileTest: a server in the process, a well-behaved client, and others that are not. What holds
// whatever they do: memory, and that others are answered.
#ifndef LISTSTORE_TESTS_HOSTILE_HOSTILE_SESSION_TEST_H_
#define LISTSTORE_TESTS_HOSTILE_HOSTILE_SESSION_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/big_endian.h"
#include "tests/over_cql/cql_session_test.h"
#include "tests/support/raw_cql_client.h"
#include "tests/support/resident_memory.h"

namespace liststore::testing {

inline constexpr size_t kMiB = size_t{1} << 20;

class HostileTest : public CqlSessionTest {
 protected:
  static constexpr uint8_t kError = 0x00, kOptions = 0x05, kSupported = 0x06, kQuery = 0x07,
                           kResult = 0x08, kPrepare = 0x09, kExecute = 0x0a;

  // `word`, count times, with commas between.
  static std::string Repeated(const std::string& word, size_t count) {
    std::string text = word;
    for (size_t i = 1; i < count; ++i) text += ", " + word;
    return text;
  }

  static RawFrame Query(const std::string& text, int stream) {
    return {.stream = static_cast<int16_t>(stream), .opcode = kQuery, .body = QueryBody(text)};
  }

  // A frame whose body is read piece by piece and forgotten.
  struct Answer {
    int stream = 0;
    uint8_t opcode = 0;
    size_t body_bytes = 0;
  };
  static std::optional<Answer> ReadAnswer(RawCqlClient& client) {
    const auto header = client.ReadBytes(9);
    if (!header) return std::nullopt;
    Answer answer;
    answer.stream = static_cast<int16_t>(LoadBigEndian16(header->data() + 2));
    answer.opcode = static_cast<uint8_t>((*header)[4]);
    answer.body_bytes = LoadBigEndian32(header->data() + 5);
    for (size_t left = answer.body_bytes; left > 0;) {
      const size_t piece = std::min(left, kMiB);
      if (!client.ReadBytes(piece)) return std::nullopt;
      left -= piece;
    }
    return answer;
  }

  // How often a read of `other`, which needs the lane of a row of k.t, is answered while `client` waits for
  // the answer to `text`, which is a result.
  static int AnswersDuring(RawCqlClient& client, RawCqlClient& other, const std::string& text) {
    EXPECT_TRUE(client.Send(Query(text, 1).Bytes()));
    int answers = 0;
    while (!client.HasAnswer()) {
      const auto answer = other.Query("SELECT p FROM k.t WHERE p = 3");
      if (!answer || answer->opcode != kResult) return -1;
      ++answers;
    }
    const auto answer = client.Read();
    EXPECT_TRUE(answer && answer->opcode == kResult)
        << text << ": " << (answer ? ErrorMessageOf(*answer) : "no answer");
    return answers;
  }

  // Another client is answered, `times` in a row.
  static void ExpectAnswers(RawCqlClient& other, int times) {
    for (int i = 0; i < times; ++i) {
      const auto answer = other.Ask({.stream = 1, .opcode = kOptions});
      ASSERT_TRUE(answer);
      ASSERT_EQ(answer->opcode, kSupported);
    }
  }
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_HOSTILE_HOSTILE_SESSION_TEST_H_
