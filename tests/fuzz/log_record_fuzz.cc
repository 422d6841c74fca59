// A record of the commit log as it comes from somewhere: it is decoded or refused, and what is decoded says
// the same when it is encoded again. The first byte says of which kind it is.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/commitlog/record_decoder.h"
#include "engine/commitlog/record_encoder.h"

namespace liststore::commitlog {
namespace {

CommandBody BodyOf(const RecordedWrite& write) {
  switch (write.kind) {
    case BodyKind::kHotItem:
    case BodyKind::kUpsert:
      return UpsertCommand{write.rows};
    case BodyKind::kDeleteRows:
      return DeleteRowsCommand{write.keys};
    case BodyKind::kDeleteRange:
      return DeleteRangeCommand{write.range};
    case BodyKind::kDeletePartition:
      return DeletePartitionCommand{};
    case BodyKind::kPut:
      return PutCommand{write.rows, write.fresh_until_seconds, {}};
    case BodyKind::kForget:
      return ForgetCommand{};
  }
  LS_UNREACHABLE("the decoder knows all kinds");
}

void Write(std::string_view record) {
  WriteDecoder decoder;
  RecordedWrite write;
  if (!decoder.Decode(record, write)) return;
  std::string again;
  AppendWrite(write.table, write.partition_key, BodyOf(write), write.write, write.grace, again);
  WriteDecoder second;
  RecordedWrite same;
  LS_CHECK(second.Decode(again, same), "what was encoded is a record");
  std::string third;
  AppendWrite(same.table, same.partition_key, BodyOf(same), same.write, same.grace, third);
  LS_CHECK(again == third, "a record says the same again");
}

}  // namespace
}  // namespace liststore::commitlog

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore::commitlog;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::string_view record(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      Write(record);
      break;
    case 1:
      if (auto part = BatchPartReader::Open(record)) {
        for (std::string_view write; part->Next(write);) Write(write);
      }
      break;
    case 2:
      (void)DecodeTruncation(record);
      break;
    default:
      (void)DecodeBarrier(record);
  }
  return 0;
}
