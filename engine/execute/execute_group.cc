#include "engine/execute/execute_group.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/short_copy.h"
#include "engine/cql/planner/bind_timeout.h"
#include "engine/execute/answers.h"
#include "engine/execute/select/result_collector.h"
#include "engine/model/packed_item_key.h"
#include "engine/model/partition_key.h"

namespace liststore::execute {
namespace {

bool IsGroupableSelect(const cql::SelectPlan& plan) {
  const TableSchema& storage = plan.table->storage;
  return !plan.table->is_virtual && plan.is_single_partition() &&
         cql::IsOneRange(plan.clustering) && plan.filters.empty() && !plan.is_aggregate &&
         !plan.distinct && !plan.index && !plan.per_partition_limit &&
         !cql::MattersAtOnce(plan.timeout) && storage.packs_item_keys() &&
         storage.regular.size() == 1 && storage.statics.empty() &&
         std::ranges::none_of(plan.table->columns,
                              [](const ColumnDefinition& c) { return c.type.is_multi_cell(); }) &&
         std::ranges::all_of(plan.selections, [](const cql::Selection& selection) {
           return selection.kind == cql::Selection::Kind::kColumn;
         });
}

bool IsGroupableModification(const cql::ModificationPlan& plan) {
  return !WritesElements(&plan) && !plan.table->is_virtual && !plan.condition && !plan.is_counter &&
         plan.views == nullptr && !cql::MattersAtOnce(plan.timeout) &&
         std::ranges::none_of(plan.partition_key,
                              [](const cql::KeyAlternatives& part) { return part.is_in; });
}

}  // namespace

bool WritesElements(const cql::ModificationPlan* plan) {
  return std::ranges::any_of(plan->assignments, &cql::CellAssignment::of_elements) ||
         std::ranges::any_of(plan->static_assignments, &cql::CellAssignment::of_elements);
}

bool IsGroupable(const cql::Plan& plan) {
  // Computed values have no memory in a group.
  if (!plan.computed.empty()) return false;
  if (const auto* select = std::get_if<cql::SelectPlan>(&plan.body))
    return IsGroupableSelect(*select);
  const auto* change = std::get_if<cql::ModificationPlan>(&plan.body);
  return change != nullptr && IsGroupableModification(*change);
}

// One request. Rows arrive while its command runs; frames do not mix, because the engine runs the
// commands of a group one after the other, and each closes the frame before it.
struct ExecuteGroup::Slot final : public RowSink {
  explicit Slot(ExecuteGroup& owner) : group(owner) {}

  // ---- RowSink

  bool AcceptsPackedRuns() const override { return true; }

  // Column by column: all rows are of one length, and know where they go.
  void OnPackedRun(const PackedRun& run) override {
    if (too_large) return;
    Begin();
    const size_t value_bytes = run.stride - kPackedItemKeyBytes;
    size_t row_bytes = 0;
    for (const SelectedColumn column : statement->selected) {
      row_bytes += sizeof(int32_t) + CellBytes(column, value_bytes);
    }
    if (group.out_->size() + run.count * row_bytes > group.out_end_max_) {
      too_large = true;
      return;
    }
    char* to = encoder->Rows(run.count, row_bytes);
    for (const SelectedColumn column : statement->selected) {
      const size_t cell_bytes = CellBytes(column, value_bytes);
      WriteColumn(run, column, cell_bytes, row_bytes, to);
      to += sizeof(int32_t) + cell_bytes;
    }
  }

  void OnRows(std::span<const RowView> rows) override {
    if (too_large) return;
    Begin();
    for (const RowView& row : rows) {
      char text[kItemKeyTextBytes];
      for (const SelectedColumn column : statement->selected) {
        switch (column.kind) {
          case ColumnKind::kClustering:
            encoder->AppendBytes(PlainKey(row.key, text));
            break;
          case ColumnKind::kRegular:
            // A table of this shape has one regular column.
            row.cells.empty() ? encoder->AppendNull() : encoder->AppendBytes(row.cells[0].value);
            break;
          default:
            encoder->AppendBytes(KeyComponent(column.position));
        }
        too_large = group.out_->size() > group.out_end_max_;
        if (too_large) return;
      }
      encoder->EndRow();
    }
  }

  // Of a cell of a run.
  size_t CellBytes(SelectedColumn column, size_t value_bytes) {
    switch (column.kind) {
      case ColumnKind::kClustering:
        return kItemKeyTextBytes;
      case ColumnKind::kRegular:
        return value_bytes;
      default:
        return KeyComponent(column.position).size();
    }
  }

