#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/strings.h"
#include "engine/protocol/decode.h"

namespace liststore::protocol {

std::optional<std::string_view> Startup::Option(std::string_view key) const {
  for (const StringPair& option : options) {
    if (option.key == key) return option.value;
  }
  return std::nullopt;
}

// <options: string map>. Nothing in it is required, CQL_VERSION neither: drivers send all kinds of
// values, and ScyllaDB does not look.
void DecodeStartup(BodyReader& body, DecodeContext& context, Startup& startup) {
  context.scratch.has_values_alone = false;
  const size_t count = body.ReadShort();
  for (size_t i = 0; i < count && body.ok(); ++i) {
    const std::string_view key = body.ReadString();
    context.scratch.options.push_back({key, body.ReadString()});
  }
  if (!body.ok()) return;
  startup.options = context.scratch.options;
  startup.extensions = ExtensionsOf(startup.options);
  if (const std::optional<std::string_view> name = startup.Option("COMPRESSION")) {
    const std::optional<Compression> compression = ParseCompression(*name);
    if (!compression) {
      return body.Fail(
          {ErrorCode::kProtocolError,
           absl::StrCat("Unknown compression algorithm: ", absl::AsciiStrToLower(ToAbsl(*name)))});
    }
    startup.compression = *compression;
  }
}

}  // namespace liststore::protocol
