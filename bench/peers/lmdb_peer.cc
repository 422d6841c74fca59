// LMDB in a file that exists in memory only: one tree of rows, newest first within a list. Nothing
// is synchronised, and pages are written where they are mapped.
#include <lmdb.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/embedded/peer_client.h"
#include "bench/peers/library_peers.h"
#include "bench/peers/peer_rows.h"
#include "engine/base/check.h"

namespace liststore {
namespace {

constexpr char kFolder[] = "/dev/shm";
// Address space for the file: what the rows take four times over, since pages are copied when they
// change and half empty after splits.
constexpr uint64_t kBytesBesideValue = 120;
constexpr uint64_t kRoom = 4;
constexpr uint64_t kRoomMin = uint64_t{1} << 30;

absl::Status ErrorOf(int status, const char* what) {
  return absl::InternalError(absl::StrCat("LMDB: ", what, ": ", mdb_strerror(status)));
}

struct ClosesEnvironment {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
};
using Environment = std::unique_ptr<MDB_env, ClosesEnvironment>;

// mdb takes what it only reads by a pointer that is not const.
MDB_val ToVal(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view ToView(const MDB_val& val) {
  return {static_cast<const char*>(val.mv_data), val.mv_size};
}

class LmdbClient final : public PeerClient<LmdbClient> {
 public:
  LmdbClient(MDB_env* environment, MDB_dbi tree) : environment_(environment), tree_(tree) {
    Expect(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_), "begin to read");
    Expect(mdb_cursor_open(reading_, tree_, &cursor_), "open a cursor");
    mdb_txn_reset(reading_);
  }
  ~LmdbClient() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
    if (reading_ != nullptr) mdb_txn_abort(reading_);
  }
  LmdbClient(const LmdbClient&) = delete;
  LmdbClient& operator=(const LmdbClient&) = delete;

  void Housekeep() override {}  // pages are used again
  NewItem Newest() const override { return rows_.Newest(); }
  std::string_view NewestValue() const { return rows_.Newest().value; }

  uint64_t Get(const BenchBatch& batch, size_t i) {
    const std::string_view list = batch.list_key(i);
    const size_t limit = ReadLimit(batch.kind());
    const int64_t now = PeerNowSeconds();
    rows_.Clear();
    Expect(mdb_txn_renew(reading_), "read");
    Expect(mdb_cursor_renew(reading_, cursor_), "read");
    MDB_val key = ToVal(list);
    MDB_val value = {};
    int status = mdb_cursor_get(cursor_, &key, &value, MDB_SET_RANGE);
    while (status == MDB_SUCCESS && rows_.size() < limit && PeerRow::IsOf(list, ToView(key))) {
      if (PeerRow::Lives(ToView(value), now)) {
        const PackedItemKey item_key = PeerRow::ItemKeyOf(ToView(key));
        rows_.Append({item_key.data(), item_key.size()}, PeerRow::ValueOf(ToView(value)));
      }
      status = mdb_cursor_get(cursor_, &key, &value, MDB_NEXT);
    }
    if (status != MDB_NOTFOUND) Expect(status, "read");
    mdb_txn_reset(reading_);
    return rows_.size();
  }

  uint64_t Add(const BenchBatch& batch, size_t i) {
    MDB_txn* writing = nullptr;
    if (!Expect(mdb_txn_begin(environment_, nullptr, 0, &writing), "begin to write")) return 0;
    for (size_t k = 0; k < batch.items_per_request(); ++k) {
      const NewItem& item = batch.items(i)[k];
      PeerRow::AppendKey(batch.list_key(i), PeerItemKey(item), &row_key_);
      PeerRow::AppendValue(item, &row_value_);
      MDB_val key = ToVal(row_key_);
      MDB_val value = ToVal(row_value_);
      Expect(mdb_put(writing, tree_, &key, &value, 0), "put");
    }
    return Expect(mdb_txn_commit(writing), "commit") ? batch.items_per_request() : 0;
  }