  // The column's cells, the first at `to`, each `row_bytes` behind the one before.
  void WriteColumn(const PackedRun& run, SelectedColumn column, size_t cell_bytes, size_t row_bytes,
                   char* to) {
    const auto for_each_cell = [=, count = run.count](auto&& write) {
      char* cell = to;
      for (size_t i = 0; i < count; ++i, cell += row_bytes) {
        StoreBigEndian32(cell, static_cast<uint32_t>(cell_bytes));
        write(i, cell + sizeof(int32_t));
      }
    };
    switch (column.kind) {
      case ColumnKind::kClustering:
        UnpackItemKeys(run.rows, run.stride, run.count, to, row_bytes);
        break;
      case ColumnKind::kRegular:
        CopyValues(run, cell_bytes, for_each_cell);
        break;
      default:
        for_each_cell([component = KeyComponent(column.position)](size_t, char* cell) {
          CopyShort(component, cell);
        });
    }
  }

  // The values of a run. Of 16 to 32 bytes, as ids are, by two copies whose length is known here.
  template <typename ForEachCell>
  static void CopyValues(const PackedRun& run, size_t value_bytes, ForEachCell& for_each_cell) {
    constexpr size_t kHalf = 16;
    const char* const values = run.rows + kPackedItemKeyBytes;
    const size_t stride = run.stride;
    if (value_bytes < kHalf || value_bytes > 2 * kHalf) {
      return for_each_cell([&](size_t i, char* to) {
        CopyShort({values + i * stride, value_bytes}, to);
      });
    }
    const size_t second = value_bytes - kHalf;
    for_each_cell([values, stride, second](size_t i, char* to) {
      const char* const value = values + i * stride;
      std::memcpy(to, value, kHalf);
      std::memcpy(to + second, value + second, kHalf);
    });
  }

  std::string_view KeyComponent(uint16_t position) {
    if (key_components.empty()) {
      key_components =
          *SplitPartitionKey(partition_key, select->table->storage.partition_key.size());
    }
    return key_components[position];
  }

  // ---- The frame

  void Begin() {
    if (encoder) return;
    group.CloseFrame();
    if (rows_options.skip_metadata && context.is_plain()) {
      encoder.emplace(*group.out_, context, statement->columns.column_count());
    } else {
      encoder.emplace(*group.out_, context, statement->columns, rows_options);
    }
    group.open_ = this;
  }
  void Close() {
    too_large ? encoder->Abandon() : encoder->Finish();
    closed = true;
  }

  void Reset() {
    statement = nullptr;
    select = nullptr;
    key_components.clear();
    encoder.reset();
    closed = false;
    too_large = false;
  }

