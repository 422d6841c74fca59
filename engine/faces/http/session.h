// HttpSession: a client that speaks HTTP/1.1, and what the sessions of a server share.
#ifndef LISTSTORE_ENGINE_FACES_HTTP_SESSION_H_
#define LISTSTORE_ENGINE_FACES_HTTP_SESSION_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/execute/client_state.h"
#include "engine/execute/request_view.h"
#include "engine/execute/select/work_pace.h"
#include "engine/faces/http/message.h"
#include "engine/faces/http/request_parser.h"
#include "engine/faces/http/resource.h"
#include "engine/faces/http/site.h"
#include "engine/network/session.h"
#include "engine/runtime/event_loop.h"
#include "engine/runtime/worker_pool.h"
#include "liststore/server_notices.h"

namespace liststore::http_face {

// What becomes of a name and a password.
struct LoginResult {
  std::optional<std::string> refusal;  // nullopt: they may come in
  // Wrong passwords came from this address: nothing was compared, and is not before that.
  std::chrono::nanoseconds wait{0};
};
// Called by threads beside the loops. `address`: 4 or 16 bytes.
using LogIn = std::function<LoginResult(const std::string& address, const std::string& user,
                                        const std::string& password)>;

// Constant while the server runs; read by every loop. Outlives the sessions.
struct HttpContext {
  HttpContext(std::unique_ptr<Site> of_port, uint32_t threads, size_t queued_max,
              uint64_t result_bytes_max)
      : site(std::move(of_port)), pool(threads, queued_max), results(result_bytes_max) {}
  // Of resources.
  HttpContext(std::vector<Resource> all, uint32_t threads, size_t queued_max,
              uint64_t result_bytes_max)
      : HttpContext(std::make_unique<ResourceSite>(std::move(all)), threads, queued_max,
                    result_bytes_max) {}

  const std::unique_ptr<Site> site;  // never null
  // What clients speak, for people.
  const char* protocol = "HTTP";
  HttpLimits limits = {};
  // In which a request that has begun comes whole. Answered 408.
  std::chrono::nanoseconds request_time = std::chrono::seconds(10);
  LogIn log_in;  // empty: nobody logs in
  // Called by loops for each client that comes and goes; may be empty.
  std::function<void(const CqlConnectionNotice&)> on_connection;
  // Nobody logs in, and there is no TLS whose certificate would say whom a browser has reached: a
  // page of any name that leads here could ask.
  bool looks_at_host = false;
  // Where answers are made that are not immediate.
  runtime::WorkerPool pool;
  execute::ResultBudget results;
  std::atomic<uint64_t> requests{0};  // that were answered, or begun
  std::atomic<uint64_t> refused{0};   // for want of a thread, or of memory
};

// The loop's thread only.
struct HttpLoop {
  runtime::EventLoop& event_loop;
  HttpContext& server;
  uint64_t next_id = 0;
};

// Owned by its connection, used on its loop only. Requests are answered in their order, one after the
// other; an answer that is not immediate is made on a thread of the pool, and goes out in slices.
class HttpSession final : public network::Session {
 public:
  // `loop` and `client` outlive the session.
  HttpSession(HttpLoop& loop, network::Client& client, network::ClientAddress address);
  ~HttpSession() override;

  Result OnBytes(std::string_view received, const network::Turn& turn) override;
  void OnStop() override { stops_ = true; }
  bool IsEstablished() const override { return has_asked_; }

 private:
  struct Job;

  // Of an answer in one call.
  static constexpr size_t kSliceBytes = size_t{256} << 10;

  void TellOfConnection(bool is_open) const noexcept;
  Result Answer(std::string_view received, const network::Turn& turn);
  // More is to come of the request at the front.
  Result WaitForMore(size_t consumed, const network::Turn& turn);
  void Take(const network::Turn& turn);
  // Memory that the request at hand and its answer take, beside what the network counts.
  size_t HeldBytes() const;
  // As whom statements are run, from this turn on.
  void SetClient(const network::Turn& turn, execute::ClientState& client) const;
  // True: the loop has answered.
  bool AnswerOnLoop(const network::Turn& turn, std::shared_ptr<const execute::RequestMemo>& memo);
  void Begin(std::shared_ptr<const execute::RequestMemo> memo, const network::Turn& turn);
  // Any thread.
  static void Work(Job& job, HttpContext& server);
  static std::optional<HttpAnswer> LogInFor(Job& job, const HttpContext& server);
  // What waits for an answer that is made elsewhere; nullopt: it was taken.
  std::optional<Result> AwaitJob(const network::Turn& turn);
  void Append(HttpAnswer answer, const network::Turn& turn);
  // False: there is more of it.
  bool AppendRest(const network::Turn& turn);

  HttpLoop& loop_;
  network::Client& client_;
  const network::ClientAddress address_;
  const uint64_t id_;
  RequestParser parser_;
  HttpRequest request_;  // that is answered
  std::shared_ptr<Job> job_;
  // Of what the loop answers; nullptr: nothing yet.
  std::unique_ptr<execute::ClientState> on_loop_;
  std::string rest_;  // of a body
  size_t rest_sent_ = 0;
  network::Instant begun_at_ = network::kNever;  // of the request that has begun
  bool has_asked_ = false;
  bool has_written_ = false;
  bool ends_ = false;
  bool is_deaf_ = false;  // its client waits in vain, and so does what it sends behind
  bool stops_ = false;
};

// A client that is not served: its first bytes are answered 503.
class RefusingSession final : public network::Session {
 public:
  explicit RefusingSession(std::string refusal) : refusal_(std::move(refusal)) {}

  Result OnBytes(std::string_view received, const network::Turn& turn) override;
  void OnStop() override {}
  bool IsEstablished() const override { return false; }

 private:
  const std::string refusal_;
};

// Owned by the face, one for each loop.
class HttpSessionFactory final : public network::SessionFactory {
 public:
  // Both outlive the factory.
  HttpSessionFactory(runtime::EventLoop& loop, HttpContext& server)
      : loop_{.event_loop = loop, .server = server} {}

  std::unique_ptr<network::Session> Make(network::Client& client,
                                         network::ClientAddress address) override {
    return std::make_unique<HttpSession>(loop_, client, std::move(address));
  }
  std::unique_ptr<network::Session> MakeRefusing(std::string refusal) override {
    return std::make_unique<RefusingSession>(std::move(refusal));
  }

 private:
  HttpLoop loop_;
};

}  // namespace liststore::http_face

#endif  // LISTSTORE_ENGINE_FACES_HTTP_SESSION_H_
