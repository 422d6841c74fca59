// RocksDB on a file system that exists in memory only: one tree of rows, newest first within a
// list. No log, no compression, a cache of blocks.
#include <rocksdb/c.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/embedded/peer_client.h"
#include "bench/peers/library_peers.h"
#include "bench/peers/peer_rows.h"

namespace liststore {
namespace {

constexpr char kName[] = "/liststore-bench";
constexpr size_t kWriteBufferBytes = size_t{64} << 20;
constexpr size_t kBlockCacheBytes = size_t{256} << 20;

// The error that a call has left behind, if it has; frees it.
absl::Status TakeError(char** error, const char* what) {
  if (*error == nullptr) return absl::OkStatus();
  const absl::Status status = absl::InternalError(absl::StrCat("RocksDB: ", what, ": ", *error));
  rocksdb_free(*error);
  *error = nullptr;
  return status;
}

// Everything that the database is opened with, and itself; goes together.
struct Database {
  Database()
      : env(rocksdb_create_mem_env()),
        options(rocksdb_options_create()),
        table(rocksdb_block_based_options_create()),
        cache(rocksdb_cache_create_lru(kBlockCacheBytes)),
        reading(rocksdb_readoptions_create()),
        writing(rocksdb_writeoptions_create()) {
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_env(options, env);
    rocksdb_options_set_compression(options, rocksdb_no_compression);
    rocksdb_options_set_write_buffer_size(options, kWriteBufferBytes);
    rocksdb_options_set_max_open_files(options, -1);
    rocksdb_writeoptions_disable_WAL(writing, 1);
  }
  ~Database() {
    if (db != nullptr) rocksdb_close(db);
    rocksdb_writeoptions_destroy(writing);
    rocksdb_readoptions_destroy(reading);
    rocksdb_block_based_options_destroy(table);
    rocksdb_cache_destroy(cache);
    rocksdb_options_destroy(options);
    rocksdb_env_destroy(env);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb_env_t* const env;
  rocksdb_options_t* const options;
  rocksdb_block_based_table_options_t* const table;
  rocksdb_cache_t* const cache;
  rocksdb_readoptions_t* const reading;
  rocksdb_writeoptions_t* const writing;
  rocksdb_t* db = nullptr;
};

class RocksdbClient final : public PeerClient<RocksdbClient> {
 public:
  explicit RocksdbClient(const Database& database)
      : database_(database), batch_(rocksdb_writebatch_create()) {}
  ~RocksdbClient() override { rocksdb_writebatch_destroy(batch_); }
  RocksdbClient(const RocksdbClient&) = delete;
  RocksdbClient& operator=(const RocksdbClient&) = delete;

  void Housekeep() override {}  // a thread of its own compacts
  NewItem Newest() const override { return rows_.Newest(); }
  std::string_view NewestValue() const { return rows_.Newest().value; }

  uint64_t Get(const BenchBatch& batch, size_t i) {
    const size_t limit = ReadLimit(batch.kind());
    const int64_t now = PeerNowSeconds();
    rows_.Clear();
    ForEachRow(batch.list_key(i), [&](std::string_view key, std::string_view value) {
      if (PeerRow::Lives(value, now)) {
        const PackedItemKey item_key = PeerRow::ItemKeyOf(key);
        rows_.Append({item_key.data(), item_key.size()}, PeerRow::ValueOf(value));
      }
      return rows_.size() < limit;
    });
    return rows_.size();
  }

  uint64_t Add(const BenchBatch& batch, size_t i) {
    for (size_t k = 0; k < batch.items_per_request(); ++k) {
      const NewItem& item = batch.items(i)[k];
      PeerRow::AppendKey(batch.list_key(i), PeerItemKey(item), &row_key_);
      PeerRow::AppendValue(item, &row_value_);
      rocksdb_writebatch_put(batch_, row_key_.data(), row_key_.size(), row_value_.data(),
                             row_value_.size());
    }
    return Write() ? batch.items_per_request() : 0;
  }

  // Looks at all rows of the list.
  uint64_t Remove(const BenchBatch& batch, size_t i) {
    uint64_t removed = 0;
    ForEachRow(batch.list_key(i), [&](std::string_view key, std::string_view value) {
      if (PeerRow::ValueOf(value) == batch.items(i)->value) {
        rocksdb_writebatch_delete(batch_, key.data(), key.size());
        ++removed;
      }
      return true;
    });
    return Write() ? removed : 0;
  }

 private:
  // Calls `visit(key, value)` for the rows of a list, newest first, until it returns false.
  template <typename Visit>
  void ForEachRow(std::string_view list, const Visit& visit) {
    rocksdb_iterator_t* const at = rocksdb_create_iterator(database_.db, database_.reading);
    for (rocksdb_iter_seek(at, list.data(), list.size()); rocksdb_iter_valid(at);
         rocksdb_iter_next(at)) {
      size_t key_bytes = 0;
      const char* const key = rocksdb_iter_key(at, &key_bytes);
      if (!PeerRow::IsOf(list, {key, key_bytes})) break;
      size_t value_bytes = 0;
      const char* const value = rocksdb_iter_value(at, &value_bytes);
      if (!visit({key, key_bytes}, {value, value_bytes})) break;
    }
    char* error = nullptr;
    rocksdb_iter_get_error(at, &error);
    Note(TakeError(&error, "read"));
    rocksdb_iter_destroy(at);
  }
  bool Write() {
    char* error = nullptr;
    rocksdb_write(database_.db, database_.writing, batch_, &error);
    rocksdb_writebatch_clear(batch_);
    const absl::Status status = TakeError(&error, "write");
    Note(status);
    return status.ok();
  }

  const Database& database_;
  rocksdb_writebatch_t* const batch_;  // empty between calls
  std::string row_key_;
  std::string row_value_;
  PeerRows rows_;  // of the last read
};

class RocksdbTarget final : public BenchTarget {
 public:
  absl::Status Open() {
    char* error = nullptr;
    database_.db = rocksdb_open(database_.options, kName, &error);
    return TakeError(&error, "open");
  }
  std::unique_ptr<BenchClient> NewClient() override {
    return std::make_unique<RocksdbClient>(database_);
  }

 private:
  Database database_;
};

absl::StatusOr<std::unique_ptr<BenchTarget>> Open(const BenchEmbeddedOptions& /*options*/) {
  auto target = std::make_unique<RocksdbTarget>();
  const absl::Status status = target->Open();
  if (!status.ok()) return status;
  return target;
}

}  // namespace

BenchPeer RocksdbPeer() { return {"rocksdb", "RocksDB", /*any_thread=*/false, Open}; }

}  // namespace liststore
