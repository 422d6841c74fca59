// INSERT, UPDATE and DELETE.
#include <algorithm>

#include "engine/cql/syntax/quoting.h"
#include "engine/cql/values/print_value.h"
#include "tests/conformance/json_model.h"
#include "tests/conformance/random_parts.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {
namespace {

// What is prepended is written before it.
constexpr int64_t kFirstPrepended = int64_t{1'262'304'000} * 1'000'000;

class WriteMaker {
 public:
  WriteMaker(Random& random, TableModel& model, const WriteTimes& times)
      : random_(random), model_(model), schema_(model.schema()), times_(times), text_(random) {
    if (times.has_scylla_json) text_.TakeScyllaJson();
  }

  RandomWrite Make() {
    if (times_.may_read && random_.OneIn(6)) {
      if (std::optional<RandomWrite> change = ChangeList()) return *std::move(change);
    }
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
    row.list_micros = times_.list_micros;
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
      return !column.value || !column.value->jsons.empty();
    });
    const bool has_tuple =
        times_.has_scylla_json && std::ranges::any_of(columns, [](const Column& column) {
          return column.value && column.column->type.kind() == DataType::Kind::kTuple;
        });
    if (has_json && !row.statics_alone && random_.OneIn(has_tuple ? 1 : 3)) {
      if (times_.has_scylla_json) ShortenTuples(columns, row);
      AddJson(columns, row);
    } else {
      AddColumns(columns);
    }
    row.ttl_seconds = AddUsing(/*ttl=*/true);
    return Finish([this_model = &model_, row](int64_t timestamp, int64_t now) {
      this_model->Write(row, timestamp, now);
    });
  }

  // Some of those that are in cells.
  void ShortenTuples(std::vector<Column>& columns, RowWrite& row) {
    for (auto& [number, bytes] : row.cells) {
      const ModelColumn& model = schema_.ValueColumn(number);
      if (!bytes || model.type.kind() != DataType::Kind::kTuple || random_.OneIn(4)) continue;
      const std::optional<PoolValue> tuple = ShortTuple(model.type, *bytes);
      if (!tuple) continue;
      text_.CountAs(kShortTupleInJson);
      std::ranges::find(columns, &model, &Column::column)->value = tuple;
      bytes = tuple->bytes;
    }
  }

