// A saved store as it comes from somewhere: the reader answers, and what it hands on is sound. The
// first byte says what the rest is: 0, a file; else the content of a block, of a kind by it, in a
// file with sound checksums, which a fuzzer cannot find by itself; from 128 on, one that claims to be
// compressed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/check.h"
#include "engine/model/time.h"
#include "engine/snapshot/saved_store_reader.h"
#include "engine/snapshot/saved_store_writer.h"
#include "tests/support/memory_stream.h"

namespace liststore {
namespace {

// Looks at all that it is handed, and writes the lists again.
class CheckingSink final : public snapshot::ContentSink {
 public:
  void OnOrigin(snapshot::Origin) override {}
  absl::Status OnList(const StoredPartition& list, std::span<const StoredRow> rows) override {
    LS_CHECK(!(list.partial && list.kept_empty), "what is kept empty was put whole");
    LS_CHECK(list.fresh_until_seconds >= 0, "a freshness is an instant");
    encoder.OnPartition(list);
    for (const StoredRow& row : rows) {
      char text[kItemKeyTextBytes];
      PackedItemKey packed;
      const std::string_view plain = PlainKey(row.key, text);
      LS_CHECK(PackItemKey(plain, packed.data()) == row.key.packed, "a key that packs is packed");
      LS_CHECK(row.marker.present() || row.tombstone.present() || !row.cells.empty(),
               "a row is something");
      for (const StoredCell& cell : row.cells) {
        LS_CHECK(cell.column == 0 && cell.view.liveness.present(), "a cell was written");
        bytes += cell.view.value.size();
      }
      encoder.OnRow(row);
    }
    encoder.OnPartitionEnd();
    return absl::OkStatus();
  }
  absl::Status OnTruncation(std::string_view component) override {
    bytes += component.size();
    return absl::OkStatus();
  }
  absl::Status OnFeature(const snapshot::Feature& feature) override {
    bytes += feature.feature.size() + feature.versions.size();
    return absl::OkStatus();
  }
  snapshot::ListsEncoder encoder;
  size_t bytes = 0;
};

void Read(std::string_view file) {
  testing::MemorySource source(file);
  CheckingSink sink;
  const auto result = snapshot::ReadSavedStore(source, sink);
  if (!result.ok()) {
    LS_CHECK(!result.status().message().empty(), "a refusal says why");
  } else {
    LS_CHECK(result->bytes == file.size(), "a sound file was read to its end");
  }
}

}  // namespace
}  // namespace liststore

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace liststore;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 0) {
    Read(rest);
    return 0;
  }
  testing::MemorySink file;
  const bool compressed = data[0] >= 128;
  snapshot::SavedStoreWriter writer(
      file, compressed ? SnapshotCompression::kZstd : SnapshotCompression::kNone);
  LS_CHECK(writer.Begin(0, snapshot::Origin::kCopies).ok(), "memory takes all");
  std::string block(snapshot::kBlockHeaderBytes, '\0');
  // Longer ones would be compressed once more.
  block.append(compressed ? rest.substr(0, snapshot::kCompressedBytesMin - 1) : rest);
  const uint32_t kind = (1u + data[0] % 3u) | (compressed ? snapshot::kCompressedBlock : 0u);
  LS_CHECK(writer.WriteBlock(static_cast<snapshot::BlockKind>(kind), block).ok(),
           "memory takes all");
  LS_CHECK(writer.End({}).ok(), "memory takes all");
  Read(file.bytes);
  return 0;
}
