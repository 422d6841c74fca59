// In the steady state a connection does not touch the heap: requests are decoded into a scratch
// that is used again, answers go to a buffer that keeps its memory. Buffers, which use realloc, are
// asked for their capacity.
#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "engine/protocol/compression.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"
#include "tests/protocol/wire.h"
#include "tests/support/counting_new.h"

namespace liststore::protocol {
namespace protocol_allocation_test {

TEST(ProtocolAllocationTest, RequestsAndAnswersReuseTheirMemory) {
  const std::pair<Opcode, std::string> requests[] = {
      {Opcode::kExecute, Bytes("0001 69 0001 27 0002 00000002 6631 00000000 00001388"
                               "00060a24181e4000")},
      {Opcode::kQuery, Bytes("00000001 71 0004 41 0002 0001 61 00000001 31 0001 62 ffffffff")},
      {Opcode::kBatch,
       Bytes("01 0002 00 00000002 7131 0001 00000001 61 01 0002 6964 0000 0004 00")},
      {Opcode::kRegister, Bytes("0001 000d 5354415455535f4348414e4745")},
      {Opcode::kOptions, ""},
  };
  const DataType type = CqlType::kText;
  const ColumnSpec column = {"ks", "t", "c", &type};
  ColumnsMetadata columns;
  ASSERT_FALSE(columns.Assign({&column, 1}));
  RequestScratch scratch;
  Request request;
  OutputBuffer out;
  OutputBuffer compressed;
  const auto serve = [&] {
    out.Clear();
    for (const auto& [opcode, body] : requests) {
      const bool failed =
          DecodeRequest(RequestHeader(opcode), body, {}, scratch, request).has_value();
      ASSERT_FALSE(failed);
    }
    RowsEncoder rows(out, {}, columns, {});
    for (int i = 0; i < 100; ++i) {
      rows.AppendBytes("a value of twenty-four b");
      rows.EndRow();
    }
    const size_t frame = rows.begin();
    rows.Finish("paging state");
    CompressFrame(Compression::kLz4, frame, out, compressed);
  };
  serve();
  const uint64_t before = testing::CountOfNew();
  const size_t capacity = out.capacity();
  const size_t compressed_capacity = compressed.capacity();
  for (int i = 0; i < 10; ++i) serve();
  EXPECT_EQ(testing::CountOfNew(), before);
  EXPECT_EQ(out.capacity(), capacity);
  EXPECT_EQ(compressed.capacity(), compressed_capacity);
}

}  // namespace protocol_allocation_test
}  // namespace liststore::protocol
