// Changes of the schema as bytes, and those that it takes to make the schema of now.
#ifndef LISTSTORE_ENGINE_DURABLE_SCHEMA_RECORDS_H_
#define LISTSTORE_ENGINE_DURABLE_SCHEMA_RECORDS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/byte_coding.h"
#include "engine/model/schema_change_record.h"

namespace liststore::durable {

// Appends no more than execute::RecordBytesMax says.
void AppendSchemaChange(const SchemaChangeRecord& record, std::string& out);
// False: no encoder wrote this.
bool ReadSchemaChange(ByteReader& input, SchemaChangeRecord& record);

void AppendNumbers(std::span<const NumberedTable> tables, std::string& out);
bool ReadNumbers(ByteReader& input, std::vector<NumberedTable>& tables);

// A return: to a mark of the same run, which undoes what came after it, or to no tables of users at all.
struct ReturnRecord {
  uint64_t mark = 0;           // its step; 0: to nothing
  uint64_t base_snapshot = 0;  // the newest that has nothing of what is undone; 0: there is none
  // Which numbers tables have behind it, and everything that events have said, once more.
  std::vector<NumberedTable> numbers;
  std::vector<std::string> events;

  bool operator==(const ReturnRecord&) const = default;
};

// What a barrier of the log says: one of these.
struct Barrier {
  // A start of the server, with the numbers of all tables.
  std::optional<std::vector<NumberedTable>> numbers;
  bool is_mark = false;
  std::optional<ReturnRecord> back;
  SchemaChangeRecord change;
};
// Bytes of a barrier beside a change.
inline constexpr size_t kBarrierBytes = 1;
void AppendStart(std::span<const NumberedTable> tables, std::string& out);
void AppendMark(std::string& out);
void AppendReturn(const ReturnRecord& record, std::string& out);
void AppendChangeBarrier(const SchemaChangeRecord& record, std::string& out);
std::optional<Barrier> DecodeBarrierPayload(std::string_view payload);

// The changes that made the schema of now, but for those whose tables and keyspaces are gone: as many as
// live tables and keyspaces had. One thread at a time.
class SchemaHistory {
 public:
  void Add(const SchemaChangeRecord& record);
  // Of changes that do not say in whose CQL they were made.
  void NameDialect(std::string_view dialect);
  const std::vector<SchemaChangeRecord>& changes() const { return changes_; }

 private:
  std::vector<SchemaChangeRecord> changes_;
};

}  // namespace liststore::durable

#endif  // LISTSTORE_ENGINE_DURABLE_SCHEMA_RECORDS_H_
