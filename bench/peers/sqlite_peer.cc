// SQLite in memory: one table without row ids, whose primary key is the list and, newest first, the
// item. Removal by value looks at all rows of the list: an index would make every addition dearer.
#include <sqlite3.h>

#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/embedded/peer_client.h"
#include "bench/peers/library_peers.h"
#include "bench/peers/peer_rows.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"

namespace liststore {
namespace {

constexpr const char* kSetUp[] = {
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "PRAGMA locking_mode = EXCLUSIVE",
    ("CREATE TABLE items (list BLOB, item_key BLOB, value BLOB, expires INTEGER, "
     "PRIMARY KEY (list, item_key DESC)) WITHOUT ROWID"),
};

struct EndsStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, EndsStatement>;

struct ClosesDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, ClosesDatabase>;

absl::Status ErrorOf(sqlite3* database, const char* what) {
  return absl::InternalError(absl::StrCat("SQLite: ", what, ": ", sqlite3_errmsg(database)));
}

absl::Status Execute(sqlite3* database, const char* text) {
  return sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK
             ? absl::OkStatus()
             : ErrorOf(database, text);
}

// Bytes that outlive the step.
void BindBytes(const Statement& statement, int at, std::string_view bytes) {
  const int status = sqlite3_bind_blob(statement.get(), at, bytes.data(),
                                       static_cast<int>(bytes.size()), SQLITE_STATIC);
  LS_CHECK(status == SQLITE_OK, "the statement has such a parameter");
}
void BindInteger(const Statement& statement, int at, int64_t value) {
  LS_CHECK(sqlite3_bind_int64(statement.get(), at, value) == SQLITE_OK,
           "the statement has such a parameter");
}
std::string_view Bytes(const Statement& statement, int column) {
  const void* const bytes = sqlite3_column_blob(statement.get(), column);
  return {static_cast<const char*>(bytes),
          static_cast<size_t>(sqlite3_column_bytes(statement.get(), column))};
}

class SqliteClient final : public PeerClient<SqliteClient> {
 public:
  explicit SqliteClient(sqlite3* database)
      : database_(database),
        begin_(Prepare("BEGIN")),
        commit_(Prepare("COMMIT")),
        add_(Prepare("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?)")),
        get_(Prepare("SELECT item_key, value FROM items WHERE list = ? AND expires > ? "
                     "ORDER BY item_key DESC LIMIT ?")),
        remove_(Prepare("DELETE FROM items WHERE list = ? AND value = ?")) {}

  void Housekeep() override {}  // pages are used again
  NewItem Newest() const override { return rows_.Newest(); }
  std::string_view NewestValue() const { return rows_.Newest().value; }

  // Rows are copied out, as every side does.
  uint64_t Get(const BenchBatch& batch, size_t i) {
    BindBytes(get_, 1, batch.list_key(i));
    BindInteger(get_, 2, PeerNowSeconds());
    BindInteger(get_, 3, static_cast<int64_t>(ReadLimit(batch.kind())));
    rows_.Clear();
    int status = SQLITE_ROW;
    while ((status = sqlite3_step(get_.get())) == SQLITE_ROW) {
      rows_.Append(Bytes(get_, 0), Bytes(get_, 1));
    }
    Finish(get_, status, "SELECT");
    return rows_.size();
  }

  uint64_t Add(const BenchBatch& batch, size_t i) {
    const size_t count = batch.items_per_request();
    if (count > 1) Step(begin_, "BEGIN");
    for (size_t k = 0; k < count; ++k) AddItem(batch.list_key(i), batch.items(i)[k]);
    if (count > 1) Step(commit_, "COMMIT");
    return count;
  }

  uint64_t Remove(const BenchBatch& batch, size_t i) {
    BindBytes(remove_, 1, batch.list_key(i));
    BindBytes(remove_, 2, batch.items(i)->value);
    Step(remove_, "DELETE");
    return static_cast<uint64_t>(sqlite3_changes(database_));
  }

 private:
  Statement Prepare(const char* text) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v3(database_, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
        SQLITE_OK) {
      Note(ErrorOf(database_, text));
    }
    return Statement(statement);
  }
  void Step(const Statement& statement, const char* what) {
    Finish(statement, sqlite3_step(statement.get()), what);
  }
  void Finish(const Statement& statement, int status, const char* what) {
    if (status != SQLITE_DONE) Note(ErrorOf(database_, what));
    sqlite3_reset(statement.get());
  }
  void AddItem(std::string_view list, const NewItem& item) {
    const PackedItemKey key = PeerItemKey(item);
    BindBytes(add_, 1, list);
    BindBytes(add_, 2, {key.data(), key.size()});
    BindBytes(add_, 3, item.value);
    BindInteger(add_, 4, PeerExpiry(item));
    Step(add_, "INSERT");
  }

  sqlite3* const database_;
  const Statement begin_, commit_, add_, get_, remove_;
  PeerRows rows_;  // of the last read
};

class SqliteTarget final : public BenchTarget {
 public:
  explicit SqliteTarget(Database database) : database_(std::move(database)) {}
  std::unique_ptr<BenchClient> NewClient() override {
    return std::make_unique<SqliteClient>(database_.get());
  }

 private:
  const Database database_;
};

absl::StatusOr<std::unique_ptr<BenchTarget>> Open(const BenchEmbeddedOptions& /*options*/) {
  sqlite3* opened = nullptr;
  const int status =
      sqlite3_open_v2(":memory:", &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(opened);
  if (status != SQLITE_OK) return absl::InternalError("SQLite: a database in memory is refused");
  for (const char* text : kSetUp) LS_RETURN_IF_ERROR(Execute(database.get(), text));
  return std::make_unique<SqliteTarget>(std::move(database));
}

}  // namespace

BenchPeer SqlitePeer() { return {"sqlite", "SQLite", /*any_thread=*/false, Open}; }

}  // namespace liststore