  // JSON '{...}'. Regular columns that it does not name become null, unless it is said otherwise.
  // Static columns stay as they are.
  void AddJson(const std::vector<Column>& columns, RowWrite& row) {
    std::string json;
    for (const Column& column : columns) {
      if (column.unset) continue;
      json += (json.empty() ? "{\"" : ", \"") + column.column->name +
              "\": " + (column.value ? text_.ChooseJson(*column.value) : "null");
    }
    json += "}";
    text_ << " JSON ";
    text_.AddValue({json, cql::QuoteString(json)});
    if (!times_.json_is_of_statics) {
      std::erase_if(row.cells,
                    [&](const auto& cell) { return cell.first >= schema_.regular.size(); });
    }
    if (random_.OneIn(2)) {
      text_ << " DEFAULT UNSET";
      return;
    }
    if (random_.OneIn(2)) text_ << " DEFAULT NULL";
    const size_t end = times_.json_is_of_statics ? schema_.values() : schema_.regular.size();
    for (size_t i = 0; i < end; ++i) {
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
    row.list_micros = times_.list_micros;
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
      text_ << between;
      between = ", ";
      if (column.type.is_multi_cell() && random_.OneIn(2)) {
        row.parts.push_back(
            AddAssignedPart(random_, schema_, i, Timestamp() > kFirstPrepended, text_));
        continue;
      }
      text_ << column.name << " = ";
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

  // What the write will have; the instant of the statement where nobody says another.
  int64_t Timestamp() const {
    return timestamp_.value_or(times_.of_message.value_or(times_.now_micros));
  }

  // A change of a list by what it holds, where there is one.
  std::optional<RandomWrite> ChangeList() {
    struct List {
      LiveRow row;
      size_t column = 0;
    };
    std::vector<List> lists;
    for (const LiveRow& row : model_.Live(times_.now_micros / 1'000'000)) {
      for (size_t i = 0; i < schema_.values(); ++i) {
        const DataType& type = schema_.ValueColumn(i).type;
        if (!row.cells[i] || !type.is_multi_cell() || type.kind() != DataType::Kind::kList)
          continue;
        lists.push_back({row, i});
      }
    }
    if (lists.empty()) return std::nullopt;
    const List& list = lists[random_.Below(lists.size())];
    const ModelColumn& column = schema_.ValueColumn(list.column);
    const auto elements = SplitCollection(column.type, list.row.cells[list.column]->value);
    ModelPart part{.column = list.column, .kind = ModelPart::Kind::kSetAt};
    part.index = random_.Below(elements->size());
    RowWrite write;
    write.ttl_seconds = schema_.default_ttl_seconds;
    write.partition = list.row.partition;
    write.clustering = list.row.clustering;
    write.statics_alone = schema_.is_static(list.column);
    const uint64_t kind = random_.Below(3);
    const auto add_index = [&] {
      text_ << column.name << "[";
      text_.AddNumber(static_cast<int64_t>(part.index), 4);
      text_ << "]";
    };
    if (kind == 0) {
      text_ << "DELETE ";
      add_index();
      text_ << " FROM " << schema_.table;
      AddItsTimestamp();
    } else {
      text_ << "UPDATE " << schema_.table;
      AddItsTimestamp();
      text_ << " SET ";
      if (kind == 1) {
        add_index();
        text_ << " = ";
        // A number of no bytes has no JSON.
        const PoolValue* value = nullptr;
        do {
          value = &RandomPoolValue(random_, {"", column.type.parameters()[0]});
        } while (value->bytes.empty());
        text_.AddValue(*value);
        part.value = value->bytes;
      } else {
        part.kind = ModelPart::Kind::kDiscard;
        const PoolValue& value = RandomPoolValue(random_, column);
        text_ << column.name << " = " << column.name << " - ";
        text_.AddValue(value);
        part.value = value.bytes;
      }
    }
    write.parts.push_back(std::move(part));
    AddExactWhere(write);
    return Finish([this_model = &model_, write](int64_t timestamp, int64_t now) {
      this_model->Write(write, timestamp, now);
    });
  }
  // One that is known: where it looks at rows, the server's own may be above that of its clock.
  void AddItsTimestamp() {
    if (times_.of_message) return ShowTimestamp(" USING ");
    if (!times_.may_say_timestamp) return;
    timestamp_ = RandomTimestamp(random_, times_);
    text_ << " USING TIMESTAMP ";
    text_.AddNumber(*timestamp_, 8);
  }
  void AddExactWhere(const RowWrite& write) {
    std::string_view before = " WHERE ";
    const auto add = [&](const std::vector<ModelColumn>& key, const Values& values) {
      for (size_t i = 0; i < key.size(); ++i) {
        text_ << before << key[i].name << " = ";
        before = " AND ";
        text_.AddValue(PoolValueOf(key[i].type, values[i]));
      }
    };
    add(schema_.partition_key, write.partition);
    if (!write.statics_alone) add(schema_.clustering, write.clustering);
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
      const ModelColumn& column = schema_.ValueColumn(i);
      text_ << (row.cells.empty() && row.parts.empty() ? "" : ", ");
      if (!column.type.is_multi_cell()) {
        text_ << column.name;
        row.cells.emplace_back(i, std::nullopt);
      } else if (column.type.kind() != DataType::Kind::kList && random_.OneIn(2)) {
        row.parts.push_back(AddDeletedPart(random_, schema_, i, text_));
      } else {
        text_ << column.name;
        row.parts.push_back({.column = i, .kind = ModelPart::Kind::kRemoveAll});
      }
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
    // In the order in which the server writes them, by which lists count what is appended: static
    // columns come behind the rows.
    const bool backwards = !schema_.clustering.empty() && schema_.clustering[0].descending;
    std::ranges::sort(keys, [&](const Values& a, const Values& b) {
      const int order = model_.CompareClustering(a, b);
      return backwards ? order > 0 : order < 0;
    });
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    RowWrite of_rows = row;
    RowWrite of_statics = row;
    const auto split = [&](auto& from_rows, auto& from_statics, auto column_of) {
      std::erase_if(from_rows, [&](const auto& x) { return schema_.is_static(column_of(x)); });
      std::erase_if(from_statics, [&](const auto& x) { return !schema_.is_static(column_of(x)); });
    };
    split(of_rows.cells, of_statics.cells, [](const auto& cell) { return cell.first; });
    split(of_rows.parts, of_statics.parts, [](const ModelPart& part) { return part.column; });
    of_statics.statics_alone = true;
    return Finish([this_model = &model_, partitions, keys, of_rows, of_statics](int64_t timestamp,
                                                                                int64_t now) {
      RowWrite row_write = of_rows;
      RowWrite static_write = of_statics;
      for (const Values& partition : partitions.keys) {
        row_write.partition = static_write.partition = partition;
        for (const Values& key : keys) {
          row_write.clustering = key;
          if (!row_write.statics_alone) this_model->Write(row_write, timestamp, now);
        }
        // As often as rows are named: lists grow each time.
        for (size_t i = 0; i < keys.size(); ++i) {
          this_model->Write(static_write, timestamp, now);
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
      if (!times_.has_short_ttls && ttl_seconds > 0 && ttl_seconds < 1000) ttl_seconds = 1000;
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
            },
            text_.kinds()};
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
