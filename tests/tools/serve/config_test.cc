// `liststore serve --config`: names, values, what comes before what, and --print-config, which says so and whose output
// is such a file.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/settings/scylla_settings.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/program.h"
#include "tools/serve/reload.h"
#include "tools/serve/scylla_config.h"
#include "tools/serve/serve_settings.h"

namespace liststore::testing {
namespace config_test {

namespace json = boost::json;
using Texts = std::vector<std::string>;

ProgramResult Serve(Texts arguments, const Texts& environment = {}) {
  arguments.insert(arguments.begin(), "serve");
  RunningProgram program(arguments, environment);
  return program.Wait();
}

json::object Printed(Texts arguments, const Texts& environment = {}) {
  arguments.insert(arguments.end(), {"--print-config", "--json"});
  const ProgramResult result = Serve(arguments, environment);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  boost::system::error_code error;
  const json::value value = json::parse(result.out, error);
  EXPECT_FALSE(error) << result.out;
  return error ? json::object() : value.as_object();
}

constexpr char kAbsent[] = "(absent)";

// A value, or another member, of a setting.
std::string Of(const json::object& printed, const std::string& name,
               const std::string& member = "value") {
  const json::object& row = printed.at("settings").as_object().at(name).as_object();
  if (!row.contains(member)) return kAbsent;
  const json::value& value = row.at(member);
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

// ---- Every setting, in every place

std::string EnvironmentName(std::string_view flag) {
  std::string name = "LISTSTORE_";
  for (const char c : flag) name += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return name;
}

bool IsFlag(const ServeSetting& row) {
  return std::holds_alternative<bool ServeOptions::*>(row.field) && row.choices.empty();
}
bool IsText(const ServeSetting& row) {
  return std::holds_alternative<std::string ServeOptions::*>(row.field) || !row.choices.empty();
}

// One of the row's values; another one for each `number`, where it has so many.
std::string ValueOf(const ServeSetting& row, size_t number) {
  if (!row.words.empty()) return std::string(row.words[number % row.words.size()]);
  if (!row.choices.empty()) return std::string(row.choices[number % row.choices.size()].first);
  if (row.setting.name == "clock") return "manual:" + std::to_string(number);
  if (row.setting.name == "log-slow-requests") return std::to_string(number) + "ms";
  if (IsFlag(row)) return "true";
  if (IsText(row)) return "text " + std::to_string(number);
  return std::to_string(number + 2);
}

// Those that are values by themselves: no file has to be there, and --json is asked for here.
std::vector<const ServeSetting*> Rows() {
  std::vector<const ServeSetting*> rows;
  for (const ServeSetting& row : ServeSettings()) {
    const std::string_view name = row.setting.name;
    if (row.is_question || name == "json" || name.starts_with("scylla-")) continue;
    rows.push_back(&row);
  }
  return rows;
}

Texts Flags(size_t number) {
  Texts flags;
  for (const ServeSetting* row : Rows()) {
    flags.push_back("--" + std::string(row->setting.name));
    if (!IsFlag(*row)) flags.push_back(ValueOf(*row, number));
  }
  return flags;
}

Texts Variables(size_t number) {
  Texts variables;
  for (const ServeSetting* row : Rows()) {
    variables.push_back(EnvironmentName(row->setting.name) + "=" + ValueOf(*row, number));
  }
  return variables;
}

std::string File(size_t number) {
  std::string file;
  for (const ServeSetting* row : Rows()) {
    const std::string quote = IsText(*row) ? "\"" : "";
    file += std::string(row->setting.name) + " = " + quote + ValueOf(*row, number) + quote + "\n";
  }
  return file;
}

void ExpectAll(const json::object& printed, size_t number, const std::string& source) {
  size_t line = 0;
  for (const ServeSetting* row : Rows()) {
    const std::string name(row->setting.name);
    ++line;
    EXPECT_EQ(Of(printed, name), ValueOf(*row, number)) << name;
    EXPECT_EQ(Of(printed, name, "source"), source) << name;
    const std::string place = Of(printed, name, "place");
    if (source == "file") {
      EXPECT_TRUE(place.ends_with(":" + std::to_string(line))) << place;
    } else {
      EXPECT_EQ(place, source == "flag" ? kAbsent : EnvironmentName(name));
    }
  }
}

TEST(Config, EverySettingIsAFlagAVariableAndALineOfTheFileByOneName) {
  const ScratchFiles files;
  const std::string config = files.Write("c.toml", File(3));
  ExpectAll(Printed(Flags(1)), 1, "flag");
  ExpectAll(Printed({}, Variables(2)), 2, "environment");
  ExpectAll(Printed({"--config", config}), 3, "file");
}

TEST(Config, AFlagComesBeforeAVariableAndThatBeforeTheFile) {
  const ScratchFiles files;
  Texts arguments = {"--config", files.Write("c.toml", File(3))};
  ExpectAll(Printed(arguments, Variables(2)), 2, "environment");
  const Texts flags = Flags(1);
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  ExpectAll(Printed(arguments, Variables(2)), 1, "flag");
}

TEST(Config, WhatIsNotSetIsADefault) {
  const json::object printed = Printed({});
  EXPECT_TRUE(printed.at("config_file").is_null());
  for (const ServeSetting& row : ServeSettings()) {
    const std::string name(row.setting.name);
    if (row.is_question || name == "scylla-option") continue;
    EXPECT_EQ(Of(printed, name, "source"), "default") << name;
    const std::string value =
        Of(printed, name) == "null" ? Of(printed, name, "means") : Of(printed, name);
    EXPECT_EQ(value == kAbsent ? "" : value, row.setting.default_value) << name;
  }
}

// ---- What is printed, given back

// Names and values, without where they come from.
std::string Values(const json::object& printed) {
  std::string values;
  for (const char* part : {"settings", "scylla_options"}) {
    for (const auto& [name, row] : printed.at(part).as_object()) {
      values += std::string(name) + "=" + json::serialize(row.as_object().at("value")) + "\n";
    }
  }
  return values;
}

void ExpectRoundTrip(const ScratchFiles& files, Texts arguments, const Texts& environment = {}) {
  const std::string before = Values(Printed(arguments, environment));
  arguments.emplace_back("--print-config");
  const ProgramResult file = Serve(arguments, environment);
  ASSERT_EQ(file.exit_status, 0) << file.err;
  const std::string back = files.Write("back.toml", file.out);
  EXPECT_EQ(Values(Printed({"--config", back})), before) << file.out;
}

TEST(PrintConfig, WhatItPrintsIsAFileThatComesToTheSame) {
  const ScratchFiles files;
  ExpectRoundTrip(files, {});
  ExpectRoundTrip(files, Flags(1));
  ExpectRoundTrip(files, {}, Variables(2));
  ExpectRoundTrip(files, {"--config", files.Write("all.toml", File(3))});
  // What a text may hold.
  ExpectRoundTrip(files,
                  {"--cluster-name", "a \"b\" \\ c\td # é", "--shards", "off", "--rack", "x=1"});
  const std::string yaml = files.Write(
      "scylla.yaml",
      "native_transport_port: 7000\nnative_shard_aware_transport_port: 7001\nnum_tokens: 8\n"
      "authenticator: PasswordAuthenticator\nreplication_strategy_warn_list: []\n"
      "client_encryption_options: {enabled: true, certificate: a.crt}\n");
  const std::string config = files.Write(
      "own.toml", "scylla-config = \"" + yaml +
                      "\"\nmemory-limit = \"1G\"\n[scylla-option]\ntwcs_max_window_count = 3\n"
                      "replication_strategy_fail_list = [\"LocalStrategy\"]\n"
                      "strict_allow_filtering = true\n");
  ExpectRoundTrip(files, {"--config", config});
  ExpectRoundTrip(
      files, {"--config", config, "--scylla-option", "twcs_max_window_count=4", "--scylla-option",
              "batch_size_fail_threshold_in_kb=7", "--scylla-option", "workdir,W=/srv"});
}

TEST(PrintConfig, NoPasswordIsShown) {
  const ScratchFiles files;
  const Texts arguments = {"--auth", "root:secret", "--scylla-option",
                           "auth_superuser_salted_password=hash", "--print-config"};
  const ProgramResult text = Serve(arguments);
  EXPECT_EQ(text.out.find("secret"), std::string::npos);
  EXPECT_EQ(text.out.find("hash"), std::string::npos);
  EXPECT_NE(text.out.find("\nauth = (not shown) "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\nauth_superuser_salted_password = (not shown) "), std::string::npos);
  const json::object printed = Printed({"--auth", "root:secret"});
  EXPECT_EQ(Of(printed, "auth"), "null");
  EXPECT_EQ(Of(printed, "auth", "source"), "flag");
  EXPECT_EQ(Of(Printed({"--auth", "root", "--auth-password-file", "f"}), "auth"), "root")
      << "a name is none";
}

TEST(PrintConfig, WhatItPrintsIsNoServerWithoutThePasswordThatWasAskedFor) {
  const ScratchFiles files;
  for (const Texts& flags : {Texts{"--auth", "root:secret"},
                             Texts{"--scylla-option", "auth_superuser_salted_password=hash"}}) {
    Texts arguments = flags;
    arguments.emplace_back("--print-config");
    const std::string back = files.Write("back.toml", Serve(arguments).out);
    const ProgramResult result = Serve({"--config", back, "--print-config"});
    EXPECT_EQ(result.exit_status, 2) << result.out;
    EXPECT_NE(result.err.find(back + ":"), std::string::npos) << result.err;
  }
}

TEST(PrintConfig, PasswordsInMapsOfScyllaAreNotShown) {
  const ScratchFiles files;
  const std::string config =
      files.Write("c.toml",
                  "[scylla-option]\nclient_encryption_options = { enabled = false, "
                  "keystore_password = \"se,cret\", certificate = \"a.crt\" }\n");
  const ProgramResult text = Serve({"--config", config, "--print-config"});
  EXPECT_EQ(text.exit_status, 0) << text.err;
  EXPECT_EQ(text.out.find("cret"), std::string::npos);
  EXPECT_NE(text.out.find("\nclient_encryption_options = (not shown) "), std::string::npos)
      << text.out;
}

TEST(PrintConfig, ValuesThatAreWrongByThemselvesAreNoConfiguration) {
  const ScratchFiles files;
  for (const auto& [line, said] : std::vector<std::pair<std::string, std::string>>{
           {"clock = \"soon\"", "--clock 'soon' is not"},
           {"log-slow-requests = \"5 min\"", "--log-slow-requests '5 min' is no time"},
           {"auth = \"admin\"", "--auth is not USER:PASSWORD"}}) {
    const std::string config = files.Write("c.toml", line + "\n");
    const ProgramResult result = Serve({"--config", config, "--print-config"});
    EXPECT_EQ(result.exit_status, 2) << line;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_NE(result.err.find(said), std::string::npos) << result.err;
  }
}

TEST(PrintConfig, OutputThatCannotBeWrittenFails) {
  EXPECT_EQ(std::system(LISTSTORE_PROGRAM " serve --print-config > /dev/full 2> /dev/null") / 256,
            2);
}

TEST(PrintConfig, WarnsOfAPasswordInAFileThatOthersMayRead) {
  const ScratchFiles files;
  const std::string config = files.Write("c.toml", "shards = 2\nauth = \"root:secret\"\n");
  const Texts arguments = {"--config", config, "--print-config"};
  std::filesystem::permissions(config, std::filesystem::perms(0640));
  const std::string said = Serve(arguments).err;
  EXPECT_NE(
      said.find(config + ":2: auth has a password, and others may read this file (mode 0640)"),
      std::string::npos)
      << said;
  std::filesystem::permissions(config, std::filesystem::perms(0600));
  EXPECT_EQ(Serve(arguments).err, "");
}

TEST(PrintConfig, SaysWhichOptionOfScyllaDecides) {
  const ScratchFiles files;
  const std::string yaml =
      files.Write("scylla.yaml", "num_tokens: 8\nnative_transport_port: 7000\n");
  const json::object printed =
      Printed({"--scylla-config", yaml, "--scylla-option", "num_tokens=9"});
  EXPECT_EQ(Of(printed, "cql-port"), "7000");
  EXPECT_EQ(Of(printed, "cql-port", "source"), "scylla-config");
  EXPECT_EQ(Of(printed, "cql-port", "option"), "native_transport_port");
  EXPECT_EQ(Of(printed, "cql-port", "place"), yaml + ":2");
  const json::object& tokens =
      printed.at("scylla_options").as_object().at("num_tokens").as_object();
  EXPECT_EQ(json::serialize(tokens), R"({"value":9,"source":"flag","has_effect":true})");
}

TEST(Config, OptionsOfScyllaAreATable) {
  const ScratchFiles files;
  const std::string config =
      files.Write("c.toml",
                  "shards = 2\n\n[scylla-option]\nnum_tokens = 3\ntwcs_max_window_count = 5\n"
                  "client_encryption_options = { enabled = true, certificate = \"a.crt\" }\n");
  // Those of the file stay, but where a flag says the same.
  const json::object printed = Printed({"--config", config, "--scylla-option", "num_tokens=4"});
  const json::object& options = printed.at("scylla_options").as_object();
  EXPECT_EQ(json::serialize(options.at("num_tokens")),
            R"({"value":4,"source":"flag","has_effect":true})");
  EXPECT_EQ(json::serialize(options.at("twcs_max_window_count")),
            R"({"value":5,"source":"file","place":")" + config + R"(:5","has_effect":true})");
  EXPECT_EQ(Of(printed, "tls-certificate"), "a.crt");
  EXPECT_EQ(Of(printed, "tls-certificate", "option"), "client_encryption_options");
}

TEST(Config, OfAFolderItIsTheFileWhereThereIsOne) {
  const TempFolder folder;
  const std::string path = folder / "";
  EXPECT_TRUE(Printed({"--config", path}).at("config_file").is_null());
  WriteFile(folder / "liststore.toml", "shards = 3\n");
  const json::object printed = Printed({"--config", path});
  EXPECT_EQ(Of(printed, "shards"), "3");
  EXPECT_EQ(Of(printed, "shards", "place"), (folder / "liststore.toml") + ":1");
}

TEST(Config, AFileOfAFolderThatCannotBeReadIsAnErrorAndNoAbsence) {
  const TempFolder folder;
  const std::string file = folder / "liststore.toml";
  std::filesystem::create_symlink("/nowhere/liststore.toml", file);
  const ProgramResult result = Serve({"--config", folder.path(), "--print-config"});
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_NE(result.err.find("cannot read " + file + ": No such file or directory"),
            std::string::npos)
      << result.err;
}

// ---- What is wrong

TEST(Config, AnErrorDoesNotShowAPassword) {
  const ScratchFiles files;
  const std::string config = files.Write("c.toml", "auth = [\"root:secret\"]\n");
  const ProgramResult result = Serve({"--config", config, "--print-config"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find(config + ":1: auth: it is to be one text in quotes"), std::string::npos)
      << result.err;
  EXPECT_EQ(result.err.find("secret"), std::string::npos) << result.err;
}

TEST(Config, WhatIsWrongIsNamedWithFileLineNameAndValue) {
  const ScratchFiles files;
  struct Row {
    std::string text;
    std::string said;  // behind the file's name
  };
  const Row rows[] = {
      {"cql-prot = 1\n", ":1: no option cql-prot; did you mean cql-port?"},
      {"# ports\n\nmemory_limit = 1\n", ":3: no option memory_limit; did you mean memory-limit?"},
      {"moon = \"full\"\n", ":1: no option moon\n"},
      {"help = true\n", ":1: no option help"},
      {"shards = 2\ncql-port = \"9042\"\n",
       ":2: cql-port: \"9042\" is a text and not a number; leave out the quotes"},
      {"cql-port = 99999\n", ":1: cql-port: '99999' is not a number from 0 to 65535"},
      {"cql-port = -1\n", ":1: cql-port: '-1' is not a number from 0 to 65535"},
      {"cql-port = 1.5\n", ":1: cql-port: '1.5' is not a number from 0 to 65535"},
      {"cql-port = true\n", ":1: cql-port: 'true' is not a number from 0 to 65535"},
      {"cql-port = [\"9042\"]\n", ":1: cql-port: '[9042]' is not a number from 0 to 65535"},
      {"cql-port = [9042]\n", ":1: cql-port: '[9042]' is not a number from 0 to 65535"},
      {"journal = 100001\n", ":1: journal: '100001' is not a number from 0 to 100000"},
      {"idle-timeout = \"5m\"\n",
       ":1: idle-timeout: '5m' is not a number of seconds from 0 to 4294967295"},
      {"shards = 0\n", ":1: shards: '0' is not 1 to 256, or off"},
      {"shards = \"on\"\n", ":1: shards: 'on' is not 1 to 256, or off"},
      {"memory-limit = \"lots\"\n",
       ":1: memory-limit: 'lots' is not a size; use a number of bytes, or one with K, M or G"},
      {"memory-limit = -5\n", ":1: memory-limit: '-5' is not a size"},
      {"rack = 4.5\n", ":1: rack: 4.5 is not a text; put it in quotes"},
      {"rack = [\"a\", \"b\"]\n", ":1: rack: [a, b] is not one text"},
      {"tls-min-version = 1.3\n", ":1: tls-min-version: 1.3 is not a text; put it in quotes"},
      {"memory-policy = \"lru\"\n",
       ":1: memory-policy: 'lru' is not a value of it; use one of reject, evict"},
      {"until-eof = \"yes\"\n", ":1: until-eof: 'yes' is not true or false"},
      {"scylla = \"maybe\"\n", ":1: scylla: 'maybe' is not a value of it; use one of on, off"},
      {"client-timestamps = true\n", ":1: client-timestamps: true is not a text; put it in quotes"},
      {"print-config = true\n", ":1: print-config cannot stand in a configuration file"},
      {"config = \"c\"\n", ":1: config cannot stand in a configuration file"},
      {"[server]\ncql-port = 1\n", ":2: no table [server]; settings stand above all headings\n"},
      {"[limits]\n", ":1: no table [limits]"},
      {"[scylla-options]\nnum_tokens = 1\n",
       ":2: no table [scylla-options]; did you mean scylla-option?"},
      {"[scylla-option]\nnum_token = 1\n",
       ":2: num_token: ScyllaDB has no such option; did you mean num_tokens?"},
      {"[scylla-option]\nnum_tokens = \"many\"\n",
       ":2: num_tokens: 'many' is not a number from 0 to 4294967295"},
      {"scylla-option = [1]\n", ":1: scylla-option: [1] is not a list of texts"},
      {"shards = 2\nrack = r7\n", ":2: "},
      {"rack = r7\n", "(the file is TOML: texts stand in quotes, as rack = \"r1\")"},
      {"rack = \"a\"\nrack = \"b\"\n", ":2: "},
  };
  for (const Row& row : rows) {
    const std::string config = files.Write("c.toml", row.text);
    const ProgramResult result = Serve({"--config", config, "--cql-port", "0"});
    EXPECT_EQ(result.exit_status, 2) << row.text;
    EXPECT_EQ(result.out, "") << row.text;
    const bool has_place = row.said.starts_with(':');
    EXPECT_NE((result.err + "\n").find((has_place ? config : "") + row.said), std::string::npos)
        << row.text << result.err;
  }
  EXPECT_NE(Serve({"--config", "/nowhere/config"})
                .err.find("cannot read /nowhere/config: No such file or directory"),
            std::string::npos);
}

TEST(Config, AVariableThatIsWrongIsNamed) {
  const struct {
    const char* variable;
    const char* said;
  } kRows[] = {
      {"LISTSTORE_SHARDS=0", "liststore serve: LISTSTORE_SHARDS: '0' is not 1 to 256, or off\n"},
      {"LISTSTORE_CQL_PORT=many",
       "liststore serve: LISTSTORE_CQL_PORT: 'many' is not a number from 0 to 65535\n"},
      {"LISTSTORE_STRICT=maybe",
       "liststore serve: LISTSTORE_STRICT: 'maybe' is not a value of it; use one of true, false\n"},
      {"LISTSTORE_SCYLLA_OPTION=num_tokens=x",
       "liststore: LISTSTORE_SCYLLA_OPTION num_tokens: 'x' is not a number from 0 to 4294967295\n"},
  };
  for (const auto& row : kRows) {
    const ProgramResult result = Serve({}, {row.variable});
    EXPECT_EQ(result.exit_status, 2) << row.variable;
    EXPECT_TRUE(result.err.starts_with(row.said)) << result.err;
  }
}

// ---- What SIGHUP would not change

TEST(Reload, WhatTakesARestartIsNamed) {
  const auto choice = [](const ServeOptions& options) { return *ChooseScyllaConfig(options); };
  ServeOptions now;
  now.log_level = "debug";
  EXPECT_TRUE(WantRestart(choice({}), choice(now)).empty()) << "this is taken";
  now.cql_port = 7000;
  now.sources["cql-port"] = {settings::SettingSource::kFile, "c.toml:3"};
  now.tls_certificate = "a.crt";
  now.tls_key = "a.key";
  now.scylla_options = {"num_tokens=5"};
  now.scylla_option_origins = {{settings::SettingSource::kFile, "c.toml:9"}};
  EXPECT_EQ(WantRestart(choice({}), choice(now)),
            (Texts{"cql-port (c.toml:3)", "tls-certificate (default)", "num_tokens (c.toml:9)"}));
  // What is no longer said is the default again.
  EXPECT_EQ(WantRestart(choice(now), choice({})),
            (Texts{"cql-port (default)", "tls-certificate (default)", "num_tokens (default)"}));
  // Where there is TLS its files are taken.
  ServeOptions other = now;
  other.tls_certificate = "b.crt";
  EXPECT_TRUE(WantRestart(choice(now), choice(other)).empty());
  // Where there is none, what is said of it has no effect before the next start, which may refuse it.
  ServeOptions half;
  half.tls_key = "a.key";
  EXPECT_EQ(WantRestart(choice({}), choice(half)), Texts{"tls-key (default)"});
}

TEST(Reload, FilesOfTlsOfAScyllaYamlTakeNoRestart) {
  const auto choice = [](const std::string& encryption) {
    ServeOptions options;
    options.scylla_options = {"client_encryption_options={" + encryption + "}"};
    return *ChooseScyllaConfig(options);
  };
  const ScyllaChoice running = choice("enabled:true,certificate:a.crt,keyfile:a.key");
  EXPECT_EQ(WantRestart(running, choice("enabled:true,certificate:b.crt,keyfile:b.key")), Texts{});
  const std::string option = "client_encryption_options (flag)";
  for (const std::string other :
       {"enabled:false", "enabled:true,certificate:a.crt,keyfile:a.key,require_client_auth:true"}) {
    const Texts names = WantRestart(running, choice(other));
    EXPECT_NE(std::ranges::find(names, option), names.end()) << other;
  }
}

}  // namespace config_test
}  // namespace liststore::testing
