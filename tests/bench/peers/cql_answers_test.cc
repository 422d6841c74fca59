#include "bench/peers/cql_answers.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bench/peers/frame_loop.h"
#include "engine/base/big_endian.h"
#include "liststore/item_key.h"
#include "programs/client/cql_client.h"
#include "programs/client/list_model.h"

namespace liststore::testing {
namespace cql_answers_test {

constexpr size_t kValueBytes = 24;
constexpr uint64_t kNanos = 1'724'949'845'000'000'000;
constexpr std::string_view kFeatureKey = "user#reading_history|v2";
constexpr std::string_view kFirstKey = "0000000000000000000";
constexpr uint8_t kErrorOpcode = 0x00;
constexpr uint8_t kResultOpcode = 0x08;

std::string ValueOf(uint64_t number) {
  std::string value = absl::StrCat("value ", number);
  value.resize(kValueBytes, '.');
  return value;
}
std::string KeyOf(uint64_t number) { return MakeItemKey(kNanos + number, ValueOf(number)).value(); }

struct Reply {
  int16_t stream = 0;
  uint8_t opcode = 0;
  std::string body;
};

// Requests and their answers, without sockets.
class Asker {
 public:
  explicit Asker(CqlAnswers& answers) : answers_(answers) {}

  CqlRequests& requests() { return requests_; }

  // Of all requests that were appended since, which must all be taken.
  std::vector<Reply> Ask() {
    const std::optional<size_t> taken = answers_.Answer(requests_.view(), out_);
    EXPECT_EQ(taken, requests_.view().size());
    requests_.Clear();
    std::vector<Reply> replies;
    std::string_view rest = out_.view();
    while (rest.size() >= 9) {
      const uint32_t bytes = LoadBigEndian32(rest.data() + 5);
      EXPECT_EQ(static_cast<uint8_t>(rest[0]), 0x84);
      replies.push_back({static_cast<int16_t>(LoadBigEndian16(rest.data() + 2)),
                         static_cast<uint8_t>(rest[4]), std::string(rest.substr(9, bytes))});
      rest.remove_prefix(9 + bytes);
    }
    EXPECT_EQ(rest, "");
    out_.Clear();
    return replies;
  }

  // <kind: 4><id: 2 + 16>
  std::string Prepare(std::string_view text) {
    requests_.Prepare(1, text);
    const std::vector<Reply> replies = Ask();
    EXPECT_EQ(replies.size(), 1u);
    EXPECT_EQ(LoadBigEndian32(replies[0].body.data()), 4u) << "not Prepared";
    EXPECT_EQ(LoadBigEndian16(replies[0].body.data() + 4), 16u) << "ids are as long as ours";
    return replies[0].body.substr(6, 16);
  }

 private:
  CqlAnswers& answers_;
  CqlRequests requests_;
  OutputBuffer out_;
};

class Lists : public Asker {
 public:
  explicit Lists(CqlAnswers& answers)
      : Asker(answers),
        insert_(Prepare(kInsertItemStatement)),
        select_(Prepare(kSelectItemsStatement)) {}

