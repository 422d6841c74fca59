// The wire format: what a request costs to decode and an answer to encode, without sockets.
//
// The EXECUTE is a read of a list as a driver sends it: four values, 137 bytes with its header. The
// answer is a page of rows of an item key (44 characters) and a value (24 bytes).
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "benchmark/benchmark.h"

#include "engine/base/check.h"
#include "engine/protocol/compression.h"
#include "engine/protocol/frame.h"
#include "engine/protocol/request.h"
#include "engine/protocol/response.h"

namespace liststore::protocol {
namespace {

constexpr std::string_view kItemKey = "0001724949845123456#XUFAKrxLKna5cZ2REBfFkg==";
constexpr std::string_view kValue = "a value of twenty-four b";

std::string ExecuteFrame() {
  OutputBuffer body;
  AppendShortBytes(body, "0123456789abcdef");
  AppendConsistency(body, Consistency::kLocalOne);
  body.AppendByte(0x01 | 0x02 | 0x04 | 0x20);
  body.AppendBigEndian16(4);
  AppendBytes(body, "user#clicks_of_the_last_week|v2");
  AppendBytes(body, "entity-0123456-7890abcd");
  AppendBytes(body, "0001724949845123456");
  AppendBytes(body, std::string_view("\0\0\0\x0a", 4));
  AppendInt(body, 5000);
  body.AppendBigEndian64(1'700'000'000'000'000);
  OutputBuffer frame;
  char* const header = frame.Extend(kFrameHeaderBytes);
  StoreResponseHeader(header, ProtocolVersion::kV4, 0, 1, Opcode::kExecute,
                      static_cast<uint32_t>(body.size()));
  header[0] = static_cast<char>(ProtocolVersion::kV4);
  frame.Append(body.view());
  LS_CHECK(frame.size() == 137, "the frame is the one that figures are given for");
  return std::string(frame.view());
}

void DecodeExecute(benchmark::State& state) {
  const std::string received = ExecuteFrame();
  FrameCutter cutter;
  RequestScratch scratch;
  Request request;
  Frame frame;
  for (auto _ : state) {
    std::string_view stream = received;
    benchmark::DoNotOptimize(stream);
    LS_CHECK(cutter.Next(stream, frame) == FrameCutter::Outcome::kFrame, "a whole frame");
    LS_CHECK(!DecodeRequest(frame.header, frame.body, {}, scratch, request), "a good request");
    benchmark::DoNotOptimize(request);
  }
}
BENCHMARK(DecodeExecute);

ColumnsMetadata ItemColumns() {
  const DataType text = CqlType::kText;
  const DataType blob = CqlType::kBlob;
  const ColumnSpec specs[] = {{"ks", "list_items", "item_key", &text},
                              {"ks", "list_items", "value", &blob}};
  ColumnsMetadata columns;
  LS_CHECK(!columns.Assign(specs), "short names fit");
  return columns;
}

void EncodeRows(OutputBuffer& out, const ColumnsMetadata& columns, int64_t rows,
                std::string_view paging_state) {
  RowsEncoder encoder(out, {}, columns, {.skip_metadata = true});
  for (int64_t row = 0; row < rows; ++row) {
    encoder.AppendBytes(kItemKey);
    encoder.AppendBytes(kValue);
    encoder.EndRow();
  }
  encoder.Finish(paging_state);
}

// Rows of 76 bytes; with `paging`, a paging state of 110 bytes is inserted at the end.
void EncodeRows(benchmark::State& state) {
  const ColumnsMetadata columns = ItemColumns();
  const std::string paging_state(state.range(1) != 0 ? 110 : 0, 'p');
  OutputBuffer out;
  for (auto _ : state) {
    out.Clear();
    EncodeRows(out, columns, state.range(0), paging_state);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size()));
}
BENCHMARK(EncodeRows)->ArgNames({"rows", "paging"})->ArgsProduct({{1, 10, 100, 5000}, {0, 1}});

// What the answer above costs at the least: its bytes, copied once.
void CopyRows(benchmark::State& state) {
  OutputBuffer encoded;
  EncodeRows(encoded, ItemColumns(), state.range(0), {});
  OutputBuffer out;
  for (auto _ : state) {
    out.Clear();
    out.Append(encoded.view());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(CopyRows)->ArgName("rows")->Arg(10)->Arg(5000);

void Compress(benchmark::State& state) {
  const auto compression = static_cast<Compression>(state.range(0));
  OutputBuffer encoded;
  EncodeRows(encoded, ItemColumns(), 100, {});
  OutputBuffer out;
  OutputBuffer scratch;
  for (auto _ : state) {
    out.Clear();
    out.Append(encoded.view());
    CompressFrame(compression, 0, out, scratch);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(encoded.size()));
}
BENCHMARK(Compress)
    ->ArgName("compression")
    ->Arg(static_cast<int64_t>(Compression::kLz4))
    ->Arg(static_cast<int64_t>(Compression::kSnappy));

}  // namespace
}  // namespace liststore::protocol
