#include "tests/conformance/random_schema_changes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tests/conformance/random_counters.h"
#include "tests/conformance/random_statements.h"

namespace liststore::testing {
namespace {

using Change = RandomSchemaChange;

constexpr size_t kRegularsMax = 6;
constexpr size_t kStaticsMax = 3;
constexpr size_t kViewsMax = 3;

struct NewColumn {
  ModelColumn column;
  bool is_static = false;
};

bool HasColumn(const std::vector<ModelColumn>& columns, const std::string& name) {
  return std::ranges::find(columns, name, &ModelColumn::name) != columns.end();
}

// Whether it is a user type or made of some.
bool IsOfUserTypes(const DataType& type) {
  return type.kind() == DataType::Kind::kUser ||
         std::ranges::any_of(type.parameters(), IsOfUserTypes);
}

// "a", or "(a, b)".
std::string InBrackets(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return texts[0];
  std::string text;
  for (const std::string& each : texts) text += (text.empty() ? "(" : ", ") + each;
  return text + ")";
}

class ChangeMaker {
 public:
  ChangeMaker(Random& random, ModelTables& tables, const SchemaChangeOptions& options)
      : random_(random), tables_(tables), options_(options) {}

  // Some cannot be at the moment.
  Change Make() {
    while (true) {
      if (std::optional<Change> change = TryAny()) return *std::move(change);
    }
  }

  std::optional<Change> MakeBetweenPages(TableModel& model) {
    only_ = &model;
    std::string_view kind;
    std::optional<Change> change;
    for (int tries = 0; !change && tries < 6; ++tries) {
      switch (random_.Below(6)) {
        case 0:
          kind = kPagesAroundAdd;
          change = AddColumns();
          break;
        case 1:
        case 5:
          kind = kPagesAroundDrop;
          // Whether static values that are left alone come behind rows that are gone, nobody says.
          if (model.schema().statics.empty()) change = DropColumns();
          break;
        case 2:
          kind = kPagesAroundRename;
          change = RenameKey();
          break;
        case 3:
          kind = kPagesAroundIndex;
          change = ChangeIndex();
          break;
        default:
          kind = kPagesAroundType;
          change = AlterType(/*of_keys=*/random_.OneIn(2));
          // Who asks for the next page may name fields in a constant.
          if (change && change->statements[0].find(" RENAME ") != std::string::npos) change.reset();
      }
    }
    if (change) change->kind = kind;
    return change;
  }

  Change CreateView() {
    TableModel* base = &AnyModel();
    std::vector<std::string> names;
    for (size_t i = 1; i <= kViewsMax; ++i) {
      names.push_back(tables_.keyspace + ".view" + std::to_string(i));
    }
    std::erase_if(names, [&](const std::string& name) {
      return std::ranges::any_of(tables_.views,
                                 [&](const auto& view) { return view->schema().table == name; });
    });
    ModelView view = RandomView(random_, base->schema(), names[random_.Below(names.size())],
                                /*plain=*/options_.is_cassandra);
    return {.statements = {view.create},
            .built_view = WithoutKeyspace(view.schema.table),
            .apply = [this_tables = &tables_, base, view = std::move(view),
                      caps_ttls = !options_.is_cassandra]() -> const TableModel& {
              return *this_tables->views.emplace_back(
                  std::make_unique<ViewModel>(view, *base, this_tables->list_counts, caps_ttls));
            }};
  }

 private:
  std::optional<Change> TryAny() {
    switch (random_.Below(20)) {
      case 0:
      case 1:
      case 2:
        return AddColumns();
      case 3:
      case 4:
      case 5:
        return DropColumns();
      case 6:
        return RenameKey();
      case 7:
        return ChangeOptions();
      case 8:
      case 9:
      case 10:
        return ChangeIndex();
      case 11:
      case 12:
      case 13:
        return ChangeView();
      case 14:
        return AlterType(/*of_keys=*/random_.OneIn(4));
      case 15:
      case 16:
      case 17:
        if (IsOfClustering(tables_.types.fixed)) return AlterType(/*of_keys=*/true);
        return std::nullopt;
      case 18:
        return options_.is_cassandra ? std::nullopt : AlterColumn();
      default:
        return random_.OneIn(2) ? std::optional(MakeAnew()) : std::nullopt;
    }
  }

