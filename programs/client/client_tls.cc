#include "programs/client/client_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

template <auto function>
struct FreeTls {
  template <typename T>
  void operator()(T* object) const {
    function(object);
  }
};
using ClientContext = std::unique_ptr<SSL_CTX, FreeTls<SSL_CTX_free>>;
using ClientSsl = std::unique_ptr<SSL, FreeTls<SSL_free>>;

std::string LastReason() {
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string text = reason == nullptr ? "OpenSSL does not say why" : reason;
  ERR_clear_error();
  return text;
}

// OpenSSL's words for a file that is not there name its own functions.
absl::Status CheckReadable(const char* what, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(what, " ", path, ": ", strerror(errno)));
  }
  std::fclose(file);
  return absl::OkStatus();
}

absl::Status FileError(const char* what, const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat(what, " ", path, ": ", LastReason()));
}

// Otherwise OpenSSL would ask for a passphrase at the terminal.
int HasNoPassphrase(char* /*to*/, int /*size*/, int /*for_writing*/, void* /*data*/) { return -1; }

absl::Status UseFiles(SSL_CTX* context, const ClientTlsOptions& options) {
  ERR_clear_error();
  if (!options.trusts_anybody) {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (options.ca_file.empty()) {
      SSL_CTX_set_default_verify_paths(context);
      ERR_clear_error();
    } else {
      LS_RETURN_IF_ERROR(CheckReadable("TLS CA", options.ca_file));
      if (SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1) {
        return FileError("TLS CA", options.ca_file);
      }
    }
  }
  if (options.certificate_file.empty()) {
    if (options.key_file.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("TLS key ", options.key_file, ": no certificate is given that it is of"));
  }
  constexpr const char* kCertificate = "TLS certificate";
  LS_RETURN_IF_ERROR(CheckReadable(kCertificate, options.certificate_file));
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate_file.c_str()) != 1) {
    return FileError(kCertificate, options.certificate_file);
  }
  const std::string& key = options.key_file.empty() ? options.certificate_file : options.key_file;
  LS_RETURN_IF_ERROR(CheckReadable("TLS key", key));
  SSL_CTX_set_default_passwd_cb(context, HasNoPassphrase);
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return FileError("TLS key", key);
  }
  return absl::OkStatus();
}

// The certificate has to be for `host`; a server that has several is told which is wanted.
absl::Status SetHost(SSL* ssl, const ClientTlsOptions& options, const std::string& host) {
  ASN1_OCTET_STRING* const address = a2i_IPADDRESS(host.c_str());
  const bool is_address = address != nullptr;
  ASN1_OCTET_STRING_free(address);
  ERR_clear_error();
  bool done = is_address || SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
  if (!options.trusts_anybody) {
    X509_VERIFY_PARAM* const wanted = SSL_get0_param(ssl);
    done = done && (is_address ? X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1
                               : SSL_set1_host(ssl, host.c_str()) == 1);
  }
  if (done) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("'", host, "' is no name that a certificate has"));
}

}  // namespace

struct ClientTls::Parts {
  ClientContext context;
  ClientSsl ssl;
  BIO* from_server = nullptr;  // of the ssl
  BIO* to_server = nullptr;    // of the ssl
  std::vector<char> output;
};

absl::StatusOr<std::unique_ptr<ClientTls>> ClientTls::Create(const ClientTlsOptions& options,
                                                             const std::string& host) {
  auto parts = std::make_unique<Parts>();
  parts->context.reset(SSL_CTX_new(TLS_client_method()));
  if (parts->context == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("TLS: ", LastReason()));
  }
  SSL_CTX_set_min_proto_version(parts->context.get(), TLS1_2_VERSION);
  LS_RETURN_IF_ERROR(UseFiles(parts->context.get(), options));
  parts->ssl.reset(SSL_new(parts->context.get()));
  parts->from_server = BIO_new(BIO_s_mem());
  parts->to_server = BIO_new(BIO_s_mem());
  LS_CHECK(parts->ssl != nullptr && parts->from_server != nullptr && parts->to_server != nullptr,
           "there is memory for a connection");
  SSL_set_bio(parts->ssl.get(), parts->from_server, parts->to_server);
  SSL_set_connect_state(parts->ssl.get());
  LS_RETURN_IF_ERROR(SetHost(parts->ssl.get(), options, host));
  return std::unique_ptr<ClientTls>(new ClientTls(std::move(parts)));
}

ClientTls::ClientTls(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ClientTls::~ClientTls() = default;

absl::Status ClientTls::Failure(int result) const {
  if (result == SSL_ERROR_ZERO_RETURN) return absl::UnavailableError("connection closed");
  const long verified = SSL_get_verify_result(parts_->ssl.get());
  if (verified != X509_V_OK) {
    ERR_clear_error();
    return absl::FailedPreconditionError(absl::StrCat("the server's certificate is not believed: ",
                                                      X509_verify_cert_error_string(verified)));
  }
  return absl::UnavailableError(absl::StrCat("TLS: ", LastReason()));
}

absl::StatusOr<bool> ClientTls::ShakeHands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(parts_->ssl.get());
  if (result == 1) return true;
  const int kind = SSL_get_error(parts_->ssl.get(), result);
  if (kind == SSL_ERROR_WANT_READ) return false;
  return Failure(kind);
}

absl::StatusOr<std::string_view> ClientTls::Encrypt(std::string_view bytes) {
  size_t written = 0;
  ERR_clear_error();
  if (!bytes.empty()) {
    const int result = SSL_write_ex(parts_->ssl.get(), bytes.data(), bytes.size(), &written);
    if (result != 1) return Failure(SSL_get_error(parts_->ssl.get(), result));
  }
  return TakeOutput();
}

std::string_view ClientTls::TakeOutput() {
  parts_->output.resize(BIO_ctrl_pending(parts_->to_server));
  size_t read = 0;
  if (!parts_->output.empty()) {
    BIO_read_ex(parts_->to_server, parts_->output.data(), parts_->output.size(), &read);
  }
  return {parts_->output.data(), read};
}

void ClientTls::Give(std::string_view received) {
  size_t written = 0;
  LS_CHECK(BIO_write_ex(parts_->from_server, received.data(), received.size(), &written) == 1 &&
               written == received.size(),
           "memory takes what it is given");
}

absl::Status ClientTls::Decrypt(std::vector<char>* buffer, size_t* end) {
  ERR_clear_error();
  const size_t begin = *end;
  while (true) {
    if (*end == buffer->size()) buffer->resize(2 * buffer->size());
    size_t count = 0;
    const int result =
        SSL_read_ex(parts_->ssl.get(), buffer->data() + *end, buffer->size() - *end, &count);
    if (result == 1) {
      *end += count;
      continue;
    }
    const int kind = SSL_get_error(parts_->ssl.get(), result);
    // What came before the end is dealt with first.
    if (kind == SSL_ERROR_WANT_READ || *end > begin) return absl::OkStatus();
    return Failure(kind);
  }
}

}  // namespace liststore
