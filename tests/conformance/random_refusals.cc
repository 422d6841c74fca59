#include "tests/conformance/random_refusals.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "tests/conformance/refusal_maker.h"

namespace liststore::testing {
namespace {

struct NamedMaker {
  std::string_view kind;
  RefusalMaker::Maybe (RefusalMaker::*make)();
};
// For these a column was dropped before.
constexpr NamedMaker kRarestMakers[] = {
    {"refused: a counter is added again", &RefusalMaker::AddCounterAgain},
    {"refused: another collection is added again", &RefusalMaker::AddOtherCollectionAgain},
};
// Few tables have an occasion for these.
constexpr NamedMaker kRareMakers[] = {
    {"refused: a static column without clustering ones", &RefusalMaker::AddStaticWithoutRows},
    {"refused: a key column is dropped behind another", &RefusalMaker::DropKeyBehindAnother},
    {"refused: an indexed column is dropped", &RefusalMaker::DropIndexed},
    {"refused: no column is renamed behind another", &RefusalMaker::RenameNothingBehindAnother},
    {"refused: an indexed column is renamed", &RefusalMaker::RenameIndexed},
    {"refused: no grace under views", &RefusalMaker::NoGraceUnderViews},
    {"refused: DROP TABLE with views", &RefusalMaker::DropTableWithViews},
    {"refused: an index of a name that is there", &RefusalMaker::IndexOfANameThatIsThere},
    {"refused: an index twice", &RefusalMaker::IndexTwice},
    {"refused: an index on the partition key", &RefusalMaker::IndexOnPartitionKey},
    {"refused: a field of cells within cells", &RefusalMaker::AddFieldOfCells},
    {"refused: the type of a partition key", &RefusalMaker::AlterTypeOfPartitionKey},
    {"refused: a duration in a clustering key", &RefusalMaker::AddDurationToKey},
};
constexpr NamedMaker kMakers[] = {
    {"refused: a column that is there is added", &RefusalMaker::AddWhatIsThere},
    {"refused: a counter is added", &RefusalMaker::AddCounter},
    {"refused: a column is added beside counters", &RefusalMaker::AddBesideCounters},
    {"refused: a column of no type is added", &RefusalMaker::AddOfNoType},
    {"refused: ALTER TABLE of a view", &RefusalMaker::AlterView},
    {"refused: ALTER TABLE of no table", &RefusalMaker::AlterNoTable},
    {"refused: a key column is dropped", &RefusalMaker::DropKey},
    {"refused: no column is dropped", &RefusalMaker::DropNothing},
    {"refused: a column that a view needs is dropped", &RefusalMaker::DropWhatAViewNeeds},
    {"refused: a regular column is renamed", &RefusalMaker::RenameRegular},
    {"refused: no column is renamed", &RefusalMaker::RenameNothing},
    {"refused: a column is renamed to one that is there", &RefusalMaker::RenameToWhatIsThere},
    {"refused: a column gets a type that does not fit", &RefusalMaker::AlterToInet},
    {"refused: no column gets a type", &RefusalMaker::AlterNoColumn},
    {"refused: a TTL of counters", &RefusalMaker::TtlOfCounters},
    {"refused: an unknown option", &RefusalMaker::UnknownOption},
    {"refused: an option below zero", &RefusalMaker::OptionBelowZero},
    {"refused: an option twice", &RefusalMaker::OptionTwice},
    {"refused: an option of compaction", &RefusalMaker::OptionOfCompaction},
    {"refused: an option of compression", &RefusalMaker::OptionOfCompression},
    {"refused: CREATE TABLE of a long name", &RefusalMaker::CreateOfALongName},
    {"refused: CREATE TABLE of a name that is there", &RefusalMaker::CreateWhatIsThere},
    {"refused: DROP TABLE of a view", &RefusalMaker::DropTableOfView},
    {"refused: DROP TABLE of no table", &RefusalMaker::DropNoTable},
    {"refused: TRUNCATE of a view", &RefusalMaker::TruncateView},
    {"refused: an index on no column", &RefusalMaker::IndexOnNoColumn},
    {"refused: an index on counters", &RefusalMaker::IndexOnCounters},
    {"refused: an index on a view", &RefusalMaker::IndexOnView},
    {"refused: an index that the column cannot have", &RefusalMaker::IndexOnColumn},
    {"refused: no index is dropped", &RefusalMaker::DropNoIndex},
    {"refused: a view of what cannot have one", &RefusalMaker::ViewOfWhatCannotHaveOne},
    {"refused: a view without IS NOT NULL", &RefusalMaker::ViewWithoutNotNull},
    {"refused: a view without a key column", &RefusalMaker::ViewWithoutAKeyColumn},
    {"refused: a view by a column that cannot be", &RefusalMaker::ViewByAColumnThatCannotBe},
    {"refused: a view of static columns", &RefusalMaker::ViewOfStatics},
    {"refused: a view of a name that is there", &RefusalMaker::ViewOfANameThatIsThere},
    {"refused: no view is dropped", &RefusalMaker::DropOfNoView},
    {"refused: no view is altered", &RefusalMaker::AlterOfNoView},
    {"refused: an option that no view has", &RefusalMaker::OptionThatNoViewHas},
    {"refused: CREATE TYPE of a name that is there", &RefusalMaker::CreateTypeThatIsThere},
    {"refused: no type is altered", &RefusalMaker::AlterNoType},
    {"refused: a field that is there", &RefusalMaker::AddFieldThatIsThere},
    {"refused: a field that cannot be", &RefusalMaker::AddFieldThatCannotBe},
    {"refused: a field is renamed wrongly", &RefusalMaker::RenameField},
    {"refused: a field gets a type that does not fit", &RefusalMaker::AlterField},
    {"refused: a type in use is dropped", &RefusalMaker::DropTypeInUse},
    {"refused: no type is dropped", &RefusalMaker::DropNoType},
    {"refused: a change of keyspaces", &RefusalMaker::ChangeOfKeyspace},
};

}  // namespace

RandomRefusal MakeRandomRefusal(Random& random, const ModelTables& tables) {
  const auto made_by = [&](const NamedMaker& maker) -> std::optional<RandomRefusal> {
    // Each looks at other tables.
    RefusalMaker::Maybe made;
    for (int tries = 0; !made && tries < 3; ++tries) {
      RefusalMaker refusals(random, tables);
      made = (refusals.*maker.make)();
    }
    if (!made) return std::nullopt;
    return RandomRefusal{maker.kind, std::move(made->statement), made->code,
                         std::move(made->error)};
  };
  for (const NamedMaker& maker : kRarestMakers) {
    if (!random.OneIn(4)) continue;
    const auto made = made_by(maker);
    if (made) return *made;
  }
  const size_t first = random.Below(std::size(kRareMakers));
  const size_t tried = random.OneIn(3) ? std::size(kRareMakers) : 0;
  for (size_t i = 0; i < tried; ++i) {
    const auto made = made_by(kRareMakers[(first + i) % std::size(kRareMakers)]);
    if (made) return *made;
  }
  while (true) {
    const auto made = made_by(kMakers[random.Below(std::size(kMakers))]);
    if (made) return *made;
  }
}

std::span<const std::string_view> RefusalKinds() {
  static const auto* const kinds = [] {
    auto* names = new std::vector<std::string_view>();
    for (const NamedMaker& maker : kRarestMakers) names->push_back(maker.kind);
    for (const NamedMaker& maker : kRareMakers) names->push_back(maker.kind);
    for (const NamedMaker& maker : kMakers) names->push_back(maker.kind);
    return names;
  }();
  return *kinds;
}

}  // namespace liststore::testing