  std::string WithoutKeyspace(const std::string& name) const {
    return name.substr(tables_.keyspace.size() + 1);
  }
  TableModel& AnyModel() {
    return only_ != nullptr ? *only_ : *tables_.models[random_.Below(tables_.models.size())];
  }
  TableModel& AnyTable() {
    return only_ == nullptr && random_.OneIn(6) ? *tables_.counters : AnyModel();
  }
  bool IsCounters(const TableModel& model) const { return &model == tables_.counters.get(); }

  // ---- Columns

  std::optional<Change> AddColumns() {
    TableModel& model = AnyTable();
    std::vector<NewColumn> added;
    for (uint64_t left = random_.OneIn(3) ? 3 : 1; left > 0; --left) {
      std::optional<NewColumn> column = RandomColumnFor(model);
      const auto is_same = [&](const NewColumn& other) {
        return other.column.name == column->column.name;
      };
      if (column && std::ranges::none_of(added, is_same)) added.push_back(*std::move(column));
    }
    if (added.empty()) return std::nullopt;
    std::vector<std::string> texts;
    for (const auto& [column, is_static] : added) {
      texts.push_back(column.name + " " + column.type.ToString() + (is_static ? " STATIC" : ""));
    }
    return Change{.statements = {Alter(model) + "ADD " + InBrackets(texts)},
                  .apply = [&model, added, views = tables_.ViewsOf(model)]() -> const TableModel& {
                    const ModelSchema before = model.schema();
                    for (const auto& [column, is_static] : added)
                      model.AddColumn(column, is_static);
                    for (ViewModel* view : views) view->FollowColumns(before);
                    return model;
                  }};
  }

  std::optional<NewColumn> RandomColumnFor(const TableModel& model) {
    const ModelSchema& schema = model.schema();
    const bool is_static = !schema.clustering.empty() && random_.OneIn(3);
    // Cassandra loses rows of a view that has not all columns.
    const auto has_some = [](const ViewModel* view) { return !view->has_all_columns(); };
    if (options_.is_cassandra && std::ranges::any_of(tables_.ViewsOf(model), has_some)) {
      return std::nullopt;
    }
    const std::string name = random_.OneIn(2)
                                 ? NameBefore(schema, is_static)
                                 : NumberedName(is_static, random_.Below(kRegularsMax));
    if (HasColumn(is_static ? schema.statics : schema.regular, name)) return std::nullopt;
    // What comes back is in no view.
    if (model.Keeps(name) && !tables_.ViewsOf(model).empty()) return std::nullopt;
    const auto before = schema.dropped.find(name);
    const bool was = before != schema.dropped.end();
    NewColumn added{RandomValueColumn(random_, name, tables_.types), is_static};
    DataType& type = added.column.type;
    if (IsCounters(model)) {
      if (was) return std::nullopt;  // a counter is not added again
      type = CqlType::kCounter;
    }
    // ScyllaDB takes another type, unless both are of several cells.
    const bool may_differ =
        !options_.is_cassandra && !type.is_multi_cell() && !model.Keeps(name) && random_.OneIn(3);
    if (was && !may_differ) type = before->second;
    // Cassandra keeps the user types of dropped columns as tuples, and refuses them again.
    if (options_.is_cassandra && was && IsOfUserTypes(type)) return std::nullopt;
    return added;
  }

  static std::string NumberedName(bool is_static, size_t number) {
    return (is_static ? "s" : "v") + std::to_string(is_static ? number % kStaticsMax : number);
  }
  // Of a column that was dropped, if there is one.
  static std::string NameBefore(const ModelSchema& schema, bool is_static) {
    for (const auto& [name, type] : schema.dropped) {
      if (name.starts_with('s') == is_static) return name;
    }
    return NumberedName(is_static, 0);
  }

  std::string Alter(const TableModel& model) const {
    return "ALTER TABLE " + model.schema().table + " ";
  }

  bool MayDrop(const TableModel& model, size_t column) const {
    const ModelSchema& schema = model.schema();
    const std::vector<ViewModel*> views = tables_.ViewsOf(model);
    const DataType& type = schema.ValueColumn(column).type;
    const bool has_fields = type.kind() == DataType::Kind::kUser && type.is_multi_cell();
    if (options_.is_cassandra && (has_fields || !views.empty())) return false;
    if (schema.index && schema.index->on == ModelIndex::On::kValue &&
        schema.index->column == column) {
      return false;
    }
    // Source: ScyllaDB cql3/statements/alter_table_statement.cc, drop_column.
    if (schema.index && schema.index->on != ModelIndex::On::kValue && !schema.is_static(column) &&
        !options_.is_cassandra) {
      return false;
    }
    const std::string& name = schema.ValueColumn(column).name;
    return std::ranges::none_of(
        views, [&](const ViewModel* view) { return view->Needs(name, schema.is_static(column)); });
  }

