#include "engine/instruments/memory_table.h"

#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/cql/schema/computed_table.h"
#include "engine/cql/values/encode_value.h"

namespace liststore::instruments {
namespace {

constexpr cql::TableSpec kMemorySpec = {"liststore",
                                        "memory",
                                        "kind text",
                                        "name text",
                                        "bytes bigint, limit_bytes bigint",
                                        "what is held, and for whom"};

std::string Bigint(uint64_t value) { return cql::EncodeBigint(static_cast<int64_t>(value)); }

cql::CqlError Refuse(std::string_view why) {
  return cql::CqlError::Invalid(std::string("liststore.memory: ").append(why));
}

// What a statement asks for.
struct Asked {
  std::string kind;
  std::optional<uint64_t> bytes;
};

cql::CqlOr<Asked> ReadValues(const cql::VirtualTable::Values& values) {
  Asked asked;
  for (const auto& [column, value] : values) {
    if (column == "kind") {
      asked.kind = *value;
    } else if (column == "name") {
      if (*value != "all") return Refuse("the limit of name = 'all' alone can be changed");
    } else if (column == "bytes") {
      return Refuse("bytes is what is held, and cannot be changed");
    } else {
      LS_CHECK(column == "limit_bytes", "a statement has only columns of its table");
      // Empty values are valid for numbers.
      if (!value || value->size() != 8) return Refuse("limit_bytes cannot be null");
      const auto bytes = static_cast<int64_t>(LoadBigEndian64(value->data()));
      if (bytes < 0) return Refuse("limit_bytes is negative: " + std::to_string(bytes));
      asked.bytes = static_cast<uint64_t>(bytes);
    }
  }
  if (!asked.bytes) return Refuse("set limit_bytes");
  return asked;
}

class MemoryTable final : public cql::VirtualTable {
 public:
  MemoryTable(std::function<std::vector<MemoryUse>()> uses, ChangeLimit change)
      : uses_(std::move(uses)),
        change_(std::move(change)),
        definition_(cql::MakeVirtualDefinition(kMemorySpec)) {}

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }

  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& /*context*/) const override {
    cql::RowCollector rows(*definition_);
    for (MemoryUse& use : uses_()) {
      cql::RowCollector& row = rows.Row();
      row.Set("kind", std::move(use.kind)).Set("name", std::move(use.name));
      row.Set("bytes", Bigint(use.bytes));
      if (use.limit_bytes) row.Set("limit_bytes", Bigint(*use.limit_bytes));
    }
    return rows.Take();
  }

  std::optional<cql::CqlError> WriteAndWarn(const Values& values,
                                            std::vector<std::string>& warnings) override {
    if (!change_) {
      return Refuse(
          "limits are not changed where everybody may do everything who reaches the server: have "
          "clients log in (--auth), or say --instruments on");
    }
    const cql::CqlOr<Asked> asked = ReadValues(values);
    if (!asked.ok()) return asked.error();
    const std::optional<std::string> why = change_(asked->kind, *asked->bytes, warnings);
    if (why) return Refuse(*why);
    return std::nullopt;
  }

  bool is_for_superusers() const override { return true; }
  bool WriteTakesLong(const Values& /*values*/) const override { return true; }

 private:
  const std::function<std::vector<MemoryUse>()> uses_;
  const ChangeLimit change_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace

std::unique_ptr<cql::VirtualTable> MakeMemoryTable(std::function<std::vector<MemoryUse>()> uses,
                                                   ChangeLimit change) {
  return std::make_unique<MemoryTable>(std::move(uses), std::move(change));
}

}  // namespace liststore::instruments
