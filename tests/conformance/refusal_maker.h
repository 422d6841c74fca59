// RefusalMaker: each function a kind of change of the schema that is refused, with its error.
#ifndef LISTSTORE_TESTS_CONFORMANCE_REFUSAL_MAKER_H_
#define LISTSTORE_TESTS_CONFORMANCE_REFUSAL_MAKER_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "tests/conformance/random_schema_changes.h"

namespace liststore::testing {

// Sources of the words: ScyllaDB cql3/statements/.
class RefusalMaker {
 public:
  // Of the protocol.
  static constexpr int32_t kSyntax = 0x2000;
  static constexpr int32_t kInvalid = 0x2200;
  static constexpr int32_t kConfig = 0x2300;
  static constexpr int32_t kAlreadyExists = 0x2400;

  struct Refusal {
    std::string statement;
    int32_t code = 0;
    std::string error;
  };
  // nullopt: the tables have no occasion for it, or the one that was looked at has none.
  using Maybe = std::optional<Refusal>;

  // `tables` outlives it.
  RefusalMaker(Random& random, const ModelTables& tables)
      : random_(random), tables_(tables), model_(AnyModel()), schema_(model_.schema()) {}

  // ---- Columns

  Maybe AddWhatIsThere();
  Maybe AddStaticWithoutRows();
  Maybe AddCounter();
  Maybe AddBesideCounters();
  Maybe AddCounterAgain();
  Maybe AddOtherCollectionAgain();
  Maybe AddOfNoType();
  Maybe AlterView();
  Maybe AlterNoTable();
  Maybe DropKey();
  // Behind one that may go.
  Maybe DropKeyBehindAnother();
  Maybe DropNothing();
  Maybe DropIndexed();
  Maybe DropWhatAViewNeeds();
  Maybe RenameRegular();
  Maybe RenameNothing();
  Maybe RenameToWhatIsThere();
  // Behind another that is.
  Maybe RenameNothingBehindAnother();
  Maybe RenameIndexed();
  // No type but its own becomes an inet.
  Maybe AlterToInet();
  Maybe AlterNoColumn();

  // ---- Options

  Maybe NoGraceUnderViews();
  Maybe TtlOfCounters();
  Maybe UnknownOption();
  Maybe OptionBelowZero();
  Maybe OptionTwice();
  Maybe OptionOfCompaction();
  Maybe OptionOfCompression();

  // ---- Tables

  Maybe CreateWhatIsThere();
  Maybe CreateOfALongName();
  Maybe DropTableWithViews();
  Maybe DropTableOfView();
  Maybe DropNoTable();
  Maybe TruncateView();

  // ---- Indexes

  Maybe IndexOfANameThatIsThere();
  Maybe IndexTwice();
  Maybe IndexOnNoColumn();
  Maybe IndexOnCounters();
  Maybe IndexOnView();
  Maybe IndexOnPartitionKey();
  Maybe IndexOnColumn();
  Maybe DropNoIndex();

  // ---- Views

  Maybe ViewOfWhatCannotHaveOne();
  Maybe ViewWithoutNotNull();
  Maybe ViewWithoutAKeyColumn();
  Maybe ViewByAColumnThatCannotBe();
  Maybe ViewOfStatics();
  Maybe ViewOfANameThatIsThere();
  Maybe DropOfNoView();
  Maybe AlterOfNoView();
  Maybe OptionThatNoViewHas();

  // ---- Types

  Maybe CreateTypeThatIsThere();
  Maybe AlterNoType();
  Maybe AddFieldThatIsThere();
  Maybe AddFieldThatCannotBe();
  // A collection that is not frozen, within cells.
  Maybe AddFieldOfCells();
  Maybe RenameField();
  Maybe AlterField();
  // Whatever would change of it.
  Maybe AlterTypeOfPartitionKey();
  Maybe AddDurationToKey();
  Maybe DropTypeInUse();
  Maybe DropNoType();

  // ---- Keyspaces

  Maybe ChangeOfKeyspace();

 private:
  template <typename T>
  T AnyOf(const std::vector<T>& candidates) const {
    return candidates[random_.Below(candidates.size())];
  }
  static std::vector<const ModelColumn*> KeyColumns(const ModelSchema& schema);
  static Refusal Of(std::string statement, std::string error, int32_t code = kInvalid) {
    return {std::move(statement), code, std::move(error)};
  }

  const TableModel& AnyModel() const {
    return *tables_.models[random_.Below(tables_.models.size())];
  }
  const TableModel& AnyTable() const { return random_.OneIn(6) ? *tables_.counters : AnyModel(); }
  bool IsCounters(const TableModel& model) const { return &model == tables_.counters.get(); }
  // nullptr: there is none.
  const ViewModel* AnyView() const {
    if (tables_.views.empty()) return nullptr;
    return tables_.views[random_.Below(tables_.views.size())].get();
  }
  const DataType& altered() const { return tables_.types.altered; }
  std::string AnyField() const { return AnyOf(altered().user().fields); }
  std::string AlterAltered() const { return "ALTER TYPE " + FullName(altered()) + " "; }
  static std::string FullName(const DataType& type) {
    return type.user().keyspace + "." + type.user().name;
  }

  static std::string Alter(const ModelSchema& schema) {
    return "ALTER TABLE " + schema.table + " ";
  }
  // Without its keyspace.
  std::string Short(const ModelSchema& schema) const {
    return schema.table.substr(tables_.keyspace.size() + 1);
  }
  std::string IndexName(const ModelSchema& schema) const {
    const std::string& name = schema.index->name;
    return name.empty() ? Short(schema) + "_" + schema.IndexedColumn().name + "_idx" : name;
  }
  std::string Needed(const std::string& column, const std::string& view) const {
    return "Cannot drop column " + column + " from base table " + schema_.table +
           ": materialized view " + view + " needs this column";
  }
  std::string IsThere(const std::string& table) const {
    return "Cannot add already existing table \"" + table.substr(tables_.keyspace.size() + 1) +
           "\" to keyspace \"" + tables_.keyspace + "\"";
  }

  static std::string Index(const ModelSchema& schema, const std::string& target) {
    return "CREATE INDEX another ON " + schema.table + " (" + target + ")";
  }
  std::string LocalTo(const std::string& column) const {
    std::string key;
    for (const ModelColumn& part : schema_.partition_key) {
      key += (key.empty() ? "" : ", ") + part.name;
    }
    return "(" + key + "), " + column;
  }
  Maybe IndexOnOneCell(const ModelColumn& column, bool is_static);

  // Of all columns, by `first` and the key.
  std::string View(const ModelSchema& schema, const std::string& first,
                   bool restricted = true) const;

  // Tables and views.
  std::vector<const ModelSchema*> SchemasByName() const;
  // "c of table t": of the first such column of the type that keys may have, or of the view that an
  // index is kept in; empty: none.
  std::string UseIn(std::vector<ModelColumn> ModelSchema::*columns) const;

  Random& random_;
  const ModelTables& tables_;
  const TableModel& model_;
  const ModelSchema& schema_;
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_CONFORMANCE_REFUSAL_MAKER_H_
