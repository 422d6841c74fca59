// CREATE, ALTER and DROP KEYSPACE. Sources: ScyllaDB cql3/statements/create_keyspace_statement.cc,
// ks_prop_defs.cc, locator/*_strategy.cc.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "engine/base/status_macros.h"
#include "engine/cql/schema/schema_change_impl.h"
#include "engine/cql/syntax/properties.h"

namespace liststore::cql::schema_change {
namespace {

constexpr std::string_view kStrategyPackage = "org.apache.cassandra.locator.";
constexpr std::string_view kFactor = "replication_factor";
constexpr std::array<std::string_view, 5> kKeyspaceProperties = {
    "durable_writes", "replication", "storage", "tablets", "consistency"};

std::string_view StrategyName(std::string_view strategy) {
  if (strategy.starts_with(kStrategyPackage)) strategy.remove_prefix(kStrategyPackage.size());
  return strategy;
}

CqlStatus CheckFactor(const std::string& factor) {
  const bool digits =
      !factor.empty() && std::ranges::all_of(factor, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) {
    return CqlError::Config("Replication factor must be numeric and non-negative, found '" +
                            factor + "'");
  }
  if (!ParseInteger(factor)) {
    return CqlError::Config("Replication factor must be numeric; found " + factor);
  }
  return {};
}

// Source: ScyllaDB locator/abstract_replication_strategy.cc, validate_replication_strategy.
CqlError UnknownOption(const std::string& option, const PropertyMap& replication,
                       const std::string& keyspace) {
  return CqlError::Config("Unrecognized strategy option {" + option + "} passed to " +
                          replication.at("class") + " for keyspace " + keyspace);
}

CqlError NoTablets(std::string_view strategy) {
  return CqlError::Config(std::string(strategy) + " doesn't support tablet replication");
}

// In the order of ScyllaDB: the factor where there is one, whether there is one, and the rest.
CqlStatus CheckSimple(const PropertyMap& replication, const std::string& keyspace,
                      bool uses_tablets) {
  const auto factor = replication.find(std::string(kFactor));
  if (factor != replication.end()) {
    LS_RETURN_IF_ERROR(CheckFactor(factor->second));
  } else {
    return CqlError::Config("SimpleStrategy requires a replication_factor strategy option.");
  }
  if (uses_tablets) return NoTablets("SimpleStrategy");
  for (const auto& [option, value] : replication) {
    if (option == "class" || option == kFactor) continue;
    return UnknownOption(option, replication, keyspace);
  }
  return {};
}

bool IsThere(const std::string& datacenter, const SchemaChangeContext& context) {
  return datacenter == context.datacenter ||
         std::ranges::find(context.other_datacenters, datacenter) !=
             context.other_datacenters.end();
}

// Takes replication_factor apart into the data centers: those there are, and those that an earlier
// definition named.
CqlStatus ExpandTopology(PropertyMap& replication, const PropertyMap& before,
                         const SchemaChangeContext& context) {
  std::string factor;
  const auto given = replication.find(std::string(kFactor));
  if (given != replication.end()) {
    factor = given->second;
    replication.erase(given);
  } else if (replication.size() == 1 && before.contains(std::string(kFactor))) {
    factor = before.at(std::string(kFactor));
  }
  if (!factor.empty()) {
    LS_RETURN_IF_ERROR(CheckFactor(factor));
    for (const auto& [option, value] : before) {
      if (option != kFactor) replication.emplace(option, value);
    }
    replication.emplace(context.datacenter, factor);
    for (const std::string& other : context.other_datacenters) replication.emplace(other, factor);
  }
  if (replication.size() < 2) {
    return CqlError::Config("Configuration for at least one datacenter must be present");
  }
  for (const auto& [option, value] : replication) {
    if (option != "class") LS_RETURN_IF_ERROR(CheckFactor(value));
  }
  return {};
}

// Which of the data centers, or options that can only be meant as such, is not there; empty: none.
std::string MissingDatacenter(const PropertyMap& replication, const SchemaChangeContext& context) {
  const auto at = std::ranges::find_if(replication, [&](const auto& entry) {
    return entry.first != "class" && !IsThere(entry.first, context);
  });
  return at == replication.end() ? std::string() : at->first;
}

// The replication as the keyspace keeps it; `before`: that of the keyspace so far.
// `names_others`: becomes true when it names a data center that is not there.
CqlStatus CompleteReplication(PropertyMap& replication, const PropertyMap& before,
                              const KeyspaceDefinition& keyspace,
                              const SchemaChangeContext& context, bool& names_others) {
  std::string& strategy = replication.at("class");
  if (strategy.find('.') == std::string::npos) strategy.insert(0, kStrategyPackage);
  const std::string_view name = StrategyName(strategy);
  if (name == "SimpleStrategy") {
    return CheckSimple(replication, keyspace.name, keyspace.uses_tablets());
  }
  if (name == "NetworkTopologyStrategy") {
    LS_RETURN_IF_ERROR(ExpandTopology(replication, before, context));
    const std::string missing = MissingDatacenter(replication, context);
    if (missing.empty()) return {};
    if (context.knows_datacenters) return UnknownOption(missing, replication, keyspace.name);
    names_others = true;
    return {};
  }
  if (name == "EverywhereStrategy") {
    return keyspace.uses_tablets() ? CqlStatus(NoTablets(name)) : CqlStatus();
  }
  if (name == "LocalStrategy") {
    return CqlError::Config(
        "Unable to use given strategy class: LocalStrategy is reserved for internal use.");
  }
  return CqlError::Config("Unable to find replication strategy class '" + strategy + "'");
}

// Source: ScyllaDB data_dictionary/data_dictionary.cc, storage_options::from_map.
CqlStatus CheckStorage(const Properties& properties) {
  LS_ASSIGN_OR_RETURN(auto storage, properties.Map("storage"));
  if (!storage || !storage->contains("type")) return {};
  const std::string type = storage->at("type");
  storage->erase("type");
  if (type == "LOCAL") {
    if (storage->empty()) return {};
    return CqlError::Invalid("Local storage does not accept any custom options");
  }
  if (type != "S3") return CqlError::Invalid("Unknown storage type: " + type);
  for (const char* option : {"bucket", "endpoint"}) {
    if (!storage->contains(option)) {
      return CqlError::Invalid("Missing S3 option: " + std::string(option));
    }
  }
  return CqlError::Unsupported(CqlFeature::kKeyspaceStorage, type);
}

// How many tablets are asked for; nullopt: none are wanted. `by_default`: where nothing is said.
// Source: ScyllaDB cql3/statements/ks_prop_defs.cc, get_initial_tablets.
CqlOr<std::optional<uint32_t>> InitialTablets(const Properties& properties,
                                              std::optional<uint32_t> by_default) {
  LS_ASSIGN_OR_RETURN(auto tablets, properties.Map("tablets"));
  if (!tablets) return by_default;
  if (const auto enabled = tablets->find("enabled"); enabled != tablets->end()) {
    if (enabled->second == "false") return std::optional<uint32_t>();
    if (enabled->second != "true") {
      return CqlError::Config("Tablets enabled value must be true or false; found: " +
                              enabled->second);
    }
    tablets->erase(enabled);
  }
  uint32_t count = 0;
  if (const auto initial = tablets->find("initial"); initial != tablets->end()) {
    const std::optional<int64_t> number = LeadingInt64(initial->second);
    if (!number) {
      return CqlError::Config("Initial tablets value should be numeric; found " + initial->second);
    }
    count = static_cast<uint32_t>(*number);
    tablets->erase(initial);
  }
  if (tablets->empty()) return std::optional<uint32_t>(count);
  return CqlError::Config("Unrecognized tablets option " + tablets->begin()->first);
}

// Options of what liststore does not have: accepted where they ask for nothing.
CqlStatus CheckIgnored(const Properties& properties) {
  LS_RETURN_IF_ERROR(CheckStorage(properties));
  LS_ASSIGN_OR_RETURN([[maybe_unused]] const auto consistency, properties.Text("consistency"));
  return {};
}

constexpr char kTabletsWarning[] =
    "Tables in this keyspace will be replicated using Tablets and will not support CDC, LWT and "
    "counters features. To use CDC, LWT or counters, drop this keyspace and re-create it without "
    "tablets by adding AND TABLETS = {'enabled': false} to the CREATE KEYSPACE statement.";

// Of ALTER: a keyspace has tablets from the start, or never. `replication`: as the statement has
// it. Source: ScyllaDB cql3/statements/alter_keyspace_statement.cc, validate.
CqlStatus CheckTabletsOfAlter(const KeyspaceDefinition& before, const KeyspaceDefinition& after,
                              const std::optional<PropertyMap>& replication,
                              const SchemaChangeContext& context) {
  if (before.uses_tablets() && replication) {
    int64_t change = 0;
    for (const auto& [option, value] : *replication) {
      if (option == "class") continue;
      const auto was = before.replication.find(option);
      if (was == before.replication.end() && !IsThere(option, context)) continue;
      const int64_t old_factor =
          was == before.replication.end() ? 0 : ParseInteger(was->second).value_or(0);
      change += std::abs(ParseInteger(value).value_or(0) - old_factor);
      if (change < 2) continue;
      return CqlError::Invalid("Only one DC's RF can be changed at a time and not by more than 1");
    }
  }
  const bool can_have = after.replication.at("class").ends_with("NetworkTopologyStrategy");
  if (before.uses_tablets() == (after.uses_tablets() && can_have)) return {};
  return CqlError::Invalid("Cannot alter replication strategy vnode/tablets flavor");
}

// ---- What the settings say of strategies and factors. Source: ScyllaDB
// cql3/statements/create_keyspace_statement.cc, check_against_restricted_replication_strategies.

CqlStatus CheckStrategy(const std::string& strategy, const std::string& keyspace,
                        const settings::StatementSettings& settings, settings::Warnings& warnings) {
  const std::string_view name = StrategyName(strategy);
  const settings::RestrictionMode simple = name == "SimpleStrategy"
                                               ? settings.restrict_replication_simplestrategy
                                               : settings::RestrictionMode::kAllowed;
  if (simple == settings::RestrictionMode::kRefused ||
      std::ranges::count(settings.replication_strategy_fail_list, name) > 0) {
    return CqlError::Config(
        strategy +
        " replication class is not recommended, and forbidden by the current configuration, but "
        "was "
        "used for keyspace " +
        keyspace +
        ". You may override this restriction by modifying replication_strategy_fail_list "
        "configuration option to not list " +
        strategy + ".");
  }
  if (simple == settings::RestrictionMode::kWarned ||
      std::ranges::count(settings.replication_strategy_warn_list, name) > 0) {
    warnings.push_back(
        strategy + " replication class is not recommended, but was used for keyspace " + keyspace +
        ". You may suppress this warning by delisting " + strategy +
        " from replication_strategy_warn_list configuration option, or make it into an error by "
        "listing this replication strategy on replication_strategy_fail_list.");
  }
  return {};
}

CqlError ForbiddenFactor(const std::string& factor, const std::string& setting,
                         const std::string& advice) {
  return CqlError::Config("Replication Factor " + factor +
                          " is forbidden by the current configuration setting of " + setting +
                          ". Please " + advice + " set in the configuration.");
}

std::string UnusualFactor(const std::string& factor, const char* compared,
                          const std::string& setting) {
  return "Using Replication Factor " + factor + " " + compared + " than the " + setting +
         " is not recommended.";
}

// `option` is written as the statement has it.
CqlStatus CheckFactorAgainst(const settings::StatementSettings& settings, const std::string& option,
                             int64_t factor, settings::Warnings& warnings) {
  const auto is_below = [&](int32_t threshold) { return threshold >= 0 && factor < threshold; };
  const auto is_above = [&](int32_t threshold) { return threshold >= 0 && factor > threshold; };
  const std::string shown = option + "=" + std::to_string(factor);
  if (const int32_t limit = settings.minimum_replication_factor_fail_threshold; is_below(limit)) {
    const std::string name = "minimum_replication_factor_fail_threshold";
    return ForbiddenFactor(shown, name + "=" + std::to_string(limit),
                           "increase replication factor, or lower " + name);
  }
  if (const int32_t limit = settings.maximum_replication_factor_fail_threshold; is_above(limit)) {
    const std::string name = "maximum_replication_factor_fail_threshold";
    return ForbiddenFactor(shown, name + "=" + std::to_string(limit),
                           "decrease replication factor, or increase " + name);
  }
  if (const int32_t limit = settings.minimum_replication_factor_warn_threshold; is_below(limit)) {
    warnings.push_back(UnusualFactor(
        shown, "lower", "minimum_replication_factor_warn_threshold=" + std::to_string(limit)));
  } else if (const int32_t most = settings.maximum_replication_factor_warn_threshold;
             is_above(most)) {
    warnings.push_back(UnusualFactor(
        shown, "greater", "maximum_replication_factor_warn_threshold=" + std::to_string(most)));
  }
  return {};
}

// `replication`: as the statement has it. What is wrong with it otherwise is for others to say.
CqlStatus CheckRestricted(const PropertyMap& replication, const std::string& keyspace,
                          const settings::StatementSettings& settings,
                          settings::Warnings& warnings) {
  constexpr std::array<std::string_view, 4> kStrategies = {
      "SimpleStrategy", "NetworkTopologyStrategy", "EverywhereStrategy", "LocalStrategy"};
  const std::string& strategy = replication.at("class");
  if (std::ranges::count(kStrategies, StrategyName(strategy)) == 0) return {};
  LS_RETURN_IF_ERROR(CheckStrategy(strategy, keyspace, settings, warnings));
  for (const auto& [option, value] : replication) {
    const std::optional<int64_t> factor = ParseInteger(value);
    if (option == "class" || option == "initial_tablets" || !factor || *factor <= 0) continue;
    LS_RETURN_IF_ERROR(CheckFactorAgainst(settings, option, *factor, warnings));
  }
  return {};
}

}  // namespace

CqlOr<SchemaChange> Apply(const CreateKeyspaceStatement& statement, Editor& editor) {
  KeyspaceDefinition keyspace;
  keyspace.name = AsciiLower(statement.keyspace);
  if (keyspace.is_system()) {
    return CqlError::Invalid("system keyspace is not user-modifiable");
  }
  keyspace.name = statement.keyspace;
  if (!IsWord(keyspace.name)) {
    return CqlError::Invalid("\"" + keyspace.name + "\" is not a valid keyspace name");
  }
  LS_RETURN_IF_ERROR(CheckNameLength("Keyspace", keyspace.name));
  const Properties properties(statement.properties);
  LS_RETURN_IF_ERROR(properties.Check(kKeyspaceProperties));
  LS_ASSIGN_OR_RETURN(const auto replication, properties.Map("replication"));
  if (!replication || !replication->contains("class")) {
    return CqlError::Config("Missing mandatory replication strategy class");
  }
  settings::Warnings warnings;
  LS_RETURN_IF_ERROR(
      CheckRestricted(*replication, keyspace.name, editor.context.settings, warnings));
  LS_RETURN_IF_ERROR(CheckIgnored(properties));
  const bool by_default = editor.context.settings.enable_tablets &&
                          StrategyName(replication->at("class")) == "NetworkTopologyStrategy";
  LS_ASSIGN_OR_RETURN(
      keyspace.initial_tablets,
      InitialTablets(properties, by_default ? std::optional<uint32_t>(0) : std::nullopt));
  keyspace.replication = *replication;
  bool names_others = false;
  LS_RETURN_IF_ERROR(
      CompleteReplication(keyspace.replication, {}, keyspace, editor.context, names_others));
  LS_ASSIGN_OR_RETURN(const auto durable_writes, properties.Boolean("durable_writes"));
  keyspace.durable_writes = durable_writes.value_or(true);

  SchemaChange change = OfKeyspace(SchemaChange::Kind::kCreated, keyspace.name);
  change.names_other_datacenters = names_others;
  change.warnings = std::move(warnings);
  if (editor.schema.FindKeyspace(keyspace.name) == nullptr) {
    if (keyspace.uses_tablets()) {
      change.warnings.insert(change.warnings.begin(), kTabletsWarning);
    }
    PutKeyspace(editor, std::move(keyspace));
    return change;
  }
  if (!statement.if_not_exists) {
    return AlreadyExists("Cannot add existing keyspace \"" + keyspace.name + "\"", keyspace.name,
                         "");
  }
  change.alters_schema = false;
  return change;
}

CqlOr<SchemaChange> Apply(const AlterKeyspaceStatement& statement, Editor& editor) {
  LS_RETURN_IF_ERROR(CheckModifiable(statement.keyspace));
  const Properties properties(statement.properties);
  LS_RETURN_IF_ERROR(properties.Check(kKeyspaceProperties));
  LS_ASSIGN_OR_RETURN(auto replication, properties.Map("replication"));
  if (replication && !replication->empty() && !replication->contains("class")) {
    return CqlError::Config("Missing replication strategy class");
  }
  const KeyspaceDefinition* found = editor.schema.FindKeyspace(statement.keyspace);
  if (found == nullptr) return CqlError::Invalid("Can't find a keyspace " + statement.keyspace);
  settings::Warnings warnings;
  if (replication && !replication->empty()) {
    LS_RETURN_IF_ERROR(
        CheckRestricted(*replication, statement.keyspace, editor.context.settings, warnings));
  }
  LS_RETURN_IF_ERROR(CheckIgnored(properties));
  if (replication && replication->empty()) replication.reset();
  KeyspaceDefinition keyspace = *found;
  LS_ASSIGN_OR_RETURN(keyspace.initial_tablets, InitialTablets(properties, found->initial_tablets));
  if (replication) keyspace.replication = *replication;
  LS_RETURN_IF_ERROR(CheckTabletsOfAlter(*found, keyspace, replication, editor.context));
  if (found->uses_tablets() && replication && replication->contains(std::string(kFactor))) {
    return CqlError::Invalid(
        "'replication_factor' tag is not allowed when executing ALTER KEYSPACE with tablets, "
        "please list the DCs explicitly");
  }
  bool names_others = false;
  if (replication) {
    PropertyMap before = found->replication;
    before.erase("class");
    LS_RETURN_IF_ERROR(
        CompleteReplication(keyspace.replication, before, keyspace, editor.context, names_others));
  } else if (keyspace.uses_tablets() && !found->uses_tablets()) {
    return NoTablets(StrategyName(keyspace.replication.at("class")));
  }
  LS_ASSIGN_OR_RETURN(const auto durable_writes, properties.Boolean("durable_writes"));
  // ScyllaDB takes what is not said for true, whatever was.
  keyspace.durable_writes =
      durable_writes.value_or(!editor.context.dialect.is_cassandra || keyspace.durable_writes);
  PutKeyspace(editor, std::move(keyspace));
  SchemaChange change = OfKeyspace(SchemaChange::Kind::kUpdated, statement.keyspace);
  change.names_other_datacenters = names_others;
  change.warnings = std::move(warnings);
  return change;
}

CqlOr<SchemaChange> Apply(const DropKeyspaceStatement& statement, Editor& editor) {
  LS_RETURN_IF_ERROR(CheckModifiable(statement.keyspace));
  const KeyspaceDefinition* found = editor.schema.FindKeyspace(statement.keyspace);
  if (found == nullptr) {
    if (statement.if_exists) return Nothing();
    return CqlError::Config("Cannot drop non existing keyspace '" + statement.keyspace + "'.");
  }
  SchemaChange change = OfKeyspace(SchemaChange::Kind::kDropped, statement.keyspace);
  for (const auto& [name, table] : found->tables) {
    if (table->belongs_to_list_store) {
      return CqlError::Invalid("Cannot drop keyspace " + statement.keyspace + ": table " + name +
                               " belongs to the list store");
    }
    if (table->is_virtual) continue;
    change.actions.push_back(
        {SchemaAction::Kind::kDropTable, statement.keyspace, name, ColumnMap{}});
  }
  editor.schema.keyspaces.erase(statement.keyspace);
  return change;
}

}  // namespace liststore::cql::schema_change
