#include "tools/copy/table_writer.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/status_macros.h"
#include "engine/base/strings.h"
#include "engine/cql/syntax/quoting.h"
#include "engine/model/cell_path.h"

namespace liststore {
namespace {

using Kind = RemoteColumn::Kind;
using Parts = RemoteColumn::Parts;

constexpr size_t kSendBytes = size_t{256} << 10;
// Of a batch, which is one mutation: Cassandra takes 16 MiB as it comes.
constexpr size_t kBatchStatementsMax = 1000;
constexpr size_t kBatchBytesMax = size_t{1} << 20;
// Each append under a timestamp of its own has the server write the row again, and what one request
// comes to by that is bounded there, with twice as many.
constexpr size_t kBatchRewrittenMax = size_t{1} << 19;

// Statements of a table, as the cells of `layout` have to be written.
class StatementTexts {
 public:
  StatementTexts(const RemoteTable& table, const RowLayout& layout)
      : table_(table), layout_(layout) {}

  // Keys, and with `with_cells` the regular columns that are written whole.
  std::string Insert(bool with_cells) const {
    std::string names, markers;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const RemoteColumn& column = table_.columns[i];
      const bool is_key = column.kind <= Kind::kClustering;
      if (!is_key && (!with_cells || column.kind == Kind::kStatic || IsWrittenInParts(i))) continue;
      absl::StrAppend(&names, names.empty() ? "" : ", ", cql::QuoteIdentifier(column.name));
      absl::StrAppend(&markers, markers.empty() ? "?" : ", ?");
    }
    return absl::StrCat("INSERT INTO ", table_.QuotedName(), " (", names, ") VALUES (", markers,
                        ")");
  }

  // All columns of a kind but lists that are written element by element; empty: there are none.
  std::string Update(std::string_view using_clause, Kind kind) const {
    std::string assignments;
    for (size_t i = layout_.keys; i < table_.columns.size(); ++i) {
      if (table_.columns[i].kind != kind) continue;
      const std::string next = Assignment(i);
      absl::StrAppend(&assignments, assignments.empty() || next.empty() ? "" : ", ", next);
    }
    return assignments.empty() ? "" : With(using_clause, assignments, kind);
  }

  // Elements of one list: that at a place, or those behind it.
  std::string List(size_t cell, std::string_view using_clause, bool at_places) const {
    const RemoteColumn& column = table_.columns[layout_.keys + cell];
    const std::string name = cql::QuoteIdentifier(column.name);
    return With(
        using_clause,
        at_places ? name + "[SCYLLA_TIMEUUID_LIST_INDEX(?)] = ?" : name + " = " + name + " + ?",
        column.kind);
  }

 private:
  bool IsWrittenInParts(size_t column) const {
    return table_.columns[column].parts != Parts::kNone && column >= layout_.keys &&
           layout_.cells[column - layout_.keys].timestamp.has_value();
  }

  std::string Assignment(size_t number) const {
    const RemoteColumn& column = table_.columns[number];
    const std::string name = cql::QuoteIdentifier(column.name);
    if (column.type == "counter") return name + " = " + name + " + ?";
    if (!IsWrittenInParts(number)) return name + " = ?";
    if (column.parts == Parts::kList) return "";
    if (column.parts != Parts::kFields) return name + " = " + name + " + ?";
    return absl::StrJoin(column.fields, ", ", [&](std::string* out, const std::string& field) {
      absl::StrAppend(out, name, ".", cql::QuoteIdentifier(field), " = ?");
    });
  }

  std::string With(std::string_view using_clause, const std::string& assignments, Kind kind) const {
    std::string keys;
    for (const RemoteColumn& column : table_.columns) {
      const bool is_key = column.kind == Kind::kPartitionKey ||
                          (column.kind == Kind::kClustering && kind == Kind::kRegular);
      if (!is_key) continue;
      absl::StrAppend(&keys, keys.empty() ? "" : " AND ", cql::QuoteIdentifier(column.name),
                      " = ?");
    }
    return absl::StrCat("UPDATE ", table_.QuotedName(), ToAbsl(using_clause), " SET ", assignments,
                        " WHERE ", keys);
  }

