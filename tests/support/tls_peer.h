// TlsPeer: a client's side of TLS without a socket; RawTlsClient: one with a socket.
#ifndef LISTSTORE_TESTS_SUPPORT_TLS_PEER_H_
#define LISTSTORE_TESTS_SUPPORT_TLS_PEER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tests/support/raw_cql_client.h"
#include "tests/support/test_authority.h"

namespace liststore::testing {

struct TlsPeerOptions {
  // Who has to have signed the server's certificate, in PEM form; empty: anybody.
  std::string ca;
  // What that certificate is for; empty: anything.
  std::string host = "localhost";
  // Its own, if it has one.
  TestCertificate own = {};
  std::string min_version = "1.2";
  std::string max_version = "1.3";
  std::string ciphers = {};  // of TLS 1.2
};

class TlsPeer {
 public:
  explicit TlsPeer(const TlsPeerOptions& options);
  ~TlsPeer();
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  // What is to be sent now.
  std::string Take();
  // What has come from the server.
  void Give(std::string_view bytes);
  // Goes on with the handshake; true: it is done.
  bool Shake();
  void Write(std::string_view text);
  // What the server has said so far.
  std::string Read();
  // Says that nothing follows.
  void SayEnd();
  // TLS 1.2: asks for another handshake; 1.3: for new keys.
  void AskForNewKeys();
  // The server has said that nothing follows.
  bool has_ended() const;
  // Why it has failed, in OpenSSL's words; empty: it has not.
  const std::string& error() const { return error_; }
  std::string protocol() const;
  std::string cipher() const;
  // The name in the server's certificate.
  std::string server_name() const;
  bool has_resumed() const;
  // Resumes with what `other` was given, which has been read from.
  void Resume(const TlsPeer& other);

 private:
  struct Ssl;
  bool Note(int result);

  const std::unique_ptr<Ssl> ssl_;
  std::string error_;
};

class RawTlsClient {
 public:
  // Connects and shakes hands, as far as the server goes along.
  RawTlsClient(uint16_t port, const TlsPeerOptions& options, uint16_t source_port = 0,
               const TlsPeer* resumed = nullptr, int receive_buffer_bytes = 0);

  TlsPeer& peer() { return *peer_; }
  RawCqlClient& socket() { return socket_; }
  bool is_open() const { return is_open_; }

  // False: the connection has ended.
  bool Send(std::string_view text);
  bool Send(const RawFrame& frame) { return Send(frame.Bytes()); }
  // The next `bytes`; nullopt: it has ended before.
  std::optional<std::string> ReadBytes(size_t bytes);
  // Everything until the server ends it.
  std::string ReadAll();
  std::optional<RawFrame> Read();
  std::optional<RawFrame> Ask(const RawFrame& frame);
  bool StartUp();
  std::optional<RawFrame> Query(std::string_view text);

 private:
  // Reads from the socket once. False: it has ended.
  bool Receive();

  std::unique_ptr<TlsPeer> peer_;
  RawCqlClient socket_;
  std::string read_;
  bool is_open_ = false;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_SUPPORT_TLS_PEER_H_
