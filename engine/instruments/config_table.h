// The table system.config: ScyllaDB's settings with their values, of which clients may change some.
#ifndef LISTSTORE_ENGINE_INSTRUMENTS_CONFIG_TABLE_H_
#define LISTSTORE_ENGINE_INSTRUMENTS_CONFIG_TABLE_H_

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/cql/schema/virtual_table.h"
#include "engine/instruments/resettable.h"
#include "engine/settings/live_settings.h"

namespace liststore::instruments {

// Thread-safe. A reset undoes what clients have changed. Source: ScyllaDB db/virtual_tables.cc,
// db_config_table.
class ConfigTable final : public cql::VirtualTable, public Resettable {
 public:
  // Told of a change once it can be seen, with the settings of before. Any thread.
  using OnChange = std::function<void(const settings::StatementSettings& before)>;

  ConfigTable(std::shared_ptr<settings::LiveSettings> settings, OnChange on_change);

  const std::shared_ptr<const TableDefinition>& definition() const override { return definition_; }
  std::vector<cql::VirtualRow> Rows(const cql::VirtualReadContext& context) const override;
  // `value` of a name. Errors are a write failure with ScyllaDB's words.
  std::optional<cql::CqlError> Write(const Values& values) override;
  void Reset() override;

 private:
  const std::shared_ptr<settings::LiveSettings> settings_;
  const OnChange on_change_;
  const std::shared_ptr<const TableDefinition> definition_;
};

}  // namespace liststore::instruments

#endif  // LISTSTORE_ENGINE_INSTRUMENTS_CONFIG_TABLE_H_