  const RemoteTable& table_;
  const RowLayout& layout_;
};

// A collection of the elements that are of `is_one`; of maps with their keys. Empty: none is.
template <typename Predicate>
std::string Collection(const std::vector<RemoteElement>& elements, Parts parts, Predicate is_one) {
  std::string bytes;
  int32_t count = 0;
  const auto append = [&bytes](std::string_view value) {
    bytes += CqlInt(static_cast<int32_t>(value.size()));
    bytes += value;
  };
  for (const RemoteElement& element : elements) {
    if (!is_one(element)) continue;
    if (parts == Parts::kMap) append(element.key);
    append(element.value);
    ++count;
  }
  return count == 0 ? std::string() : CqlInt(count) + bytes;
}

// Where the elements of a list stand: as the source says, or, where it does not, as if each had
// been appended by the last of all writes up to it.
std::vector<std::string> PlacesOf(const std::vector<RemoteElement>& elements) {
  std::vector<std::string> places;
  const bool told = std::ranges::none_of(
      elements, [](const RemoteElement& element) { return element.timeuuid.empty(); });
  ListPosition position;
  for (const RemoteElement& element : elements) {
    if (told) {
      places.emplace_back(element.timeuuid);
      continue;
    }
    const bool is_later = element.timestamp_micros > position.micros;
    position = is_later ? ListPosition{element.timestamp_micros, 0}
                        : ListPosition{position.micros, position.number + 1};
    std::string path;
    AppendPath(position, path);
    places.emplace_back(TimeuuidOfPath(path).view());
  }
  return places;
}

}  // namespace

TableWriter::TableWriter(CqlClient& client, const RemoteTable& table, const RemoteSchema& schema,
                         const RowLayout& layout)
    : client_(&client),
      table_(&table),
      schema_(&schema),
      layout_(&layout),
      contents_(layout.cells.size()) {
  statements_.lists.resize(layout.cells.size());
  for (int16_t stream = 0; stream < kInFlight; ++stream) free_streams_.push_back(stream);
}

absl::StatusOr<TableWriter> TableWriter::Open(CqlClient& client, const RemoteTable& table,
                                              const RemoteSchema& schema, const RowLayout& layout) {
  TableWriter writer(client, table, schema, layout);
  LS_RETURN_IF_ERROR(writer.Prepare());
  return writer;
}

absl::Status TableWriter::Prepare() {
  const auto prepare = [this](const std::string& text, std::string* id) {
    if (text.empty()) return absl::OkStatus();
    absl::StatusOr<std::string> prepared = client_->Prepare(text);
    if (prepared.ok()) *id = *std::move(prepared);
    return prepared.status();
  };
  const StatementTexts texts(*table_, *layout_);
  if (table_->is_counter()) {
    LS_RETURN_IF_ERROR(prepare(texts.Update("", Kind::kRegular), &statements_.add));
    return prepare(texts.Update("", Kind::kStatic), &statements_.add_static);
  }
  constexpr std::string_view kUsing = " USING TIMESTAMP ? AND TTL ?";
  LS_RETURN_IF_ERROR(prepare(absl::StrCat(texts.Insert(false), " USING TIMESTAMP ", kMarkerMicros),
                             &statements_.insert_key));
  LS_RETURN_IF_ERROR(prepare(texts.Insert(true) + std::string(kUsing), &statements_.insert));
  LS_RETURN_IF_ERROR(prepare(texts.Update(kUsing, Kind::kRegular), &statements_.update));
  LS_RETURN_IF_ERROR(prepare(texts.Update(kUsing, Kind::kStatic), &statements_.update_static));
  for (size_t i = 0; i < layout_->cells.size(); ++i) {
    if (layout_->cells[i].parts != Parts::kList || !layout_->cells[i].timestamp) continue;
    LS_RETURN_IF_ERROR(
        prepare(texts.List(i, kUsing, schema_->places_elements), &statements_.lists[i]));
  }
  return absl::OkStatus();
}

absl::Status TableWriter::Write(const RemoteRows& page, size_t row) {
  const auto write = [&](bool is_static) {
    return table_->is_counter() ? AddCounters(page, row, is_static)
                                : WriteCells(page, row, is_static);
  };
  if (page.statics() > 0) {
    std::string partition = page.KeyBytes(row, page.partition_keys());
    if (partition != partition_) {
      partition_ = std::move(partition);
      LS_RETURN_IF_ERROR(write(true));
    }
  }
  return page.is_row(row) ? write(false) : absl::OkStatus();
}

TableWriter::CellGroup TableWriter::GroupOf(size_t cell) const {
  if (!layout_->cells[cell].timestamp) return kUntold;
  return {contents_[cell].whole.timestamp_micros, contents_[cell].whole.ttl_seconds};
}