  // A regular one stays.
  std::optional<Change> DropColumns() {
    TableModel& model = AnyTable();
    const ModelSchema& schema = model.schema();
    size_t regulars = schema.regular.size();
    std::vector<std::string> names;
    for (size_t i = 0; i < schema.values(); ++i) {
      if (!random_.OneIn(3) || !MayDrop(model, i)) continue;
      if (!schema.is_static(i) && regulars-- == 1) continue;
      names.push_back(schema.ValueColumn(i).name);
    }
    if (names.empty()) return std::nullopt;
    std::string statement = Alter(model) + "DROP " + InBrackets(names);
    std::optional<int64_t> hidden_until = options_.hidden_until;
    if (options_.drop_timestamp && !IsCounters(model)) {
      hidden_until = options_.drop_timestamp;
      statement += " USING TIMESTAMP " + std::to_string(*options_.drop_timestamp);
    } else if (options_.hidden_until && !IsCounters(model) && random_.OneIn(2)) {
      // Somewhere among the timestamps of what was written.
      constexpr int64_t kSpreadMicros = 4'000'000;
      *hidden_until += static_cast<int64_t>(random_.Below(kSpreadMicros)) - kSpreadMicros * 3 / 4;
      statement += " USING TIMESTAMP " + std::to_string(*hidden_until);
    }
    return Change{.statements = {statement},
                  .apply = [&model, names, hidden_until,
                            views = tables_.ViewsOf(model)]() -> const TableModel& {
                    const ModelSchema before = model.schema();
                    for (const std::string& name : names) model.DropColumn(name, hidden_until);
                    for (ViewModel* view : views) view->FollowColumns(before);
                    return model;
                  }};
  }

  // ALTER v TYPE: ScyllaDB alone has it.
  std::optional<Change> AlterColumn() {
    TableModel& model = AnyModel();
    const ModelSchema& schema = model.schema();
    const size_t number = random_.Below(schema.values());
    const ModelColumn& column = schema.ValueColumn(number);
    const std::optional<DataType> type = TypeBeside(column.type);
    const bool is_indexed = schema.index && schema.IndexedColumn().name == column.name;
    const auto is_key = [&](const ViewModel* view) { return view->HasInKey(column.name); };
    const std::vector<ViewModel*> views = tables_.ViewsOf(model);
    if (!type || is_indexed || std::ranges::any_of(views, is_key)) return std::nullopt;
    return Change{
        .statements = {Alter(model) + "ALTER " + column.name + " TYPE " + type->ToString()},
        .apply = [&model, name = column.name, type = *type, views]() -> const TableModel& {
          const ModelSchema before = model.schema();
          model.SetColumnType(name, type);
          for (ViewModel* view : views) view->FollowColumns(before);
          return model;
        }};
  }
  // One that has all values of a type, with the same bytes; nullopt: none.
  std::optional<DataType> TypeBeside(const DataType& type) {
    if (type.is(CqlType::kAscii) && random_.OneIn(2)) return CqlType::kText;
    if (type.is(CqlType::kTimestamp) && random_.OneIn(2)) return CqlType::kBigint;
    if (!type.is_native() || type.is(CqlType::kBlob)) return std::nullopt;
    return CqlType::kBlob;
  }

  // Columns of the key, the clustering ones above all.
  std::optional<Change> RenameKey() {
    TableModel& model = AnyTable();
    const ModelSchema& schema = model.schema();
    std::vector<std::pair<std::string, std::string>> renames;
    const auto add = [&](const ModelColumn& column) {
      if (schema.index && schema.IndexedColumn().name == column.name) return;
      std::string to = column.name;
      // c0, d0, e0, and c0 again; p0, q0, r0.
      to[0] = to[0] == 'e' ? 'c' : to[0] == 'r' ? 'p' : static_cast<char>(to[0] + 1);
      renames.emplace_back(column.name, to);
    };
    for (const ModelColumn& column : schema.clustering) {
      if (random_.OneIn(2)) add(column);
    }
    for (const ModelColumn& column : schema.partition_key) {
      if (random_.OneIn(4)) add(column);
    }
    if (renames.empty()) return std::nullopt;
    std::string statement = Alter(model);
    std::string_view before = "RENAME ";
    for (const auto& [from, to] : renames) {
      statement += std::string(before) + from + " TO " + to;
      before = " AND ";
    }
    return Change{
        .statements = {statement},
        .apply = [&model, renames, views = tables_.ViewsOf(model)]() -> const TableModel& {
          for (const auto& [from, to] : renames) {
            model.RenameColumn(from, to);
            for (ViewModel* view : views) view->FollowRename(from, to);
          }
          return model;
        }};
  }