  ExecuteGroup& group;
  RequestView* request = nullptr;
  const PreparedStatement* statement = nullptr;
  protocol::ResponseContext context;
  // A read.
  const cql::SelectPlan* select = nullptr;
  protocol::RowsOptions rows_options;
  std::string_view partition_key;
  std::string key_memory;  // of `partition_key`, where that is not in the request
  std::vector<std::string_view> key_components;
  cql::EncodedRange range;
  ReadSpec spec;  // of `range`, or of values of the request
  std::optional<protocol::RowsEncoder> encoder;
  bool closed = false;
  bool too_large = false;  // its rows are more than a run may have
  // A write.
  ItemRow item;
  WriteSet writes;
};

ExecuteGroup::ExecuteGroup() {
  for (size_t i = 0; i < kSizeMax; ++i) slots_.push_back(std::make_unique<Slot>(*this));
}
ExecuteGroup::~ExecuteGroup() = default;

void ExecuteGroup::CloseFrame() {
  if (open_ != nullptr) open_->Close();
  open_ = nullptr;
}

ExecuteGroup::Slot& ExecuteGroup::Begin(RequestView& request,
                                        const protocol::ResponseContext& context) {
  LS_DCHECK(!full(), "a group that is full is run first");
  Slot& slot = *slots_[size_];
  slot.Reset();  // of what was there before, maybe turns ago: nobody has looked at it since
  slot.request = &request;
  slot.statement = request.statement().prepared();
  slot.context = context;
  return slot;
}

WriteSet& ExecuteGroup::writes() { return slots_[size_]->writes; }

void ExecuteGroup::AddWrite(RequestView& request, const protocol::ResponseContext& context,
                            const Command& command) {
  Begin(request, context);
  commands_[size_++] = command;
}

bool ExecuteGroup::AddRead(RequestView& request, const protocol::ResponseContext& context,
                           const cql::SelectPlan& plan, cql::BoundValues values) {
  const protocol::QueryParameters& parameters = request.parameters();
  uint64_t limit = 0;
  if (!cql::ResolveLimit(plan.limit, values, "LIMIT", limit).ok()) return false;
  if (plan.at_most_one_row) limit = 1;
  const uint64_t page =
      parameters.page_size ? static_cast<uint64_t>(*parameters.page_size) : UINT64_MAX;
  // Whatever may need a second page, or read long, is not for a group.
  if (!parameters.paging_state.empty() || limit > page || limit > kRowsMax) return false;
  Slot& slot = Begin(request, context);
  bool found = true;
  slot.key_memory.clear();
  const cql::CqlStatus key = cql::EncodePartitionKey(*plan.table, plan.partition_key, values,
                                                     cql::KeyUse::kRead, slot.key_memory, found);
  if (!key.ok() || !found) return false;
  slot.partition_key = slot.key_memory;
  const cql::CqlStatus range =
      cql::EncodeRange(*plan.table, plan.clustering, values, cql::KeyUse::kRead, slot.range, found);
  if (!range.ok() || !found) return false;
  slot.spec.range = slot.range.View(plan.table->storage.packs_item_keys());
  slot.spec.limit = limit;
  Add(slot, plan);
  return true;
}

void ExecuteGroup::AbandonAll() {
  if (open_ != nullptr && open_->encoder) open_->encoder->Abandon();
  open_ = nullptr;
  size_ = 0;
  too_large_.clear();
}

bool ExecuteGroup::AddItemRead(RequestView& request, const ClientState& client,
                               const cql::SelectPlan& plan, const ItemRead& read) {
  const protocol::QueryParameters& parameters = request.parameters();
  const ItemRead::Values values = parameters.values;
  if (!parameters.value_names.empty() || !parameters.paging_state.empty() ||
      !read.key().Takes(values)) {
    return false;
  }
  const uint64_t limit = read.Limit(values);
  const bool has_later_page =
      parameters.page_size && limit > static_cast<uint64_t>(*parameters.page_size);
  if (limit == 0 || limit > kRowsMax || has_later_page) return false;
  Slot& slot = Begin(request, ResponseContextOf(request.header(), client));
  if (!read.key().Make(values, slot.key_memory, slot.partition_key) ||
      !read.MakeBound(values, slot.spec.range.lower)) {
    return false;
  }
  slot.spec.range.upper.at_end = true;
  slot.spec.limit = limit;
  Add(slot, plan);
  return true;
}

bool ExecuteGroup::AddItemInsert(RequestView& request, const ClientState& client, TableId table,
                                 const ItemInsert& insert, int64_t now_seconds,
                                 WriteTimestamp timestamp) {
  const protocol::QueryParameters& parameters = request.parameters();
  const ItemInsert::Values values = parameters.values;
  if (!parameters.value_names.empty() || !insert.key().Takes(values)) return false;
  Slot& slot = Begin(request, ResponseContextOf(request.header(), client));
  if (!insert.key().Make(values, slot.key_memory, slot.partition_key) ||
      !insert.MakeRow(values, now_seconds, slot.item)) {
    return false;
  }
  Append(table, slot.partition_key, timestamp).body = UpsertCommand{{&slot.item.update, 1}};
  return true;
}

Command& ExecuteGroup::Append(TableId table, std::string_view partition_key,
                              WriteTimestamp timestamp) {
  Command& command = commands_[size_++];
  command.table = table;
  command.partition_key = partition_key;
  command.timestamp = timestamp;
  command.evictions = nullptr;
  command.waits_its_turn = false;
  return command;
}

void ExecuteGroup::Add(Slot& slot, const cql::SelectPlan& plan) {
  const TableSchema& storage = plan.table->storage;
  slot.select = &plan;
  slot.rows_options.skip_metadata = slot.request->parameters().skip_metadata;
  slot.spec.descending = storage.reads_backwards() != plan.reversed;
  Append(storage.id, slot.partition_key, WriteTimestamp::None()).body =
      ReadCommand{&slot.spec, &slot};
}

bool ExecuteGroup::Run(shard::Engine& engine, uint64_t now_nanos, OutputBuffer& out) {
  too_large_.clear();
  if (empty()) return false;
  bool has_written = false;
  out_ = &out;
  out_end_max_ = out.size() + kAnswerBytesMax;
  open_ = nullptr;
  engine.ExecuteGroup({commands_.data(), size_}, now_nanos, {replies_.data(), size_});
  CloseFrame();
  for (size_t i = 0; i < size_; ++i) {
    Slot& slot = *slots_[i];
    const Reply& reply = replies_[i];
    if (slot.too_large) {
      too_large_.push_back(slot.request);
      continue;
    }
    Outcome& outcome = slot.request->outcome;
    outcome.dead_rows = reply.info.dead_rows;
    if (slot.closed) continue;
    if (reply.status == OpStatus::kTableGone) {
      // The next PREPARE is to meet the schema of after the change.
      engine.catalog().WaitForChange();
      AnswerError(Unprepared(slot.statement->id), slot.context, outcome, out);
    } else if (reply.status != OpStatus::kOk) {
      AnswerRefusedWrite({reply.status, reply.large_row}, engine, slot.request->consistency(),
                         protocol::WriteType::kSimple, slot.context, outcome, out);
    } else if (slot.select == nullptr) {
      has_written = true;
      protocol::EncodeVoid(out, slot.context);
    } else {
      slot.Begin();
      CloseFrame();
    }
  }
  size_ = 0;
  return has_written;
}

}  // namespace liststore::execute
