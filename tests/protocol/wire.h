// What tests of the wire format write bytes with.
#ifndef LISTSTORE_TESTS_PROTOCOL_WIRE_H_
#define LISTSTORE_TESTS_PROTOCOL_WIRE_H_

#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/base/output_buffer.h"
#include "engine/protocol/frame.h"
#include "tests/support/vectors.h"

namespace liststore::protocol {

// Bytes from hexadecimal digits, with spaces wherever they help.
inline std::string Bytes(std::string_view hex) {
  std::string digits;
  for (const char c : hex) {
    if (c != ' ') digits += c;
  }
  return testing::FromHex(digits);
}

// What is in a buffer, as digits without spaces, and the same of what is expected.
inline std::string Hex(const OutputBuffer& out) { return testing::ToHex(out.view()); }
inline std::string Hex(std::string_view hex_with_spaces) {
  return testing::ToHex(Bytes(hex_with_spaces));
}

// The header of a request of version 4 on stream 0.
inline FrameHeader RequestHeader(Opcode opcode, ProtocolVersion version = ProtocolVersion::kV4,
                                 uint8_t flags = 0) {
  FrameHeader header;
  header.version = version;
  header.flags = flags;
  header.opcode = static_cast<uint8_t>(opcode);
  return header;
}

}  // namespace liststore::protocol

#endif  // LISTSTORE_TESTS_PROTOCOL_WIRE_H_
