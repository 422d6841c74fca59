#include "engine/durable/full_snapshot.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/big_endian.h"
#include "engine/base/byte_coding.h"
#include "engine/base/check.h"
#include "engine/base/heap_refusal.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/base/worker_thread.h"
#include "engine/command/status_conversion.h"
#include "engine/disk/file_source.h"
#include "engine/disk/whole_file_writer.h"
#include "engine/snapshot/block_reader.h"
#include "engine/snapshot/encoding.h"
#include "engine/snapshot/rows_decoder.h"
#include "engine/snapshot/rows_encoder.h"
#include "engine/snapshot/rows_format.h"
#include "engine/snapshot/saved_store_writer.h"

namespace liststore::durable {
namespace {

using snapshot::Block;
using snapshot::BlockKind;
using snapshot::Damaged;
using snapshot::kBlockBytes;
using snapshot::kBlockHeaderBytes;

// --- Writing -------------------------------------------------------------------------------------

// Definitions: run 4, shards 4, lanes of each, as a power of 2, 4, tables 4; each log's position 8; of each
// table its id 2 + 4, its names; the text. Blocks are its pieces.
std::string EncodeDefinitions(const shard::Engine& engine, const SnapshotContent& content,
                              std::span<const uint64_t> positions) {
  const shard::Router& router = engine.router();
  std::string out;
  Put(out, engine.log_run());
  Put(out, router.shards());
  Put(out, static_cast<uint32_t>(std::countr_zero(router.lanes_per_shard())));
  Put(out, static_cast<uint32_t>(content.tables.size()));
  for (uint32_t i = 0; i < router.shards(); ++i) {
    Put<uint64_t>(out, i < positions.size() ? positions[i] : 0);
  }
  for (const SnapshotTable& table : content.tables) {
    Put(out, table.id.value);
    Put(out, table.id.generation);
    PutText(out, table.keyspace);
    PutText(out, table.name);
  }
  out.append(content.definitions);
  return out;
}

absl::Status WritePieces(snapshot::SavedStoreWriter& writer, BlockKind kind, std::string_view bytes,
                         size_t piece_bytes) {
  std::string block;
  for (size_t at = 0; at < bytes.size() || at == 0; at += piece_bytes) {
    block.assign(kBlockHeaderBytes, '\0');
    block.append(bytes.substr(at, piece_bytes));
    LS_RETURN_IF_ERROR(writer.WriteBlock(kind, block));
  }
  return absl::OkStatus();
}

absl::Status WriteRows(snapshot::SavedStoreWriter& writer, snapshot::RowsEncoder& encoder) {
  for (std::string& block : encoder.finished()) {
    LS_RETURN_IF_ERROR(writer.WriteBlock(BlockKind::kRows, block));
  }
  encoder.Reset();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WrittenSnapshot> WriteSnapshot(
    disk::FileCalls& calls, const std::string& path, shard::Engine& engine, uint64_t now_nanos,
    absl::FunctionRef<SnapshotContent()> content,
    absl::FunctionRef<absl::Status(std::span<const uint64_t>)> keep,
    absl::FunctionRef<void()> between_slices, SnapshotCompression compression) {
  WrittenSnapshot written;
  written.positions = engine.LogPositions();
  const SnapshotContent what = content();
  disk::WholeFileWriter file(calls, path);
  LS_RETURN_IF_ERROR(file.Open());
  snapshot::SavedStoreWriter writer(file, compression);
  LS_RETURN_IF_ERROR(writer.Begin(now_nanos, snapshot::Origin::kUnknown, snapshot::kFullSnapshot));
  LS_RETURN_IF_ERROR(WritePieces(writer, BlockKind::kDefinitions,
                                 EncodeDefinitions(engine, what, written.positions), kBlockBytes));
  snapshot::RowsEncoder encoder;
  std::string parts;
  for (uint32_t i = 0; i < what.tables.size(); ++i) {
    encoder.BeginTable(i, engine.PacksItemKeys(what.tables[i].id));
    for (shard::CopyPosition position; !position.done;) {
      shard::CopiedPart part;
      const OpStatus status =
          engine.CopyPart(what.tables[i].id, now_nanos, position, encoder, part);
      if (status != OpStatus::kOk) {
        return absl::FailedPreconditionError(absl::StrCat("table ", what.tables[i].keyspace, ".",
                                                          what.tables[i].name, " went meanwhile"));
      }
      Put(parts, i);
      Put(parts, part.lane);
      Put(parts, part.last_address);
      Put(parts, part.position);
      LS_RETURN_IF_ERROR(WriteRows(writer, encoder));
      between_slices();
    }
    encoder.Finish();
    LS_RETURN_IF_ERROR(WriteRows(writer, encoder));
  }
  const uint64_t part_count = parts.size() / snapshot::kPartBytes;
  constexpr size_t kPartsPerBlock = kBlockBytes / snapshot::kPartBytes;
  LS_RETURN_IF_ERROR(
      WritePieces(writer, BlockKind::kParts, parts, kPartsPerBlock * snapshot::kPartBytes));
  written.partitions = encoder.partitions();
  written.rows = encoder.rows();
  std::string end(kBlockHeaderBytes, '\0');
  Put<uint64_t>(end, written.partitions);
  Put<uint64_t>(end, written.rows);
  Put<uint64_t>(end, part_count);
  // Read last, so that it is above every copied timestamp.
  Put<int64_t>(end, engine.LastTimestamp().micros);
  LS_RETURN_IF_ERROR(writer.WriteBlock(BlockKind::kEnd, end));
  LS_RETURN_IF_ERROR(keep(engine.LogPositions()));
  written.bytes = file.bytes();
  LS_RETURN_IF_ERROR(file.Publish(/*sync=*/true));
  return written;
}

// --- Reading -------------------------------------------------------------------------------------

namespace {

bool DecodeDefinitions(std::string_view bytes, LoadedSnapshot& loaded) {
  ByteReader input(bytes);
  loaded.run = input.Take<uint32_t>();
  const auto shards = input.Take<uint32_t>();
  const auto lanes_log2 = input.Take<uint32_t>();
  const auto tables = input.Take<uint32_t>();
  if (input.bad() || shards == 0 || shards > shard::Router::kShardsMax ||
      lanes_log2 > shard::Router::kLanesPerShardLog2Max || tables > shard::Engine::kTablesMax) {
    return false;
  }
  loaded.copied = shard::CopiedParts(shards, lanes_log2, loaded.run);
  for (uint32_t i = 0; i < shards; ++i) loaded.positions.push_back(input.Take<uint64_t>());
  for (uint32_t i = 0; i < tables && !input.bad(); ++i) {
    SnapshotTable& table = loaded.content.tables.emplace_back();
    table.id.value = input.Take<uint16_t>();
    table.id.generation = input.Take<uint32_t>();
    table.keyspace = std::string(input.TakeText());
    table.name = std::string(input.TakeText());
  }
  loaded.content.definitions = std::string(input.rest());
  return !input.bad();
}

// Blocks for several threads: each has its bytes to itself.
class SharedReader {
 public:
  explicit SharedReader(disk::ByteSource& source) : blocks_(source, snapshot::kFullSnapshot) {}

  snapshot::BlockReader& blocks() { return blocks_; }

  // Rows alone, as they are stored; false: another block has come, which is kept in first_other(), or somebody
  // has failed.
  absl::StatusOr<bool> NextRows(Block& block, std::string& bytes) {
    const MutexLock lock(mutex_);
    if (ended_) return false;
    const absl::Status status = blocks_.ReadStoredBlock(block);
    ended_ = !status.ok() || block.kind != BlockKind::kRows;
    LS_RETURN_IF_ERROR(status);
    if (ended_) {
      LS_RETURN_IF_ERROR(other_unpacker_.Unpack(block));
      other_ = block;
      return false;
    }
    bytes.assign(block.payload);
    block.payload = bytes;
    return true;
  }
  void Stop() {
    const MutexLock lock(mutex_);
    ended_ = true;
  }
  const Block& first_other() const { return other_; }

 private:
  Mutex mutex_;
  snapshot::BlockReader blocks_;
  bool ended_ = false;
  Block other_;
  snapshot::BlockUnpacker other_unpacker_;
};

// Puts rows into the engine, or, without one, looks at them. One for each thread.
class RowsLoader final : public snapshot::RowsSink {
 public:
  RowsLoader(shard::Engine* engine, std::span<const std::optional<TableId>> tables,
             uint64_t now_nanos)
      : engine_(engine), tables_(tables), now_nanos_(now_nanos) {}

  absl::Status OnRows(uint32_t table, const StoredPartition& partition,
                      std::span<const StoredRow> rows) override {
    return Put(table, partition, rows);
  }
  absl::Status OnItems(uint32_t table, const StoredPartition& partition,
                       std::span<const HotRow> rows) override {
    return Put(table, partition, rows);
  }

 private:
  template <typename Row>
  absl::Status Put(uint32_t table, const StoredPartition& partition, std::span<const Row> rows) {
    if (table >= tables_.size()) {
      return absl::DataLossError(
          absl::StrCat("a partition of table ", table, " of ", tables_.size()));
    }
    if (engine_ == nullptr) return absl::OkStatus();
    if (!tables_[table]) return absl::OkStatus();  // nobody wants it
    const OpStatus status = engine_->RestoreRecorded(*tables_[table], partition, rows, now_nanos_);
    if (status == OpStatus::kOk) return absl::OkStatus();
    if (status == OpStatus::kBadRecord) {
      return absl::DataLossError("a partition does not fit the columns of its table");
    }
    if (status == OpStatus::kOutOfMemory) {
      return absl::ResourceExhaustedError(
          absl::StrCat("does not fit: ", engine_->memory_refusal().Text()));
    }
    return ToStatus(status, engine_->memory_refusal());
  }

  shard::Engine* const engine_;
  const std::span<const std::optional<TableId>> tables_;
  const uint64_t now_nanos_;
};

absl::Status LoadRows(SharedReader& reader, snapshot::RowsDecoder& decoder) try {
  Block block;
  std::string bytes;
  snapshot::BlockUnpacker unpacker;
  while (true) {
    LS_ASSIGN_OR_RETURN(const bool more, reader.NextRows(block, bytes));
    if (!more) return absl::OkStatus();
    LS_RETURN_IF_ERROR(unpacker.Unpack(block));
    LS_RETURN_IF_ERROR(decoder.Decode(block));
  }
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

// All blocks of rows, by so many threads.
absl::Status LoadAllRows(SharedReader& reader, shard::Engine* engine,
                         std::span<const std::optional<TableId>> tables, uint32_t threads,
                         LoadedSnapshot& loaded) {
  struct Worker {
    Worker(shard::Engine* into, std::span<const std::optional<TableId>> ids, uint64_t now_nanos)
        : loader(into, ids, now_nanos), decoder(loader) {}
    RowsLoader loader;
    snapshot::RowsDecoder decoder;
    absl::Status status;
    std::thread thread;
  };
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint32_t i = 0; i < std::max<uint32_t>(threads, 1); ++i) {
    workers.push_back(std::make_unique<Worker>(engine, tables, loaded.taken_at_nanos));
  }
  const auto run = [&](Worker& worker) {
    worker.status = LoadRows(reader, worker.decoder);
    if (!worker.status.ok()) reader.Stop();
  };
  for (size_t i = 1; i < workers.size(); ++i) {
    // Fewer do it too.
    auto thread = StartThread("load", [&run, &worker = *workers[i]] { run(worker); });
    if (thread.ok()) workers[i]->thread = *std::move(thread);
  }
  run(*workers[0]);
  for (const auto& worker : workers) {
    if (worker->thread.joinable()) worker->thread.join();
  }
  for (const auto& worker : workers) {
    LS_RETURN_IF_ERROR(worker->status);
    loaded.partitions += worker->decoder.partitions();
    loaded.rows += worker->decoder.rows();
  }
  return absl::OkStatus();
}

absl::Status TakeParts(const Block& block, std::span<const SnapshotTable> tables, uint32_t lanes,
                       std::vector<shard::CopiedPart>& parts) {
  for (size_t at = 0; at < block.payload.size(); at += snapshot::kPartBytes) {
    if (block.payload.size() - at < snapshot::kPartBytes) {
      return Damaged(block.payload_at + at, block.number, "a part passes the end of its block");
    }
    const char* const from = block.payload.data() + at;
    const auto table = LoadNative<uint32_t>(from);
    shard::CopiedPart part;
    part.lane = LoadNative<uint32_t>(from + 4);
    part.last_address = LoadNative<uint64_t>(from + 8);
    part.position = LoadNative<uint64_t>(from + 16);
    if (table >= tables.size() || part.lane >= lanes) {
      return Damaged(block.payload_at + at, block.number, "a part of no table or lane");
    }
    part.table = tables[table].id;
    parts.push_back(part);
  }
  return absl::OkStatus();
}

absl::Status CheckEnd(const Block& end, const LoadedSnapshot& loaded, size_t parts,
                      int64_t& last_timestamp) {
  if (end.payload.size() != snapshot::kFullEndBytes) {
    return Damaged(end.payload_at, end.number, "an end record of another length");
  }
  const char* const from = end.payload.data();
  last_timestamp = LoadNative<int64_t>(from + 24);
  const auto partitions = LoadNative<uint64_t>(from);
  const auto rows = LoadNative<uint64_t>(from + 8);
  const auto part_count = LoadNative<uint64_t>(from + 16);
  if (partitions == loaded.partitions && rows == loaded.rows && part_count == parts) {
    return absl::OkStatus();
  }
  return Damaged(end.payload_at, end.number,
                 absl::StrCat("the end record counts ", partitions, " partitions, ", rows,
                              " rows and ", part_count, " parts, found ", loaded.partitions, ", ",
                              loaded.rows, " and ", parts));
}

// The store's own timestamps are microseconds of a clock, or a little above, and far below this.
constexpr int64_t kOwnTimestampMax = int64_t{1} << 62;

// `block`: the first behind the definitions.
absl::Status ReadHead(snapshot::BlockReader& blocks, LoadedSnapshot& loaded, Block& block) {
  LS_RETURN_IF_ERROR(blocks.ReadFileHeader());
  loaded.taken_at_nanos = blocks.saved_at_nanos();
  // The definitions are whole when another kind comes; rows of none may be first.
  std::string definitions;
  LS_RETURN_IF_ERROR(blocks.ReadBlock(block));
  const uint64_t definitions_at = block.payload_at;
  if (block.kind != BlockKind::kDefinitions) {
    return Damaged(block.payload_at, block.number, "it does not begin with definitions");
  }
  while (block.kind == BlockKind::kDefinitions) {
    const size_t bytes = block.payload.size();
    definitions.append(block.payload);
    LS_RETURN_IF_ERROR(blocks.ReadBlock(block));
    if (bytes < kBlockBytes) break;
  }
  if (!DecodeDefinitions(definitions, loaded)) {
    return Damaged(definitions_at, 0, "definitions that nobody wrote");
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedSnapshot> Load(
    disk::ByteSource& source, shard::Engine* engine,
    absl::FunctionRef<absl::StatusOr<shard::RecordedTables>(const SnapshotContent&)> define,
    uint32_t threads) {
  LoadedSnapshot loaded;
  SharedReader reader(source);
  snapshot::BlockReader& blocks = reader.blocks();
  Block block;
  LS_RETURN_IF_ERROR(ReadHead(blocks, loaded, block));
  const std::vector<SnapshotTable>& tables = loaded.content.tables;
  LS_ASSIGN_OR_RETURN(const shard::RecordedTables recorded, define(loaded.content));
  std::vector<std::optional<TableId>> ids;
  for (const SnapshotTable& table : tables) ids.push_back(recorded.Find(table.id));

  // The block that has been read is the first of what follows.
  if (block.kind == BlockKind::kRows) {
    RowsLoader loader(engine, ids, loaded.taken_at_nanos);
    snapshot::RowsDecoder decoder(loader);
    LS_RETURN_IF_ERROR(decoder.Decode(block));
    loaded.partitions += decoder.partitions();
    loaded.rows += decoder.rows();
    LS_RETURN_IF_ERROR(LoadAllRows(reader, engine, ids, threads, loaded));
    block = reader.first_other();
  }
  const uint32_t lanes = loaded.copied.lanes();
  std::vector<shard::CopiedPart> parts;
  while (block.kind == BlockKind::kParts) {
    LS_RETURN_IF_ERROR(TakeParts(block, tables, lanes, parts));
    LS_RETURN_IF_ERROR(blocks.ReadBlock(block));
  }
  if (block.kind != BlockKind::kEnd) {
    return Damaged(block.payload_at, block.number, "a block out of its place");
  }
  int64_t last_timestamp = 0;
  LS_RETURN_IF_ERROR(CheckEnd(block, loaded, parts.size(), last_timestamp));
  LS_RETURN_IF_ERROR(blocks.ReadEnd());
  if (last_timestamp > kOwnTimestampMax) {
    return Damaged(block.payload_at, block.number, "a last timestamp that no store can have given");
  }
  for (const shard::CopiedPart& part : parts) {
    if (!loaded.copied.Add(part)) {
      return Damaged(block.payload_at, block.number, "the parts before it are not in order");
    }
  }
  if (engine != nullptr) engine->AdvanceTimestamps({last_timestamp});
  loaded.bytes = blocks.offset();
  return loaded;
}

absl::StatusOr<LoadedSnapshot> LoadFile(
    disk::FileCalls& calls, const std::string& path, shard::Engine* engine,
    absl::FunctionRef<absl::StatusOr<shard::RecordedTables>(const SnapshotContent&)> define,
    uint32_t threads) try {
  disk::FileSource source(calls, path);
  LS_RETURN_IF_ERROR(source.Open());
  auto loaded = Load(source, engine, define, threads);
  if (loaded.ok()) return loaded;
  return absl::Status(loaded.status().code(), absl::StrCat(path, ": ", loaded.status().message()));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

}  // namespace

absl::StatusOr<LoadedSnapshot> LoadSnapshot(
    disk::FileCalls& calls, const std::string& path, shard::Engine& engine,
    absl::FunctionRef<absl::StatusOr<shard::RecordedTables>(const SnapshotContent&)> define,
    uint32_t threads) {
  return LoadFile(calls, path, &engine, define, threads);
}

absl::StatusOr<LoadedSnapshot> ReadSnapshotHead(disk::FileCalls& calls,
                                                const std::string& path) try {
  disk::FileSource source(calls, path);
  LS_RETURN_IF_ERROR(source.Open());
  snapshot::BlockReader blocks(source, snapshot::kFullSnapshot);
  LoadedSnapshot loaded;
  Block block;
  const absl::Status read = ReadHead(blocks, loaded, block);
  if (read.ok()) return loaded;
  return absl::Status(read.code(), absl::StrCat(path, ": ", read.message()));
} catch (const std::bad_alloc&) {
  return HeapRefused();
}

absl::StatusOr<LoadedSnapshot> CheckSnapshot(disk::FileCalls& calls, const std::string& path) {
  return LoadFile(
      calls, path, nullptr,
      [](const SnapshotContent&) -> absl::StatusOr<shard::RecordedTables> {
        return shard::RecordedTables();
      },
      1);
}

}  // namespace liststore::durable
