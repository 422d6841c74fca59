// Values of C++ -> values in the protocol's encoding, for those who compute them. Text and blobs
// are their own encoding. Source: native_protocol_v4.spec, section 6.
#ifndef LISTSTORE_ENGINE_CQL_VALUES_ENCODE_VALUE_H_
#define LISTSTORE_ENGINE_CQL_VALUES_ENCODE_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/schema.h"
#include "engine/model/types/cql_type.h"
#include "engine/model/types/uuid.h"

namespace liststore::cql {

std::string EncodeInt(int32_t value);
std::string EncodeBigint(int64_t value);
std::string EncodeFloat(float value);
std::string EncodeDouble(double value);
// The low bytes of `value` as an integer of `type`: tinyint, smallint, int, bigint, or counter.
std::string EncodeInteger(int64_t value, CqlType type);
// Of an encoding of any length but none, and its sign: the low 8 bytes of a longer one.
int64_t DecodeInteger(std::string_view bytes);
std::string EncodeBoolean(bool value);
std::string EncodeUuid(const Uuid& value);
// `address` is 4 or 16 bytes in network order.
std::string EncodeInet(std::string_view address);
// A timestamp, which is in milliseconds, of nanoseconds since the Unix epoch.
std::string EncodeTimestamp(uint64_t nanos);

std::string EncodeTextList(const std::vector<std::string>& elements);
// In order and without duplicates, whatever comes in.
std::string EncodeTextSet(std::vector<std::string> elements);
std::string EncodeTextMap(const PropertyMap& entries);

}  // namespace liststore::cql

#endif  // LISTSTORE_ENGINE_CQL_VALUES_ENCODE_VALUE_H_