  void Insert(int16_t stream, std::string_view list, uint64_t number) {
    Insert(stream, list, KeyOf(number), ValueOf(number));
  }
  void Insert(int16_t stream, std::string_view list, std::string_view key, std::string_view value) {
    const std::string ttl = CqlInt(86'400);
    const std::string_view values[] = {kFeatureKey, list, key, value, ttl};
    requests().Execute(stream, insert_, values);
  }
  void InsertAll(int16_t stream, std::string_view list, uint64_t count) {
    const std::string ttl = CqlInt(86'400);
    std::vector<std::string> texts;
    for (uint64_t number = 0; number < count; ++number) {
      texts.push_back(KeyOf(number));
      texts.push_back(ValueOf(number));
    }
    std::vector<std::array<std::string_view, 5>> values;
    for (size_t i = 0; i < texts.size(); i += 2) {
      values.push_back({kFeatureKey, list, texts[i], texts[i + 1], ttl});
    }
    std::vector<CqlRequests::Execution> executions;
    for (const auto& of_one : values) executions.push_back({insert_, of_one});
    requests().Batch(stream, executions, std::nullopt);
  }
  void Select(int16_t stream, std::string_view list, int32_t limit = 10,
              std::string_view bound = kFirstKey) {
    const std::string of_limit = CqlInt(limit);
    const std::string_view values[] = {kFeatureKey, list, bound, of_limit};
    requests().Execute(stream, select_, values, {.skip_metadata = true, .page_size = 5'000});
  }

 private:
  std::string insert_;
  std::string select_;
};

// The newest `count` of items below `end`.
void ExpectNewest(const Reply& reply, uint64_t end, size_t count) {
  CqlRows rows;
  ASSERT_TRUE(CqlRows::Decode(reply.body, &rows).ok());
  ASSERT_EQ(rows.size(), count);
  for (size_t row = 0; row < count; ++row) {
    EXPECT_EQ(rows.at(row, 0), ValueOf(end - 1 - row));
    EXPECT_EQ(rows.at(row, 1), KeyOf(end - 1 - row));
  }
}

std::string WhyOf(const Reply& reply) {
  const auto error = ErrorOf({reply.stream, reply.opcode, reply.body});
  return error ? std::string(error->text) : "no error";
}

TEST(BareAnswers, AreTheNewestRows) {
  BareAnswers answers(100, 20, kValueBytes);
  Lists lists(answers);
  lists.InsertAll(3, "user-1", 20);
  lists.Insert(4, "user-1", 20);
  lists.Insert(5, "user-2", 0);
  lists.Select(6, "user-1");
  lists.Select(7, "user-2");
  lists.Select(8, "user-3");
  lists.Select(9, "user-1", 1'000);
  const std::vector<Reply> replies = lists.Ask();
  ASSERT_EQ(replies.size(), 7u);
  for (size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].stream, static_cast<int16_t>(i + 3));
    EXPECT_EQ(replies[i].opcode, kResultOpcode) << WhyOf(replies[i]);
  }
  ExpectNewest(replies[3], 21, 10);
  ExpectNewest(replies[4], 1, 1);
  ExpectNewest(replies[5], 0, 0);
  ExpectNewest(replies[6], 21, 21);
  answers.store().Verify();
}

// More than are looked at together, and additions that outgrow a block between reads of it.
TEST(BareAnswers, FollowTheOrderOfTheRequests) {
  BareAnswers answers(100, 20, kValueBytes);
  Lists lists(answers);
  for (int16_t number = 0; number < 100; ++number) {
    lists.Insert(0, "user-1", static_cast<uint64_t>(number));
    lists.Select(number, "user-1");
  }
  const std::vector<Reply> replies = lists.Ask();
  ASSERT_EQ(replies.size(), 200u);
  for (uint64_t number = 0; number < 100; ++number) {
    ExpectNewest(replies[2 * number + 1], number + 1, std::min<size_t>(number + 1, 10));
  }
  answers.store().Verify();
}

TEST(BareAnswers, RefuseWhatTheyWereNotMadeFor) {
  BareAnswers answers(1, 20, kValueBytes);
  Lists lists(answers);
  lists.Insert(1, "user-1", 1);
  lists.Insert(2, "user-2", 1);  // one list more
  lists.Insert(3, "user-1", "no item key", ValueOf(2));
  lists.Insert(4, "user-1", KeyOf(2), "another length");
  lists.Select(5, "user-1", 10, KeyOf(1));  // another bound
  lists.requests().Execute(6, "an unknown id...", {});
  lists.requests().Query(7, "SELECT * FROM system.local", {});
  lists.requests().Prepare(8, "DELETE FROM feature_store.list_items");
  const std::vector<Reply> replies = lists.Ask();
  ASSERT_EQ(replies.size(), 8u);
  EXPECT_EQ(replies[0].opcode, kResultOpcode);
  for (size_t i = 1; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].opcode, kErrorOpcode) << "stream " << replies[i].stream;
    EXPECT_NE(WhyOf(replies[i]).find("nothing but what `liststore bench wire` asks"),
              std::string::npos)
        << WhyOf(replies[i]);
  }
  lists.Select(1, "user-1");
  ExpectNewest(lists.Ask()[0], 2, 1);
}

// Wherever an EXECUTE is cut off, nothing behind its end is read.
TEST(BareAnswers, AnExecuteThatEndsEarlyIsRefused) {
  BareAnswers answers(1, 20, kValueBytes);
  Lists lists(answers);
  lists.Insert(1, "user-1", 1);
  const std::string whole(lists.requests().view());
  lists.requests().Clear();
  constexpr size_t kOfTtl = 8;  // which is not looked at
  for (size_t bytes = 9; bytes < whole.size() - kOfTtl; ++bytes) {
    std::string cut = whole.substr(0, bytes);
    StoreBigEndian32(cut.data() + 5, static_cast<uint32_t>(bytes - 9));
    lists.requests().Append(cut);
    const std::vector<Reply> replies = lists.Ask();
    ASSERT_EQ(replies.size(), 1u);
    ASSERT_EQ(replies[0].opcode, kErrorOpcode) << bytes << " bytes";
  }
}

TEST(CqlAnswers, TakeWholeFramesAlone) {
  EchoAnswers answers(kValueBytes);
  Lists lists(answers);
  lists.Select(1, "user-1");
  const size_t one = lists.requests().view().size();
  lists.Select(2, "user-1");
  const std::string both(lists.requests().view());
  OutputBuffer out;
  for (size_t bytes = 0; bytes < both.size(); ++bytes) {
    EXPECT_EQ(answers.Answer(std::string_view(both).substr(0, bytes), out), bytes < one ? 0 : one);
  }
  EXPECT_EQ(answers.Answer("GET / HTTP/1.1\r\n", out), std::nullopt);
}

// Echo and bare answer with frames of one length, and so with the sockets' work.
TEST(EchoAnswers, AreAsLongAsTheRightOnes) {
  for (const size_t value_bytes : {kValueBytes, size_t{100}}) {
    EchoAnswers echo(value_bytes);
    BareAnswers bare(1, 20, value_bytes);
    std::vector<Reply> of_echo, of_bare;
    for (const auto& [answers, replies] :
         {std::pair<CqlAnswers*, std::vector<Reply>*>{&echo, &of_echo}, {&bare, &of_bare}}) {
      Lists lists(*answers);
      for (uint64_t number = 0; number < 20; ++number) {
        const std::string value(value_bytes, static_cast<char>('a' + number));
        lists.Insert(1, "user-1", MakeItemKey(kNanos + number, value).value(), value);
      }
      lists.Select(0x1234, "user-1");
      *replies = lists.Ask();
    }
    ASSERT_EQ(of_echo.size(), of_bare.size());
    for (size_t i = 0; i < of_echo.size(); ++i) {
      EXPECT_EQ(of_echo[i].body.size(), of_bare[i].body.size());
      EXPECT_EQ(of_echo[i].opcode, kResultOpcode);
      EXPECT_EQ(of_echo[i].stream, of_bare[i].stream);
    }
    CqlRows rows;
    ASSERT_TRUE(CqlRows::Decode(of_echo.back().body, &rows).ok());
    EXPECT_EQ(rows.size(), 10u);
  }
}

// --- Over sockets -------------------------------------------------------------------------------

// A loop on a thread of its own, until it goes.
class Served {
 public:
  explicit Served(FrameAnswers& answers) : loop_(FrameLoop::Listen(answers).value()) {
    EXPECT_EQ(pipe(input_), 0);
    thread_ = std::thread([this] { EXPECT_TRUE(loop_->Run(input_[0]).ok()); });
  }
  ~Served() {
    close(input_[1]);
    thread_.join();
    close(input_[0]);
  }
  std::string address() const { return absl::StrCat("127.0.0.1:", loop_->port()); }

