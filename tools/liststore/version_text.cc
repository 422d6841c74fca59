#include "tools/liststore/version_text.h"

#include <openssl/crypto.h>
#if defined(__linux__)
#include <link.h>
#include <sys/auxv.h>
#endif
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#include "absl/base/config.h"
#include "absl/strings/str_cat.h"
#include "liststore/version.h"

namespace liststore {
namespace {

// A program that needs libraries names the loader that brings them; one that needs none names none.
bool NamesALoader() {
#if defined(__linux__)
  const auto* const headers = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
  const size_t count = getauxval(AT_PHNUM);
  for (size_t i = 0; headers != nullptr && i < count; ++i) {
    if (headers[i].p_type == PT_INTERP) return true;
  }
  return false;
#else
  return true;
#endif
}

}  // namespace

std::string VersionText() {
  // Of OpenSSL and libc those that run, which may be others than those that were compiled with.
  std::string text = absl::StrCat("liststore ", kVersion, "\n", OpenSSL_version(OPENSSL_VERSION));
#if defined(ABSL_LTS_RELEASE_VERSION) && ABSL_LTS_RELEASE_VERSION > 0
  absl::StrAppend(&text, ", Abseil ", ABSL_LTS_RELEASE_VERSION);
#else
  absl::StrAppend(&text, ", Abseil without a version");
#endif
#if defined(__GLIBC__)
  absl::StrAppend(&text, ", glibc ", gnu_get_libc_version());
#endif
  absl::StrAppend(&text, NamesALoader() ? ", linked dynamically" : ", linked statically");
  return text;
}

}  // namespace liststore