  // Looks at all rows of the list.
  uint64_t Remove(const BenchBatch& batch, size_t i) {
    const std::string_view list = batch.list_key(i);
    MDB_txn* writing = nullptr;
    MDB_cursor* cursor = nullptr;
    if (!Expect(mdb_txn_begin(environment_, nullptr, 0, &writing), "begin to write")) return 0;
    if (!Expect(mdb_cursor_open(writing, tree_, &cursor), "open a cursor")) {
      mdb_txn_abort(writing);
      return 0;
    }
    uint64_t removed = 0;
    MDB_val key = ToVal(list);
    MDB_val value = {};
    int status = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (status == MDB_SUCCESS && PeerRow::IsOf(list, ToView(key))) {
      if (PeerRow::ValueOf(ToView(value)) == batch.items(i)->value) {
        removed += Expect(mdb_cursor_del(cursor, 0), "delete");
      }
      // Behind a deletion it is the row that has moved up, which MDB_NEXT then returns.
      status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    if (status != MDB_NOTFOUND) Expect(status, "read");
    mdb_cursor_close(cursor);
    return Expect(mdb_txn_commit(writing), "commit") ? removed : 0;
  }

 private:
  bool Expect(int status, const char* what) {
    if (status != MDB_SUCCESS) Note(ErrorOf(status, what));
    return status == MDB_SUCCESS;
  }

  MDB_env* const environment_;
  const MDB_dbi tree_;
  MDB_txn* reading_ = nullptr;  // reset between reads
  MDB_cursor* cursor_ = nullptr;
  std::string row_key_;
  std::string row_value_;
  PeerRows rows_;  // of the last read
};

class LmdbTarget final : public BenchTarget {
 public:
  LmdbTarget(Environment environment, MDB_dbi tree)
      : environment_(std::move(environment)), tree_(tree) {}
  std::unique_ptr<BenchClient> NewClient() override {
    return std::make_unique<LmdbClient>(environment_.get(), tree_);
  }

 private:
  const Environment environment_;
  const MDB_dbi tree_;
};

absl::StatusOr<MDB_dbi> OpenTree(MDB_env* environment) {
  MDB_txn* txn = nullptr;
  int status = mdb_txn_begin(environment, nullptr, 0, &txn);
  if (status != MDB_SUCCESS) return ErrorOf(status, "begin to write");
  MDB_dbi tree = 0;
  status = mdb_dbi_open(txn, nullptr, 0, &tree);
  if (status != MDB_SUCCESS) {
    mdb_txn_abort(txn);
    return ErrorOf(status, "open the tree");
  }
  status = mdb_txn_commit(txn);
  if (status != MDB_SUCCESS) return ErrorOf(status, "commit");
  return tree;
}

absl::StatusOr<std::unique_ptr<BenchTarget>> Open(const BenchEmbeddedOptions& options) {
  std::string path = absl::StrCat(kFolder, "/liststore-lmdb-XXXXXX");
  const int file = mkstemp(path.data());
  if (file < 0) {
    return absl::UnavailableError(absl::StrCat("LMDB: no file can be made in ", kFolder));
  }
  close(file);
  MDB_env* created = nullptr;
  int status = mdb_env_create(&created);
  Environment environment(created);
  const uint64_t rows = options.lists * options.items_per_list;
  const uint64_t room = kRoomMin + kRoom * rows * (options.value_bytes + kBytesBesideValue);
  if (status == MDB_SUCCESS) status = mdb_env_set_mapsize(created, room);
  if (status == MDB_SUCCESS) {
    status = mdb_env_open(created, path.c_str(),
                          MDB_NOSUBDIR | MDB_NOSYNC | MDB_WRITEMAP | MDB_NOLOCK | MDB_NOTLS |
                              MDB_NORDAHEAD | MDB_NOMEMINIT,
                          0600);
  }
  unlink(path.c_str());  // it stays as long as it is open
  if (status != MDB_SUCCESS) return ErrorOf(status, "open");
  const absl::StatusOr<MDB_dbi> tree = OpenTree(created);
  if (!tree.ok()) return tree.status();
  return std::make_unique<LmdbTarget>(std::move(environment), *tree);
}

}  // namespace

BenchPeer LmdbPeer() { return {"lmdb", "LMDB", /*any_thread=*/false, Open}; }

}  // namespace liststore