void TableWriter::Read(const RemoteRows& page, size_t row, size_t first, size_t end) {
  groups_.clear();
  const auto note = [this](const CellGroup& group) {
    if (std::ranges::find(groups_, group) == groups_.end()) groups_.push_back(group);
  };
  for (size_t i = first; i < end; ++i) {
    Content& content = contents_[i];
    content = {};
    if (page.has_parts(i)) {
      content.elements = page.elements(row, i);
      for (const RemoteElement& element : content.elements) {
        note({element.timestamp_micros, element.ttl_seconds});
      }
    } else {
      content.whole = page.cell(row, i);
      if (content.whole.present) note(GroupOf(i));
    }
  }
  std::ranges::sort(groups_, {}, [](const CellGroup& group) {
    constexpr int64_t kForEver = std::numeric_limits<int32_t>::max();
    const int64_t lives = group.ttl_seconds == 0 ? kForEver : group.ttl_seconds;
    return std::pair(group.timestamp_micros, -lives);
  });
}

void TableWriter::AddKey(const RemoteRows& page, size_t row, size_t columns, CqlValues& values) {
  for (size_t i = 0; i < columns; ++i) values.Add(page.key(row, i));
}

void TableWriter::AddUsing(const CellGroup& group, CqlValues& values) {
  if (group == kUntold) {
    values.AddUnset();
    values.AddUnset();
    return;
  }
  values.Add(CqlBigint(group.timestamp_micros));
  values.Add(CqlInt(group.ttl_seconds));
}

bool TableWriter::AddParts(size_t cell, const CellGroup& group) {
  const Content& content = contents_[cell];
  const auto is_of_group = [&group](const RemoteElement& element) {
    return group == CellGroup{element.timestamp_micros, element.ttl_seconds};
  };
  const Parts parts = layout_->cells[cell].parts;
  if (parts != Parts::kFields) {
    const std::string collection = Collection(content.elements, parts, is_of_group);
    if (collection.empty()) {
      values_.AddUnset();
    } else {
      values_.Add(collection);
    }
    return !collection.empty();
  }
  bool any = false;
  size_t next = 0;
  for (const RemoteElement& element : content.elements) {
    if (!is_of_group(element)) continue;
    for (; next < element.number; ++next) values_.AddUnset();
    values_.Add(element.value);
    ++next;
    any = true;
  }
  const size_t fields = table_->columns[layout_->keys + cell].fields.size();
  for (; next < fields; ++next) values_.AddUnset();
  return any;
}

absl::Status TableWriter::Insert(const RemoteRows& page, size_t row, const CellGroup& group) {
  values_.Clear();
  AddKey(page, row, page.keys(), values_);
  for (size_t i = page.statics(); i < page.cells(); ++i) {
    if (page.has_parts(i)) continue;
    if (contents_[i].whole.present && GroupOf(i) == group) {
      values_.Add(contents_[i].whole.value);
    } else {
      values_.AddUnset();
    }
  }
  AddUsing(group, values_);
  return Send(statements_.insert);
}

absl::Status TableWriter::Update(const RemoteRows& page, size_t row, const CellGroup& group,
                                 bool is_static, bool with_whole) {
  const std::string& statement = is_static ? statements_.update_static : statements_.update;
  if (statement.empty()) return absl::OkStatus();
  values_.Clear();
  AddUsing(group, values_);
  bool any = false;
  const size_t end = is_static ? page.statics() : page.cells();
  for (size_t i = is_static ? 0 : page.statics(); i < end; ++i) {
    if (is_list(i)) continue;
    if (page.has_parts(i)) {
      any = AddParts(i, group) || any;
    } else if (with_whole && contents_[i].whole.present && GroupOf(i) == group) {
      values_.Add(contents_[i].whole.value);
      any = true;
    } else {
      values_.AddUnset();
    }
  }
  if (!any) return absl::OkStatus();
  AddKey(page, row, is_static ? page.partition_keys() : page.keys(), values_);
  return Send(statement);
}

absl::Status TableWriter::WriteCells(const RemoteRows& page, size_t row, bool is_static) {
  const size_t first = is_static ? 0 : page.statics();
  const size_t end = is_static ? page.statics() : page.cells();
  Read(page, row, first, end);
  if (groups_.empty() && !is_static) {
    values_.Clear();
    AddKey(page, row, page.keys(), values_);
    return Send(statements_.insert_key);
  }
  for (const CellGroup& group : groups_) {
    const bool inserts = !is_static && group == groups_.front();
    if (inserts) LS_RETURN_IF_ERROR(Insert(page, row, group));
    LS_RETURN_IF_ERROR(Update(page, row, group, is_static, !inserts));
  }
  for (size_t i = first; i < end; ++i) {
    if (!is_list(i) || contents_[i].elements.empty()) continue;
    LS_RETURN_IF_ERROR(schema_->places_elements ? WriteList(page, row, i, is_static)
                                                : AppendList(page, row, i, is_static));
  }
  return absl::OkStatus();
}

