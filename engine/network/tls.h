// TLS on a server's ports: certificates, and the records of one connection. What the server does
// with OpenSSL is behind this header.
#ifndef LISTSTORE_ENGINE_NETWORK_TLS_H_
#define LISTSTORE_ENGINE_NETWORK_TLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/base/output_buffer.h"
#include "liststore/tls_options.h"

namespace liststore::network {

// What a handshake has agreed on.
struct TlsFacts {
  std::string protocol;      // "TLSv1.3"
  std::string cipher_suite;  // as the standard names it: "TLS_AES_256_GCM_SHA384"
};

// A certificate with its key and what else handshakes begin with; constant.
class TlsContext;

// The server's side of one connection: bytes of the socket <-> bytes of the session. Knows no
// socket. Owned by the connection, used on its loop only. Memory: see held_bytes().
class TlsChannel {
 public:
  enum class State : uint8_t {
    kHandshake,
    kOpen,
    kEnded,   // the client has said that it sends no more
    kFailed,  // what came is no TLS, or is refused
  };

  explicit TlsChannel(std::shared_ptr<const TlsContext> context);
  ~TlsChannel();
  TlsChannel(const TlsChannel&) = delete;
  TlsChannel& operator=(const TlsChannel&) = delete;

  State state() const { return state_; }
  // Nothing more comes out of it.
  bool is_over() const { return state_ == State::kEnded || state_ == State::kFailed; }
  bool has_shaken_hands() const { return has_shaken_hands_; }
  // A byte has come.
  bool has_begun() const { return has_begun_; }

  // Takes all of `received`, which the socket had, and decrypts up to `bytes` to `to`; returns how
  // many. What does not fit is kept for the next call.
  size_t Decrypt(std::string_view received, char* to, size_t bytes);
  // The next Decrypt has something to tell without more from the socket: bytes, or the end.
  bool has_more() const;
  // There is something to be sent that is no session's: a part of the handshake, or an alert.
  bool has_output() const { return !output_.empty(); }
  // Appends that to `out`, then `bytes`, which may be none, encrypted. False: there is no key for
  // `bytes`, as no handshake has come to its end, or the channel has failed.
  [[nodiscard]] bool Encrypt(std::string_view bytes, OutputBuffer& out);
  // Appends what is left to be sent, and that nothing follows.
  void Finish(OutputBuffer& out);

  // Of an open channel.
  TlsFacts facts() const;
  // What the channel takes, about: OpenSSL does not say it.
  size_t held_bytes() const;

 private:
  friend class TlsBio;
  struct Ssl;

  void NoteResult(int result);

  const std::shared_ptr<const TlsContext> context_;
  const std::unique_ptr<Ssl> ssl_;
  std::string_view input_;  // of the call that runs; not decrypted yet
  OutputBuffer kept_;       // what was left of it
  OutputBuffer output_;
  OutputBuffer* sink_ = &output_;  // where OpenSSL writes; in Encrypt, the caller's
  State state_ = State::kHandshake;
  bool has_begun_ = false;
  bool has_shaken_hands_ = false;
};

// What the ports of a server have in common that speak TLS. Outlives their connections' beginnings.
// Thread-safe.
class TlsAcceptor {
 public:
  // InvalidArgument: a file cannot be read or does not hold what it should, the key is not the
  // certificate's, or an option is none; the message names it.
  static absl::StatusOr<std::unique_ptr<TlsAcceptor>> Create(const TlsOptions& options);
  ~TlsAcceptor();
  TlsAcceptor(const TlsAcceptor&) = delete;
  TlsAcceptor& operator=(const TlsAcceptor&) = delete;

  // Reads the files again: new connections have what they hold now, others keep what they have.
  // Errors as those of Create; then nothing has changed. Some ms.
  absl::Status Reload();
  // The same with other options, which are those of the next Reload too.
  absl::Status Reload(const TlsOptions& options);
  // For a client that has just connected. Some 10 us.
  std::unique_ptr<TlsChannel> MakeChannel() const;

 private:
  TlsAcceptor(const TlsOptions& options, std::shared_ptr<const TlsContext> context);

  mutable Mutex mutex_;
  TlsOptions options_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const TlsContext> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace liststore::network

#endif  // LISTSTORE_ENGINE_NETWORK_TLS_H_
