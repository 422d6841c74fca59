// A CQL client for the tools: protocol version 4 over one blocking connection, any number of
// requests under way. Encodes requests by itself, so that the server's own encoder does not judge
// the server.
#ifndef LISTSTORE_PROGRAMS_CLIENT_CQL_CLIENT_H_
#define LISTSTORE_PROGRAMS_CLIENT_CQL_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "programs/client/client_socket.h"
#include "programs/client/client_tls.h"

namespace liststore {

// Values of int and bigint, as they are sent.
std::string CqlInt(int32_t value);
std::string CqlBigint(int64_t value);

// Consistencies, as they are sent.
inline constexpr uint16_t kCqlOne = 0x01;
inline constexpr uint16_t kCqlLocalQuorum = 0x06;

// Parameters of a request, beside its values, none of which is null.
struct CqlParameters {
  bool skip_metadata = false;
  int32_t page_size = 0;  // 0: all rows in one answer
  std::string_view paging_state = {};
  // Microseconds since the epoch; absent: the server's.
  std::optional<int64_t> timestamp_micros = std::nullopt;
  uint16_t consistency = kCqlOne;
};

// Values of a request of which some are not set: the columns of these stay as they are.
class CqlValues {
 public:
  void Add(std::string_view value);
  void AddUnset();
  void Clear();

  size_t size() const { return size_; }
  // As they are sent, one behind the other.
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
  size_t size_ = 0;
};

// Who asks, for servers that want to know. Empty: nobody in particular.
struct CqlCredentials {
  std::string user = {};
  std::string password = {};
};

// Requests, appended to a buffer as frames. Batches at consistency ONE.
class CqlRequests {
 public:
  using Values = std::span<const std::string_view>;
  // Of a BATCH.
  struct Execution {
    std::string_view statement_id;
    Values values;
  };

  void Startup(int16_t stream);
  // The answer to AUTHENTICATE, by SASL PLAIN.
  void AuthResponse(int16_t stream, const CqlCredentials& credentials);
  void Query(int16_t stream, std::string_view text, Values values,
             const CqlParameters& parameters = {});
  void Prepare(int16_t stream, std::string_view text);
  void Execute(int16_t stream, std::string_view statement_id, Values values,
               const CqlParameters& parameters = {});
  // At least one value. Of `parameters` the consistency.
  void Execute(int16_t stream, std::string_view statement_id, const CqlValues& values,
               const CqlParameters& parameters);
  // One statement with each of `values`, in this order: at most 65,535, all within a partition.
  void UnloggedBatch(int16_t stream, std::string_view statement_id,
                     std::span<const CqlValues> values, uint16_t consistency);
  // A logged one. At most 65,535 statements.
  void Batch(int16_t stream, std::span<const Execution> executions,
             std::optional<int64_t> timestamp_micros);
  // A frame that was made before.
  void Append(std::string_view frame) { bytes_.append(frame); }

  std::string_view view() const { return bytes_; }
  std::string& bytes() { return bytes_; }
  void Clear() { bytes_.clear(); }

 private:
  void Begin(int16_t stream, uint8_t opcode);
  void End();
  void Short(size_t value);
  void Int(size_t value);
  void Bytes(std::string_view value);
  void AppendValues(Values values);
  void Parameters(Values values, const CqlParameters& parameters);

  std::string bytes_;
  size_t frame_ = 0;  // where the frame that is being made begins
};

// One frame, borrowed from the client until it receives again.
struct CqlReply {
  int16_t stream = 0;
  uint8_t opcode = 0;
  std::string_view body;
};

// What an ERROR says: borrowed from its reply. Source: native_protocol_v4.spec, section 9.
struct CqlErrorReply {
  int32_t code = 0;
  std::string_view text;
};
// nullopt: it is none, or cannot be read.
std::optional<CqlErrorReply> ErrorOf(const CqlReply& reply);

// Of a status of a request that the server refused, its words and their code alone: "error 0x2200: ...".
// Empty: of another one.
std::string ServerWords(const absl::Status& status);

// Rows of an answer; owns them.
class CqlRows {
 public:
  size_t size() const { return columns_ == 0 ? 0 : cells_.size() / columns_; }
  size_t columns() const { return columns_; }
  bool is_null(size_t row, size_t column) const { return Cell(row, column).bytes < 0; }
  // Empty when null.
  std::string_view at(size_t row, size_t column) const;
  // Of an int or bigint; 0 when it has no such length.
  int64_t Integer(size_t row, size_t column) const;
  // Empty: there are no more pages.
  std::string_view paging_state() const { return paging_state_; }
  // Of the RESULT, as it came: with the columns' names and types, where they were not skipped.
  std::string_view body() const { return body_; }