 private:
  std::unique_ptr<FrameLoop> loop_;
  int input_[2] = {-1, -1};
  std::thread thread_;
};

TEST(FrameLoop, ServesAClientOfTheListModel) {
  BareAnswers answers(10, 20, kValueBytes);
  const Served server(answers);
  const auto client = CqlClient::Connect(server.address());
  ASSERT_TRUE(client.ok()) << client.status();
  for (const std::string& statement : ListModelSchema()) {
    ASSERT_TRUE((*client)->Query(statement).ok());
  }
  const auto none = (*client)->Query("SELECT item_key FROM feature_store.list_items LIMIT 1");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(none->size(), 0u);
  const std::string insert = (*client)->Prepare(kInsertItemStatement).value();
  const std::string key = KeyOf(7), value = ValueOf(7), ttl = CqlInt(60), limit = CqlInt(10);
  CqlRows rows;
  ASSERT_TRUE((*client)
                  ->Execute("adding", insert,
                            std::array<std::string_view, 5>{kFeatureKey, "user-1", key, value, ttl},
                            {}, &rows)
                  .ok());
  const std::string select = (*client)->Prepare(kSelectItemsStatement).value();
  ASSERT_TRUE(
      (*client)
          ->Execute("reading", select,
                    std::array<std::string_view, 4>{kFeatureKey, "user-1", kFirstKey, limit},
                    {.skip_metadata = true}, &rows)
          .ok());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.at(0, 1), key);
}

// Answers of more than sockets hold wait until they are read, and come whole.
TEST(FrameLoop, AClientThatDoesNotReadIsNotReadFrom) {
  constexpr int kRequests = 10'000;
  EchoAnswers answers(1'000);
  const Served server(answers);
  const auto client = CqlClient::Connect(server.address()).value();
  const std::string select = client->Prepare(kSelectItemsStatement).value();
  const std::string limit = CqlInt(10);
  const std::string_view values[] = {kFeatureKey, "user-1", kFirstKey, limit};
  std::thread sender([&] {
    CqlRequests requests;
    for (int i = 0; i < kRequests; ++i) {
      requests.Execute(static_cast<int16_t>(i), select, values, {.skip_metadata = true});
    }
    std::string_view rest = requests.view();
    while (!rest.empty()) {
      const ssize_t sent = send(client->fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      rest.remove_prefix(static_cast<size_t>(sent));
    }
  });
  int answered = 0;
  while (answered < kRequests) {
    ASSERT_TRUE(client->Receive().ok());
    for (CqlReply reply; client->Take(&reply); ++answered) {
      ASSERT_EQ(reply.stream, static_cast<int16_t>(answered));
      ASSERT_EQ(reply.opcode, kResultOpcode);
    }
  }
  sender.join();
}

TEST(FrameLoop, EndsAConnectionThatSendsNoFrames) {
  EchoAnswers answers(kValueBytes);
  const Served server(answers);
  const auto client = CqlClient::Connect(server.address()).value();
  client->requests().Append("GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(client->Send().ok());
  EXPECT_EQ(client->Receive().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(CqlClient::Connect(server.address()).ok()) << "others are served";
}

}  // namespace cql_answers_test
}  // namespace liststore::testing
