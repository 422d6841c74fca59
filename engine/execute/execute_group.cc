#include "engine/execute/execute_group.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/cql/plan/bind_timeout.h"
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

bool WritesElements(const cql::ModificationPlan& plan) {
  return std::ranges::any_of(plan.assignments, &cql::CellAssignment::of_elements) ||
         std::ranges::any_of(plan.static_assignments, &cql::CellAssignment::of_elements);
}

bool IsGroupableModification(const cql::ModificationPlan& plan) {
  return !WritesElements(plan) && !plan.table->is_virtual && !plan.condition && !plan.is_counter &&
         plan.views == nullptr && !cql::MattersAtOnce(plan.timeout) &&
         std::ranges::none_of(plan.partition_key,
                              [](const cql::KeyAlternatives& part) { return part.is_in; });
}

// In steps of 16 bytes, the last over the one before: for some ten bytes a call of memcpy takes
// longer than the copy.
[[gnu::always_inline]] inline void CopyValue(const char* value, size_t bytes, char* to) {
  constexpr size_t kStep = 16;
  if (bytes < kStep || bytes > 4 * kStep) {
    if (bytes != 0) std::memcpy(to, value, bytes);
    return;
  }
  for (size_t i = 0; i + kStep < bytes; i += kStep) std::memcpy(to + i, value + i, kStep);
  std::memcpy(to + bytes - kStep, value + bytes - kStep, kStep);
}

}  // namespace

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
    for (const cql::Selection& selection : select->selections) {
      row_bytes += sizeof(int32_t) + CellBytes(selection, value_bytes);
    }
    if (group.out_->size() + run.count * row_bytes > group.out_end_max_) {
      too_large = true;
      return;
    }
    char* column_at = encoder->Rows(run.count, row_bytes);
    for (const cql::Selection& selection : select->selections) {
      const ColumnDefinition& column = select->table->columns[selection.column];
      const size_t cell_bytes = CellBytes(selection, value_bytes);
      const auto for_each_cell = [&](auto&& write) {
        for (size_t i = 0; i < run.count; ++i) {
          char* const to = column_at + i * row_bytes;
          StoreBigEndian32(to, static_cast<uint32_t>(cell_bytes));
          write(i, to + sizeof(int32_t));
        }
      };
      switch (column.kind) {
        case ColumnKind::kClustering:
          for_each_cell([](size_t, char*) {});
          UnpackItemKeys(run.rows, run.stride, run.count, column_at + sizeof(int32_t), row_bytes);
          break;
        case ColumnKind::kRegular:
          for_each_cell([&](size_t i, char* to) {
            CopyValue(run.rows + i * run.stride + kPackedItemKeyBytes, value_bytes, to);
          });
          break;
        default: {
          const std::string_view component = KeyComponent(column);
          for_each_cell([&](size_t, char* to) { component.copy(to, component.size()); });
        }
      }
      column_at += sizeof(int32_t) + cell_bytes;
    }
  }

  void OnRows(std::span<const RowView> rows) override {
    if (too_large) return;
    Begin();
    for (const RowView& row : rows) {
      char text[kItemKeyTextBytes];
      for (const cql::Selection& selection : select->selections) {
        const ColumnDefinition& column = select->table->columns[selection.column];
        switch (column.kind) {
          case ColumnKind::kClustering:
            encoder->AppendBytes(PlainKey(row.key, text));
            break;
          case ColumnKind::kRegular:
            // A table of this shape has one regular column.
            row.cells.empty() ? encoder->AppendNull() : encoder->AppendBytes(row.cells[0].value);
            break;
          default:
            encoder->AppendBytes(KeyComponent(column));
        }
        too_large = group.out_->size() > group.out_end_max_;
        if (too_large) return;
      }
      encoder->EndRow();
    }
  }

  // Of a cell of a run.
  size_t CellBytes(const cql::Selection& selection, size_t value_bytes) {
    const ColumnDefinition& column = select->table->columns[selection.column];
    switch (column.kind) {
      case ColumnKind::kClustering:
        return kItemKeyTextBytes;
      case ColumnKind::kRegular:
        return value_bytes;
      default:
        return KeyComponent(column).size();
    }
  }

  std::string_view KeyComponent(const ColumnDefinition& column) {
    if (key_components.empty()) {
      key_components =
          *SplitPartitionKey(partition_key, select->table->storage.partition_key.size());
    }
    return key_components[column.position];
  }

  // ---- The frame

  void Begin() {
    if (encoder) return;
    group.CloseFrame();
    encoder.emplace(*group.out_, context, statement->columns, rows_options);
    group.open_ = this;
  }
  void Close() {
    too_large ? encoder->Abandon() : encoder->Finish();
    closed = true;
  }

  void Reset() {
    statement = nullptr;
    select = nullptr;
    partition_key.clear();
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
  std::string partition_key;
  std::vector<std::string_view> key_components;
  cql::EncodedRange range;
  ReadSpec spec;  // of `range`
  std::optional<protocol::RowsEncoder> encoder;
  bool closed = false;
  bool too_large = false;  // its rows are more than a run may have
  // A write.
  WriteSet writes;
};

