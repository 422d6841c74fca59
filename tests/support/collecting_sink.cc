#include "tests/support/collecting_sink.h"

#include <sstream>
#include <utility>

#include "engine/model/packed_item_key.h"

namespace liststore::testing {
namespace {

// Item keys as they are, other bytes in hex; long strings cut.
std::string Printable(const std::string& bytes) {
  constexpr size_t kShownMax = 60;
  std::ostringstream out;
  for (size_t i = 0; i < bytes.size() && i < kShownMax; ++i) {
    const unsigned char c = static_cast<unsigned char>(bytes[i]);
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      out << bytes[i];
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      out << "\\x" << kHex[c >> 4] << kHex[c & 15];
    }
  }
  if (bytes.size() > kShownMax) out << "... (" << bytes.size() << " bytes)";
  return out.str();
}

std::ostream& operator<<(std::ostream& out, const Liveness& liveness) {
  if (!liveness.present()) return out << "none";
  out << "ts=" << liveness.timestamp.micros;
  if (liveness.expiring()) {
    out << " expiry=" << liveness.expiry_seconds << " ttl=" << liveness.ttl_seconds;
  }
  return out;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const CollectedRow& row) {
  if (row.is_static) {
    out << "static";
  } else {
    out << "key '" << Printable(row.key) << "'";
  }
  if (!row.from_run) out << " marker(" << row.marker << ")";
  for (const CollectedCell& cell : row.cells) {
    out << " [" << cell.column;
    if (!cell.path.empty()) out << " " << Printable(cell.path);
    out << "]='" << Printable(cell.value) << "'";
    if (!row.from_run) out << "(" << cell.liveness << ")";
  }
  return out << (row.from_run ? " from a run" : "");
}

bool SameRow(const CollectedRow& expected, const CollectedRow& actual) {
  if (expected.key != actual.key || expected.is_static != actual.is_static) return false;
  if (actual.from_run) {
    return expected.cells.size() == 1 && actual.cells.size() == 1 &&
           expected.cells[0].column == actual.cells[0].column &&
           expected.cells[0].value == actual.cells[0].value;
  }
  return expected.marker == actual.marker && expected.cells == actual.cells;
}

std::string FirstDifference(const std::vector<CollectedRow>& expected,
                            const std::vector<CollectedRow>& actual) {
  std::ostringstream out;
  for (size_t i = 0; i < expected.size() || i < actual.size(); ++i) {
    if (i < expected.size() && i < actual.size() && SameRow(expected[i], actual[i])) continue;
    out << "row " << i << " of " << expected.size() << " expected, " << actual.size() << " actual";
    out << "\n  expected: ";
    i < expected.size() ? out << expected[i] : out << "nothing";
    out << "\n  actual:   ";
    i < actual.size() ? out << actual[i] : out << "nothing";
    break;
  }
  return out.str();
}

void CollectingSink::OnRows(std::span<const RowView> rows) {
  if (rows.empty() || rows.size() > kRowsPerCallMax) Complain("a call brings 1 to 32 rows");
  for (const RowView& row : rows) {
    char text[kItemKeyTextBytes];
    CollectedRow collected{std::string(PlainKey(row.key, text)), row.marker, {}};
    PackedItemKey packed;
    if (MakeClusteringKey(collected.key, packs_item_keys_, packed).packed != row.key.packed) {
      Complain("exactly the item keys of a packing table are packed");
    }
    AddCells(row.cells, collected);
    Add(std::move(collected));
  }
}

void CollectingSink::OnStaticRow(std::span<const LiveCellView> cells) {
  if (!rows_.empty()) Complain("the static row comes once, before all others");
  if (cells.empty()) Complain("a static row without cells is none");
  CollectedRow collected;
  collected.is_static = true;
  AddCells(cells, collected);
  rows_.push_back(std::move(collected));
}

void CollectingSink::AddCells(std::span<const LiveCellView> cells, CollectedRow& row) {
  for (const LiveCellView& cell : cells) {
    if (!row.cells.empty()) {
      const CollectedCell& last = row.cells.back();
      const bool ascends =
          last.column != cell.column ? last.column < cell.column : last.path < cell.path;
      if (!ascends) Complain("cells come in the order of columns and paths");
    }
    row.cells.push_back(
        {cell.column, cell.liveness, std::string(cell.value), std::string(cell.path)});
  }
}

void CollectingSink::OnPackedRun(const PackedRun& run) {
  if (!accepts_packed_runs_) Complain("a run was sent to a sink that takes none");
  if (!descending_) Complain("runs are for reads that go down");
  if (run.count == 0 || run.stride < kPackedItemKeyBytes) {
    Complain("a run has rows of at least a key");
    return;
  }
  for (size_t i = 0; i < run.count; ++i) {
    const char* row = run.rows + i * run.stride;
    char text[kItemKeyTextBytes];
    UnpackItemKey(row, text);
    std::string value(row + kPackedItemKeyBytes, run.stride - kPackedItemKeyBytes);
    Add({std::string(text, kItemKeyTextBytes), {}, {{0, {}, std::move(value)}}, true});
  }
  rows_from_runs_ += run.count;
}

void CollectingSink::Add(CollectedRow row) {
  if (!rows_.empty() && !rows_.back().is_static) {
    const int order = rows_.back().key.compare(row.key);
    if (descending_ ? order <= 0 : order >= 0) Complain("rows come in the order of the read");
  }
  rows_.push_back(std::move(row));
}

void CollectingSink::Complain(const std::string& what) {
  if (complaint_.empty()) complaint_ = what;
}

}  // namespace liststore::testing