absl::Status TableWriter::WriteList(const RemoteRows& page, size_t row, size_t cell,
                                    bool is_static) {
  const std::vector<RemoteElement>& elements = contents_[cell].elements;
  const std::vector<std::string> places = PlacesOf(elements);
  for (size_t i = 0; i < elements.size(); ++i) {
    values_.Clear();
    AddUsing({elements[i].timestamp_micros, elements[i].ttl_seconds}, values_);
    values_.Add(places[i]);
    values_.Add(elements[i].value);
    AddKey(page, row, is_static ? page.partition_keys() : page.keys(), values_);
    LS_RETURN_IF_ERROR(Send(statements_.lists[cell]));
  }
  return absl::OkStatus();
}

// Several appends are one batch, for requests on their own overtake each other.
absl::Status TableWriter::AppendList(const RemoteRows& page, size_t row, size_t cell,
                                     bool is_static) {
  const std::vector<RemoteElement>& elements = contents_[cell].elements;
  size_t row_elements = 0;
  for (const auto& content : contents_) row_elements += content.elements.size();
  const size_t statements_max =
      std::clamp<size_t>(kBatchRewrittenMax / row_elements, 1, kBatchStatementsMax);
  batch_.clear();
  size_t batch_bytes = 0;
  for (size_t i = 0; i < elements.size();) {
    const CellGroup group{elements[i].timestamp_micros, elements[i].ttl_seconds};
    std::vector<RemoteElement> run;
    for (; i < elements.size() &&
           group == CellGroup{elements[i].timestamp_micros, elements[i].ttl_seconds};
         ++i) {
      run.push_back(elements[i]);
      batch_bytes += elements[i].value.size();
    }
    CqlValues& values = batch_.emplace_back();
    AddUsing(group, values);
    values.Add(Collection(run, Parts::kList, [](const RemoteElement&) { return true; }));
    AddKey(page, row, is_static ? page.partition_keys() : page.keys(), values);
    const bool is_full = batch_.size() >= statements_max || batch_bytes >= kBatchBytesMax;
    if (i < elements.size() && !is_full) continue;
    LS_RETURN_IF_ERROR(MakeRoom());
    client_->requests().UnloggedBatch(free_streams_.back(), statements_.lists[cell], batch_,
                                      schema_->consistency);
    LS_RETURN_IF_ERROR(Sent());
    batch_.clear();
    batch_bytes = 0;
    if (i < elements.size()) LS_RETURN_IF_ERROR(Await(0));  // the next is behind it
  }
  return absl::OkStatus();
}

absl::Status TableWriter::AddCounters(const RemoteRows& page, size_t row, bool is_static) {
  values_.Clear();
  bool any = false;
  for (size_t i = is_static ? 0 : page.statics(); i < (is_static ? page.statics() : page.cells());
       ++i) {
    const RemoteCell cell = page.cell(row, i);
    any = any || cell.present;
    if (cell.present) {
      values_.Add(cell.value);
    } else {
      values_.AddUnset();
    }
  }
  if (!any) return absl::OkStatus();
  AddKey(page, row, is_static ? page.partition_keys() : page.keys(), values_);
  return Send(is_static ? statements_.add_static : statements_.add);
}

absl::Status TableWriter::MakeRoom() {
  return free_streams_.empty() ? Await(kInFlight / 2) : absl::OkStatus();
}

absl::Status TableWriter::Sent() {
  free_streams_.pop_back();
  return client_->requests().view().size() < kSendBytes ? absl::OkStatus() : client_->Send();
}

absl::Status TableWriter::Send(const std::string& statement) {
  LS_RETURN_IF_ERROR(MakeRoom());
  client_->requests().Execute(free_streams_.back(), statement, values_,
                              {.consistency = schema_->consistency});
  return Sent();
}

absl::Status TableWriter::Flush() { return Await(0); }

absl::Status TableWriter::Await(size_t left) {
  LS_RETURN_IF_ERROR(client_->Send());
  while (kInFlight - free_streams_.size() > left) {
    CqlReply reply;
    while (client_->Take(&reply)) {
      LS_RETURN_IF_ERROR(client_->ErrorIn(reply, "writing to " + table_->ShownName()));
      free_streams_.push_back(reply.stream);
    }
    if (kInFlight - free_streams_.size() > left) LS_RETURN_IF_ERROR(client_->Receive());
  }
  return absl::OkStatus();
}

}  // namespace liststore
