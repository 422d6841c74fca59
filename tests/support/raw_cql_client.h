// A CQL client that knows frames and nothing else: sends any bytes, well-formed or not, and reads
// what comes back.
#ifndef LISTSTORE_TESTS_SUPPORT_RAW_CQL_CLIENT_H_
#define LISTSTORE_TESTS_SUPPORT_RAW_CQL_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace liststore::testing {

struct RawFrame {
  uint8_t version = 4;  // with the direction bit when received
  uint8_t flags = 0;
  int16_t stream = 0;
  uint8_t opcode = 0;
  std::string body = {};

  // 9 bytes and the body.
  std::string Bytes() const;
};

// Bodies of requests.
std::string StartupBody(const std::vector<std::pair<std::string, std::string>>& options = {
                            {"CQL_VERSION", "3.0.0"}});
// Without values, consistency ONE.
std::string QueryBody(std::string_view text);
std::string StringListBody(const std::vector<std::string>& texts);
// A [bytes].
std::string BytesBody(std::string_view bytes);

// What an ERROR says.
int32_t ErrorCodeOf(const RawFrame& frame);
std::string ErrorMessageOf(const RawFrame& frame);

// The values of an answer with the rows of one text or blob column, whose metadata names the table
// once. A null is empty. Fails the test when the answer is another.
std::vector<std::string> OneColumnOf(const RawFrame& frame);

// One connection. Blocks; whatever takes longer than 20 s (SetTimeout) ends the test program with a
// message.
// One thread.
class RawCqlClient {
 public:
  // Connects to this machine; `source_port` 0 is any, `receive_buffer_bytes` 0 the system's.
  explicit RawCqlClient(uint16_t port, const std::string& address = "127.0.0.1",
                        uint16_t source_port = 0, int receive_buffer_bytes = 0);
  ~RawCqlClient();
  RawCqlClient(RawCqlClient&& other) noexcept;
  RawCqlClient(const RawCqlClient&) = delete;
  RawCqlClient& operator=(const RawCqlClient&) = delete;

  void SetTimeout(int seconds);
  // A server that does not read or answer in time ends the connection, and not the program.
  void BearLateness() { bears_lateness_ = true; }
  bool is_late() const { return is_late_; }

  // False: the connection has ended.
  bool Send(std::string_view bytes);
  bool Send(const RawFrame& frame) { return Send(frame.Bytes()); }
  // Sends what the socket takes now; returns how much.
  size_t SendSome(std::string_view bytes);
  // The next frame; nullopt: the connection has ended, or is reset.
  std::optional<RawFrame> Read();
  // Something of an answer is there to be read.
  bool HasAnswer() const;
  // The next `bytes`, whatever they are; nullopt: the connection has ended before.
  std::optional<std::string> ReadBytes(size_t bytes);
  // What has come, at least a byte; nullopt: the connection has ended.
  std::optional<std::string> ReadSome();
  // Everything until the connection ends.
  std::string ReadAll();
  // Sends `frame` and reads one.
  std::optional<RawFrame> Ask(const RawFrame& frame);

  // STARTUP; true: READY came.
  bool StartUp(const std::vector<std::pair<std::string, std::string>>& options = {
                   {"CQL_VERSION", "3.0.0"}});
  // QUERY without values.
  std::optional<RawFrame> Query(std::string_view text, int16_t stream = 1);

  void ShutDownWrites();
  // Closes, with what was not read: the server sees a reset.
  void Close();
  uint16_t source_port() const;

 private:
  // False: ended before.
  bool ReadExactly(char* to, size_t bytes);
  // A call to the socket did not come to its end in time.
  void BeLate(const char* expectation);

  int fd_ = -1;
  bool bears_lateness_ = false;
  bool is_late_ = false;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_RAW_CQL_CLIENT_H_