  // ---- Options

  std::optional<Change> ChangeOptions() {
    TableModel& model = AnyTable();
    std::vector<std::string> options;
    std::optional<int64_t> ttl;
    if (!IsCounters(model) && !random_.OneIn(4)) {
      constexpr int64_t kTtls[] = {0, 20, 1000};
      ttl = kTtls[random_.Below(std::size(kTtls))];
      if (!options_.has_short_ttls && *ttl == 20) ttl = 1000;
      options.push_back("default_time_to_live = " + std::to_string(*ttl));
    }
    if (random_.OneIn(3)) {
      // Longer than a run takes.
      int64_t grace = random_.OneIn(2) ? 864'000 : 100'000;
      // A counter that was deleted is null for as long as that.
      const bool may_be_none =
          options_.has_no_grace && tables_.ViewsOf(model).empty() && !IsCounters(model);
      if (may_be_none && random_.OneIn(2)) grace = random_.OneIn(2) ? 1 : 100;
      options.push_back("gc_grace_seconds = " + std::to_string(grace));
    }
    if (options.empty() || random_.OneIn(3)) options.emplace_back("comment = 'another'");
    if (random_.OneIn(4)) {
      options.emplace_back("compaction = {'class': 'LeveledCompactionStrategy'}");
    }
    std::string statement = Alter(model);
    for (const std::string& option : options) {
      statement += (&option == &options[0] ? "WITH " : " AND ") + option;
    }
    return Change{.statements = {statement}, .apply = [&model, ttl]() -> const TableModel& {
                    if (ttl) model.SetDefaultTtl(*ttl);
                    return model;
                  }};
  }

  // ---- Indexes

  std::optional<Change> ChangeIndex() {
    TableModel& model = AnyModel();
    ModelSchema schema = model.schema();
    Change change{.statements = {}, .apply = {}};
    const std::string table = WithoutKeyspace(schema.table);
    std::optional<ModelIndex> index;
    if (schema.index) {
      const std::string& name = schema.index->name;
      change.statements = {
          "DROP INDEX " + tables_.keyspace + "." +
          (name.empty() ? table + "_" + schema.IndexedColumn().name + "_idx" : name)};
    } else {
      index = RandomIndex(random_, schema);
      if (!index) return std::nullopt;
      if (random_.OneIn(2)) index->name = table + "_by";
      schema.index = index;
      change.statements = {schema.CreateIndexStatement()};
      change.built_index =
          index->name.empty() ? table + "_" + schema.IndexedColumn().name + "_idx" : index->name;
    }
    change.apply = [&model, index]() -> const TableModel& {
      model.SetIndex(index);
      return model;
    };
    return change;
  }

  // ---- Views

  std::optional<Change> ChangeView() {
    const size_t count = tables_.views.size();
    if (count == 0 || (count < kViewsMax && random_.OneIn(2))) return CreateView();
    const size_t number = random_.Below(count);
    const ViewModel& view = *tables_.views[number];
    if (random_.OneIn(4)) {
      return Change{.statements = {"ALTER MATERIALIZED VIEW " + view.schema().table +
                                   " WITH gc_grace_seconds = 100000 AND comment = 'another'"},
                    .apply = [&view]() -> const TableModel& { return view; }};
    }
    return Change{.statements = {"DROP MATERIALIZED VIEW " + view.schema().table},
                  .apply = [this_tables = &tables_, number]() -> const TableModel& {
                    auto& views = this_tables->views;
                    const TableModel& base = views[number]->base();
                    views.erase(views.begin() + static_cast<ptrdiff_t>(number));
                    return base;
                  }};
  }

  // ---- Types and tables