  // Of the body of a RESULT. InvalidArgument:
  // it cannot be read. A RESULT that has no rows, Void and others, gives none.
  static absl::Status Decode(std::string_view body, CqlRows* rows);

 private:
  struct Place {
    size_t offset = 0;
    int32_t bytes = -1;
  };
  const Place& Cell(size_t row, size_t column) const { return cells_[row * columns_ + column]; }

  std::string body_;
  std::vector<Place> cells_;
  size_t columns_ = 0;
  std::string paging_state_;
};

// One connection. One thread. Whatever takes longer than a minute fails.
//
// Statuses name the server and what failed. Unavailable: it cannot be reached, or has closed the
// connection. DeadlineExceeded: no answer. InvalidArgument: it answered with an ERROR, or with what
// is not CQL.
//
// Once sending or receiving has failed, or what came is not CQL, nobody knows which request the next
// answer would belong to: every later use fails with the same status. can_go_on() tells.
class CqlClient {
 public:
  // `server` is HOST:PORT, [IPV6]:PORT for addresses with colons. Returns when requests are taken.
  // Unauthenticated: the server asks for a name and password, and none or others were given.
  // FailedPrecondition: its certificate is not believed.
  static absl::StatusOr<std::unique_ptr<CqlClient>> Connect(std::string_view server,
                                                            const CqlCredentials& credentials = {},
                                                            const ClientTlsOptions& tls = {});

  const std::string& server() const { return socket_->server(); }
  int fd() const { return socket_->fd(); }
  // Of each wait from here on.
  void SetTimeout(std::chrono::seconds timeout = ClientSocket::kTimeout) {
    socket_->SetTimeout(timeout);
  }
  // False: only a new connection helps.
  bool can_go_on() const { return broken_.ok(); }

  // --- One request at a time --------------------------------------------------------------------

  using Values = CqlRequests::Values;
  absl::StatusOr<CqlRows> Query(std::string_view text, Values values = {},
                                const CqlParameters& parameters = {});
  // The statement's id.
  absl::StatusOr<std::string> Prepare(std::string_view text);
  // `rows` is used again from call to call. `what` names the request in messages.
  absl::Status Execute(std::string_view what, std::string_view statement_id, Values values,
                       const CqlParameters& parameters, CqlRows* rows);
  absl::Status Batch(std::string_view what, std::span<const CqlRequests::Execution> executions,
                     std::optional<int64_t> timestamp_micros);

  // --- Many under way ---------------------------------------------------------------------------

  // What Send will write. Streams are the caller's to give.
  CqlRequests& requests() { return requests_; }
  // Writes all requests.
  absl::Status Send();
  // Reads what has arrived, waiting for at least one byte. Ends what replies borrow.
  absl::Status Receive();
  // The next whole reply among what was received; false: receive more.
  bool Take(CqlReply* reply);
  // What replies have said beside since this was asked last: the newest, kWarningsMax at most.
  std::vector<std::string> TakeWarnings() { return std::exchange(warnings_, {}); }
  // The status that an ERROR stands for; OK for other replies.
  absl::Status ErrorIn(const CqlReply& reply, std::string_view what) const;

 private:
  explicit CqlClient(std::unique_ptr<ClientSocket> socket) : socket_(std::move(socket)) {}
  absl::Status Authenticate(const CqlCredentials& credentials);
  // Sends the one request that is there, of stream 0, and waits for its reply.
  absl::StatusOr<CqlReply> Ask(std::string_view what);
  absl::Status Malformed(std::string_view what) const;
  // Notes what ends the use of the connection; returns it.
  absl::Status Break(const absl::Status& why);

  const std::unique_ptr<ClientSocket> socket_;
  static constexpr size_t kWarningsMax = 100;

  CqlRequests requests_;
  std::vector<std::string> warnings_;
  absl::Status broken_ = absl::OkStatus();
};

}  // namespace liststore

#endif  // LISTSTORE_PROGRAMS_CLIENT_CQL_CLIENT_H_
