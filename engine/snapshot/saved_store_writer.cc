#include "engine/snapshot/saved_store_writer.h"

#include <cstring>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/hash.h"
#include "engine/base/status_macros.h"
#include "engine/snapshot/encoding.h"

namespace liststore::snapshot {

uint64_t Checksum(std::string_view bytes, uint64_t seed) { return Hash64(bytes, seed); }

absl::Status SavedStoreWriter::Begin(uint64_t saved_at_nanos, Origin origin,
                                     const FileFormat& format) {
  char header[kFileHeaderBytes] = {};
  std::memcpy(header, format.magic.data(), format.magic.size());
  StoreNative(header + kVersionAt, compresses_ ? format.compressed_version : format.version);
  StoreNative(header + kHeaderBytesAt, static_cast<uint32_t>(kFileHeaderBytes));
  StoreNative(header + kSavedAtAt, saved_at_nanos);
  StoreNative(header + kOriginAt, static_cast<uint8_t>(origin));
  StoreNative(header + kFileChecksumAt, Checksum({header, kFileChecksumAt}, 0));
  return sink_.Append({header, sizeof(header)});
}

absl::Status SavedStoreWriter::WriteBlock(BlockKind kind, std::string& block) {
  LS_CHECK(block.size() >= kBlockHeaderBytes, "a block has room for its header");
  const std::string_view payload = std::string_view(block).substr(kBlockHeaderBytes);
  LS_CHECK(payload.size() <= kPayloadBytesMax, "no row is as long as a payload may be");
  const auto stored_kind = static_cast<uint32_t>(kind);
  if (compresses_ && compressor_.Compress(payload, kBlockHeaderBytes, compressed_)) {
    return Append(stored_kind | kCompressedBlock, compressed_);
  }
  return Append(stored_kind, block);
}

absl::Status SavedStoreWriter::Append(uint32_t kind, std::string& block) {
  const std::string_view payload = std::string_view(block).substr(kBlockHeaderBytes);
  char* const header = block.data();
  StoreNative(header, kind);
  StoreNative(header + kPayloadBytesAt, static_cast<uint32_t>(payload.size()));
  StoreNative(header + kBlockNumberAt, next_block_);
  StoreNative(header + kPayloadChecksumAt, Checksum(payload, next_block_));
  StoreNative(header + kBlockChecksumAt, Checksum({header, kBlockChecksumAt}, next_block_));
  ++next_block_;
  return sink_.Append(block);
}

absl::Status SavedStoreWriter::WriteLists(ListsEncoder& encoder) {
  for (std::string& block : encoder.finished()) {
    LS_RETURN_IF_ERROR(WriteBlock(BlockKind::kLists, block));
  }
  encoder.Reset();
  return absl::OkStatus();
}

absl::Status SavedStoreWriter::WriteTruncation(std::string_view component) {
  std::string block(kBlockHeaderBytes, '\0');
  block.append(component);
  return WriteBlock(BlockKind::kTruncation, block);
}

absl::Status SavedStoreWriter::WriteFeatures(std::span<const Feature> features) {
  std::string block(kBlockHeaderBytes, '\0');
  const auto write_long = [&](size_t bytes) -> absl::Status {
    if (block.size() < kBlockHeaderBytes + bytes) return absl::OkStatus();
    LS_RETURN_IF_ERROR(WriteBlock(BlockKind::kFeatures, block));
    block.resize(kBlockHeaderBytes);
    return absl::OkStatus();
  };
  for (const Feature& feature : features) {
    LS_RETURN_IF_ERROR(write_long(kBlockBytes));
    Put(block, kFeature);
    PutText(block, feature.entity_type);
    PutText(block, feature.feature);
    Put<int64_t>(block, feature.ttl_seconds);
    for (const FeatureVersion& version : feature.versions) {
      LS_RETURN_IF_ERROR(write_long(kBlockBytes));
      Put(block, kFeatureVersion);
      Put(block, static_cast<uint8_t>(version.own_ttl ? 1 : 0));
      PutText(block, version.version);
      Put<int64_t>(block, version.ttl_seconds);
    }
  }
  return write_long(1);
}

absl::Status SavedStoreWriter::End(const Totals& totals) {
  std::string block(kBlockHeaderBytes, '\0');
  Put<uint64_t>(block, totals.lists);
  Put<uint64_t>(block, totals.rows);
  Put<uint64_t>(block, totals.features);
  Put<uint64_t>(block, totals.feature_versions);
  Put<int64_t>(block, totals.last_timestamp_micros);
  return WriteBlock(BlockKind::kEnd, block);
}

}  // namespace liststore::snapshot
