// INSERT, UPDATE and DELETE.
#include <algorithm>

#include "engine/cql/print_value.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {
namespace {

class WriteMaker {
 public:
  WriteMaker(Random& random, TableModel& model, const WriteTimes& times)
      : random_(random), model_(model), schema_(model.schema()), times_(times), text_(random) {}

  RandomWrite Make() {
    switch (random_.Below(12)) {
      case 0:
        return DeleteRows();
      case 1:
        return random_.OneIn(2) ? DeleteRows() : DeleteCells();
      case 2:
        return DeleteCells();
      case 3:
      case 4:
      case 5:
        return Update();
      default:
        return Insert();
    }
  }

 private:
  // What an INSERT says of a column; what is not set is in what is sent alone.
  struct Column {
    const ModelColumn* column;
    std::optional<PoolValue> value;
    bool unset = false;
  };

  RandomWrite Insert() {
    RowWrite row;
    text_ << "INSERT INTO " << schema_.table;
    std::vector<Column> columns;  // in any order
    const auto add_key = [&](const std::vector<ModelColumn>& key, bool may_be_empty, Values& to) {
      for (const ModelColumn& column : key) {
        const PoolValue* value = &RandomPoolValue(random_, column);
        while (!may_be_empty && value->bytes.empty()) value = &RandomPoolValue(random_, column);
        columns.push_back({&column, *value});
        to.push_back(value->bytes);
      }
    };
    add_key(schema_.partition_key, schema_.partition_key.size() > 1, row.partition);
    row.statics_alone = StaticsAlone();
    row.marker = !row.statics_alone;
    if (!row.statics_alone) add_key(schema_.clustering, true, row.clustering);
    const size_t first = row.statics_alone ? schema_.regular.size() : 0;
    for (size_t i = first; i < schema_.values(); ++i) {
      // Without any it would be the clustering key that is missing.
      const bool must = row.statics_alone && i == first;
      const uint64_t kind = must ? 3 + random_.Below(9) : random_.Below(12);
      if (kind == 0) continue;
      const ModelColumn& model = schema_.ValueColumn(i);
      Column column{&model, std::nullopt, kind == 1};
      if (kind > 2) column.value = RandomPoolValue(random_, model);
      if (kind != 1) {
        row.cells.emplace_back(i, column.value ? std::optional(column.value->bytes) : std::nullopt);
      }
      columns.push_back(column);
    }
    for (size_t i = columns.size(); i > 1; --i)
      std::swap(columns[i - 1], columns[random_.Below(i)]);
    const bool has_json = std::ranges::all_of(columns, [](const Column& column) {
      return !column.value || JsonOf(column.column->type, column.value->bytes);
    });
    if (has_json && !row.statics_alone && random_.OneIn(3)) {
      AddJson(columns, row);
    } else {
      AddColumns(columns);
    }
    row.ttl_seconds = AddUsing(/*ttl=*/true);
    return Finish([this_model = &model_, row](int64_t timestamp, int64_t now) {
      this_model->Write(row, timestamp, now);
    });
  }

  // JSON '{...}'. Regular columns that it does not name become null, unless it is said otherwise.
  void AddJson(const std::vector<Column>& columns, RowWrite& row) {
    std::string json;
    for (const Column& column : columns) {
      if (column.unset) continue;
      std::optional<std::string> bytes;
      if (column.value) bytes = column.value->bytes;
      json += (json.empty() ? "{\"" : ", \"") + column.column->name +
              "\": " + *JsonOf(column.column->type, bytes);
    }
    json += "}";
    text_ << " JSON ";
    text_.AddValue({json, PrintString(json)});
    if (random_.OneIn(2)) {
      text_ << " DEFAULT UNSET";
      return;
    }
    for (size_t i = 0; i < schema_.regular.size(); ++i) {
      const bool is_named =
          std::ranges::any_of(row.cells, [&](const auto& cell) { return cell.first == i; });
      if (!is_named) row.cells.emplace_back(i, std::nullopt);
    }
  }

