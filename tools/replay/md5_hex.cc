#include "tools/replay/md5_hex.h"

#include <openssl/evp.h>

#include "engine/base/check.h"

namespace liststore {

void Md5Hex::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }
void Md5Hex::Free::operator()(evp_md_st* digest) const { EVP_MD_free(digest); }

Md5Hex::Md5Hex() : digest_(EVP_MD_fetch(nullptr, "MD5", nullptr)), context_(EVP_MD_CTX_new()) {
  LS_CHECK(digest_ != nullptr, "libcrypto offers MD5");
  LS_CHECK(EVP_DigestInit_ex2(context_.get(), digest_.get(), nullptr) == 1, "a digest starts");
}

void Md5Hex::Add(std::string_view bytes) {
  LS_CHECK(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "a digest goes on");
}

std::string Md5Hex::Finish() {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  LS_CHECK(EVP_DigestFinal_ex(context_.get(), bytes, &length) == 1, "a digest ends");
  LS_CHECK(EVP_DigestInit_ex2(context_.get(), digest_.get(), nullptr) == 1, "a digest starts");
  std::string hex;
  hex.reserve(2 * length);
  for (unsigned int i = 0; i < length; ++i) {
    hex += "0123456789abcdef"[bytes[i] >> 4];
    hex += "0123456789abcdef"[bytes[i] & 15];
  }
  return hex;
}

}  // namespace liststore