ExecuteGroup::ExecuteGroup() {
  for (size_t i = 0; i < kSizeMax; ++i) slots_.push_back(std::make_unique<Slot>(*this));
  commands_.reserve(kSizeMax);
  replies_.resize(kSizeMax);
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
  commands_.push_back(command);
  ++size_;
}

cql::CqlOr<bool> ExecuteGroup::AddRead(RequestView& request,
                                       const protocol::ResponseContext& context,
                                       const cql::SelectPlan& plan, cql::BoundValues values) {
  const protocol::QueryParameters& parameters = request.parameters();
  uint64_t limit = 0;
  LS_RETURN_IF_ERROR(cql::ResolveLimit(plan.limit, values, "LIMIT", limit));
  if (plan.at_most_one_row()) limit = 1;
  const uint64_t page =
      parameters.page_size ? static_cast<uint64_t>(*parameters.page_size) : UINT64_MAX;
  // Whatever may need a second page, or read long, is not for a group.
  if (!parameters.paging_state.empty() || limit > page || limit > kRowsMax) return false;
  Slot& slot = Begin(request, context);
  bool found = true;
  LS_RETURN_IF_ERROR(cql::EncodePartitionKey(*plan.table, plan.partition_key, values,
                                             cql::KeyUse::kRead, slot.partition_key, found));
  if (!found) return false;
  LS_RETURN_IF_ERROR(cql::EncodeRange(*plan.table, plan.clustering, values, cql::KeyUse::kRead,
                                      slot.range, found));
  if (!found) return false;
  slot.select = &plan;
  slot.rows_options.skip_metadata = parameters.skip_metadata;
  const TableSchema& storage = plan.table->storage;
  slot.spec.range = slot.range.View(storage.packs_item_keys());
  slot.spec.descending = storage.reads_backwards() != plan.reversed;
  slot.spec.limit = limit;
  commands_.push_back({.table = storage.id,
                       .partition_key = slot.partition_key,
                       .body = ReadCommand{&slot.spec, &slot}});
  ++size_;
  return true;
}

void ExecuteGroup::Run(shard::Engine& engine, uint64_t now_nanos, OutputBuffer& out) {
  too_large_.clear();
  if (empty()) return;
  out_ = &out;
  out_end_max_ = out.size() + kAnswerBytesMax;
  open_ = nullptr;
  const std::span<Reply> replies(replies_.data(), size_);
  std::ranges::fill(replies, Reply());
  engine.ExecuteGroup(commands_, now_nanos, replies);
  CloseFrame();
  for (size_t i = 0; i < size_; ++i) {
    Slot& slot = *slots_[i];
    const Reply& reply = replies[i];
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
      AnswerRefusedWrite({reply.status, reply.row_bytes}, engine.memory_refusal(),
                         slot.request->consistency(), protocol::WriteType::kSimple, slot.context,
                         outcome, out);
    } else if (slot.select == nullptr) {
      protocol::EncodeVoid(out, slot.context);
    } else {
      slot.Begin();
      CloseFrame();
    }
  }
  commands_.clear();
  size_ = 0;
}

}  // namespace liststore::execute