  // (column, ...) VALUES (...).
  void AddColumns(std::vector<Column>& columns) {
    text_ << " (";
    // The unset ones last: what is shown just ends earlier.
    std::stable_partition(columns.begin(), columns.end(),
                          [](const Column& column) { return !column.unset; });
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string name = (i == 0 ? "" : ", ") + columns[i].column->name;
      if (columns[i].unset) {
        text_.Send(name);
      } else {
        text_ << name;
      }
    }
    text_ << ") VALUES (";
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].unset) {
        text_.AddUnset(", ");
        continue;
      }
      if (i > 0) text_ << ", ";
      columns[i].value ? text_.AddValue(*columns[i].value) : text_.AddNull();
    }
    text_ << ")";
  }

  RandomWrite Update() {
    text_ << "UPDATE " << schema_.table;
    RowWrite row;
    row.ttl_seconds = AddUsing(/*ttl=*/true);
    text_ << " SET ";
    const auto [first, always] = ChooseValues(row);
    std::string_view between;
    std::string unset;
    for (size_t i = first; i < schema_.values(); ++i) {
      if (i != always && random_.OneIn(2)) continue;
      const ModelColumn& column = schema_.ValueColumn(i);
      const bool is_null = random_.OneIn(8);
      if (i != always && random_.OneIn(8)) {
        unset += ", " + column.name + " = ";
        continue;
      }
      text_ << between << column.name << " = ";
      between = ", ";
      std::optional<std::string> bytes;
      if (is_null) {
        text_.AddNull();
      } else {
        const PoolValue& value = RandomPoolValue(random_, column);
        text_.AddValue(value);
        bytes = value.bytes;
      }
      row.cells.emplace_back(i, bytes);
    }
    // Several unset ones are one name after the other.
    while (!unset.empty()) {
      const size_t next = unset.find(", ", 2);
      text_.AddUnset(unset.substr(0, next));
      unset = next == std::string::npos ? "" : unset.substr(next);
    }
    return OnWholeKeys(row);
  }

  bool StaticsAlone() { return !schema_.statics.empty() && random_.OneIn(4); }
  // Of an UPDATE or a DELETE of columns: the first of those to choose from, and one that it names.
  // A regular one, where the row is meant too.
  std::pair<size_t, size_t> ChooseValues(RowWrite& row) {
    const size_t regular = schema_.regular.size();
    row.statics_alone = StaticsAlone();
    if (row.statics_alone) return {regular, regular + random_.Below(schema_.statics.size())};
    return {0, random_.Below(regular)};
  }

  RandomWrite DeleteCells() {
    text_ << "DELETE ";
    RowWrite row;
    const auto [first, always] = ChooseValues(row);
    for (size_t i = first; i < schema_.values(); ++i) {
      if (i != always && random_.OneIn(2)) continue;
      text_ << (row.cells.empty() ? "" : ", ") << schema_.ValueColumn(i).name;
      row.cells.emplace_back(i, std::nullopt);
    }
    text_ << " FROM " << schema_.table;
    AddUsing(/*ttl=*/false);
    return OnWholeKeys(row);
  }

  RandomWrite DeleteRows() {
    text_ << "DELETE FROM " << schema_.table;
    AddUsing(/*ttl=*/false);
    text_ << " WHERE ";
    const PartitionChoice partitions = AddPartitionWhere(random_, schema_, text_);
    TableModel::Predicate covers = [](const Values&) { return true; };
    const size_t without = text_.shown().size();
    if (!random_.OneIn(8)) {
      covers = AddClusteringWhere(random_, schema_, ClusteringUse::kDeletion, " AND ", text_);
    }
    const bool whole = text_.shown().size() == without;
    return Finish([this_model = &model_, partitions, covers, whole](int64_t timestamp, int64_t) {
      for (const Values& key : partitions.keys) this_model->Delete(key, covers, whole, timestamp);
    });
  }

  // WHERE of an UPDATE, and what it does to each row.
  RandomWrite OnWholeKeys(const RowWrite& row) {
    text_ << " WHERE ";
    const PartitionChoice partitions = AddPartitionWhere(random_, schema_, text_);
    std::vector<Values> keys = {{}};
    if (!row.statics_alone) {
      AddClusteringWhere(random_, schema_, ClusteringUse::kWholeKeys, " AND ", text_, &keys);
    }
    return Finish([this_model = &model_, partitions, keys, row](int64_t timestamp, int64_t now) {
      RowWrite each = row;
      for (const Values& partition : partitions.keys) {
        each.partition = partition;
        for (const Values& key : keys) {
          each.clustering = key;
          this_model->Write(each, timestamp, now);
        }
      }
    });
  }

  // USING, if anything is to be said; the TTL that counts.
  int64_t AddUsing(bool ttl) {
    int64_t ttl_seconds = schema_.default_ttl_seconds;
    bool said = false;
    const auto begin = [&] { return std::exchange(said, true) ? " AND " : " USING "; };
    const bool timestamp_first = random_.OneIn(2);
    if (timestamp_first) AddTimestamp(begin, said);
    if (ttl && random_.OneIn(2)) {
      constexpr int64_t kTtls[] = {0, 1, 2, 5, 30, 1000, 100'000};
      ttl_seconds = kTtls[random_.Below(std::size(kTtls))];
      text_ << begin() << "TTL ";
      text_.AddNumber(ttl_seconds, 4);
    } else if (ttl && !said && random_.OneIn(10)) {
      // Alone, so that what is shown has no USING.
      text_.AddUnset(" USING TTL ");
      if (times_.of_message) ShowTimestamp(" USING ");
      return ttl_seconds;
    }
    if (!timestamp_first) AddTimestamp(begin, said);
    if (!timestamp_ && times_.of_message) ShowTimestamp(said ? " AND " : " USING ");
    return ttl_seconds;
  }
  template <typename Begin>
  void AddTimestamp(const Begin& begin, bool said) {
    if (!times_.may_say_timestamp || random_.OneIn(3)) return;
    if (!said && random_.OneIn(20)) return;
    timestamp_ = RandomTimestamp(random_, times_);
    text_ << begin() << "TIMESTAMP ";
    text_.AddNumber(*timestamp_, 8);
  }
  void ShowTimestamp(std::string_view begin) {
    text_.Show(std::string(begin) + "TIMESTAMP " + std::to_string(*times_.of_message));
  }

  template <typename Apply>
  RandomWrite Finish(Apply apply) {
    return {text_.Sent(), text_.shown(),
            [apply, own = timestamp_](int64_t timestamp, int64_t now_seconds) {
              apply(own.value_or(timestamp), now_seconds);
            }};
  }

  Random& random_;
  TableModel& model_;
  const ModelSchema& schema_;
  const WriteTimes& times_;
  StatementText text_;
  std::optional<int64_t> timestamp_;
};

}  // namespace

int64_t RandomTimestamp(Random& random, const WriteTimes& times) {
  switch (random.Below(10)) {
    case 0:
      return random.Between(-1, 2);
    case 1:
    case 2:
    case 3:
      return times.now_micros + random.Between(-2, 2);
    case 4:
    case 5:
      return times.now_micros + random.Between(-2, 2) * 1000;
    default:
      return times.start_micros + random.Between(0, 3);
  }
}

RandomWrite MakeRandomWrite(Random& random, TableModel& model, const WriteTimes& times) {
  return WriteMaker(random, model, times).Make();
}

}  // namespace liststore::testing