  std::optional<Change> AlterType(bool of_keys) {
    DataType& type = of_keys ? tables_.types.fixed : tables_.types.altered;
    const std::optional<TypeChange> change =
        of_keys ? ChangeOfKeyType() : std::optional(RandomTypeChange(random_, type));
    if (!change) return std::nullopt;
    const bool adds = change->altered.parameters().size() > type.parameters().size();
    return Change{
        .kind = of_keys && adds && IsOfClustering(type) ? kFieldOfKeysAdded : "",
        .statements = {change->statement},
        .apply = [this_tables = &tables_, &type, altered = change->altered]() -> const TableModel& {
          type = altered;
          for (const auto& model : this_tables->models) model->AlterType(altered);
          this_tables->counters->AlterType(altered);
          for (const auto& view : this_tables->views) view->AlterType(altered);
          return *this_tables->models[0];
        }};
  }
  // Of the type that keys may have.
  std::optional<TypeChange> ChangeOfKeyType() {
    const DataType& type = tables_.types.fixed;
    bool is_in_view = false;
    for (size_t i = 0; i < tables_.readables(); ++i) {
      const ModelSchema& schema = tables_.readable(i).schema();
      // Neither of a partition key nor of what a global index is by.
      if (HasUserType(schema.partition_key)) return std::nullopt;
      if (schema.index && !schema.index->is_local &&
          schema.IndexedColumn().type.Contains(type.user())) {
        return std::nullopt;
      }
      is_in_view |= schema.is_view && HasUserType(schema.clustering);
    }
    if (!options_.is_cassandra && random_.OneIn(2)) return RandomKeyField(random_, type);
    // The WHERE of a view may have the names.
    if (is_in_view) return std::nullopt;
    return RandomFieldRename(random_, type);
  }
  bool IsOfClustering(const DataType& type) const {
    return std::ranges::any_of(tables_.models, [&](const auto& model) {
      return std::ranges::any_of(model->schema().clustering, [&](const ModelColumn& column) {
        return column.type.Contains(type.user());
      });
    });
  }
  static bool HasUserType(const std::vector<ModelColumn>& columns) {
    return std::ranges::any_of(columns, [](const ModelColumn& column) {
      return column.type.kind() == DataType::Kind::kUser;
    });
  }

  // DROP TABLE, with its views, and another one of the same name.
  Change MakeAnew() {
    TableModel& model = AnyTable();
    const std::string name = model.schema().table;
    Change change{.statements = {}, .apply = {}, .makes_table = true};
    for (const ViewModel* view : tables_.ViewsOf(model)) {
      change.statements.push_back("DROP MATERIALIZED VIEW " + view->schema().table);
    }
    change.statements.push_back("DROP TABLE " + name);
    ModelSchema schema = IsCounters(model) ? RandomCounterSchema(random_, name, tables_.types)
                                           : RandomSchema(random_, name, tables_.types);
    if (!options_.has_short_ttls && schema.default_ttl_seconds > 0) {
      schema.default_ttl_seconds = 1000;
    }
    for (std::string& create : schema.CreateStatements()) {
      change.statements.push_back(std::move(create));
    }
    change.apply = [this_tables = &tables_, &model, schema]() -> const TableModel& {
      std::erase_if(this_tables->views, [&](const auto& view) { return &view->base() == &model; });
      auto made = std::make_unique<TableModel>(schema, this_tables->list_counts);
      if (&model == this_tables->counters.get()) {
        return *(this_tables->counters = std::move(made));
      }
      auto& models = this_tables->models;
      const auto at =
          std::ranges::find_if(models, [&](const auto& other) { return other.get() == &model; });
      return *(*at = std::move(made));
    };
    return change;
  }

  Random& random_;
  ModelTables& tables_;
  const SchemaChangeOptions& options_;
  TableModel* only_ = nullptr;  // no other table changes; nullptr: any does
};

}  // namespace

const TableModel& ModelTables::readable(size_t number) const {
  if (number < models.size()) return *models[number];
  number -= models.size();
  return number < views.size() ? *views[number] : *counters;
}

std::vector<ViewModel*> ModelTables::ViewsOf(const TableModel& base) const {
  std::vector<ViewModel*> found;
  for (const auto& view : views) {
    if (&view->base() == &base) found.push_back(view.get());
  }
  return found;
}

RandomSchemaChange MakeRandomSchemaChange(Random& random, ModelTables& tables,
                                          const SchemaChangeOptions& options) {
  return ChangeMaker(random, tables, options).Make();
}

std::optional<RandomSchemaChange> MakeChangeBetweenPages(Random& random, ModelTables& tables,
                                                         TableModel& model,
                                                         const SchemaChangeOptions& options) {
  return ChangeMaker(random, tables, options).MakeBetweenPages(model);
}

RandomSchemaChange MakeRandomView(Random& random, ModelTables& tables,
                                  const SchemaChangeOptions& options) {
  return ChangeMaker(random, tables, options).CreateView();
}

}  // namespace liststore::testing
