// `liststore selftest` as its users run it, and what it would say of other machines.
#include "tools/selftest/selftest.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <boost/json.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/program.h"
#include "tools/selftest/machine_checks.h"
#include "tools/selftest/server_checks.h"

namespace liststore::testing {
namespace selftest_test {

const ServerMachine kGoodMachine = {.cores = 4,
                                    .memory_bytes = uint64_t{16} << 30,
                                    .files_now = 1024,
                                    .files_max = 1 << 20,
                                    .huge_pages = "madvise",
                                    .clock_source = "tsc",
                                    .clock_nanos = 25};

std::map<std::string, Check> ByName(const std::vector<Check>& checks) {
  std::map<std::string, Check> by_name;
  for (const Check& check : checks) by_name[check.name] = check;
  return by_name;
}

TEST(SelfTest, AGoodMachineHasNoNotes) {
  const std::vector<Check> checks = CheckMachine(kGoodMachine);
  EXPECT_EQ(checks.size(), 5u);
  for (const Check& check : checks) {
    EXPECT_EQ(check.outcome, CheckOutcome::kOk) << check.name << ": " << check.found;
    EXPECT_EQ(check.advice, "");
  }
  EXPECT_EQ(ByName(checks)["memory"].found,
            "16.0 GiB, of which a server takes 12.0 GiB unless --memory-limit says otherwise");
  EXPECT_EQ(ByName(checks)["open files"].found,
            "1,048,576 for each process (1,024 until a server raises it)");
  EXPECT_EQ(ByName(checks)["clock"].found, "tsc, 25 ns a reading");
}

TEST(SelfTest, WhatIsLessIsNotedWithAdvice) {
  ServerMachine machine = kGoodMachine;
  machine.memory_bytes = 0;
  machine.files_now = machine.files_max = 256;
  machine.huge_pages = "never";
  machine.clock_source = "hpet";
  machine.clock_nanos = 1200;
  const std::map<std::string, Check> checks = ByName(CheckMachine(machine));
  for (const char* name : {"memory", "open files", "huge pages", "clock"}) {
    EXPECT_EQ(checks.at(name).outcome, CheckOutcome::kNote) << name;
    EXPECT_NE(checks.at(name).advice, "") << name;
  }
  EXPECT_NE(checks.at("memory").advice.find("--memory-limit"), std::string::npos);
}

TEST(SelfTest, AllWorksHere) {
  const ProgramResult result = RunProgram({"selftest", "--json"});
  EXPECT_EQ(result.exit_status, 0) << result.out;
  EXPECT_EQ(result.err, "");
  const boost::json::object json = boost::json::parse(result.out).as_object();
  EXPECT_TRUE(json.at("works").as_bool());
  std::string names;
  for (const boost::json::value& check : json.at("checks").as_array()) {
    names += std::string(check.at("name").as_string()) + ",";
    EXPECT_NE(check.at("outcome").as_string(), "failed") << check;
  }
  EXPECT_EQ(names,
            "cores,memory,open files,huge pages,clock,server,schema,writes,reads,expiry,index,TLS,"
            "data directory,");
}

TEST(SelfTest, AFolderThatCannotBeWrittenToFailsAlone) {
  RunningProgram program({"selftest"}, {"TMPDIR=/nonexistent"});
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("failed data directory  cannot make a folder in /nonexistent: "),
            std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("ok     TLS "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("ok     index "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("\ndoes not work on this machine: "), std::string::npos) << result.out;
}

TEST(SelfTest, LeavesNothingBehind) {
  const TempFolder folder;
  for (const Check& check : CheckServer(folder.path())) {
    EXPECT_EQ(check.outcome, CheckOutcome::kOk) << check.name << ": " << check.found;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// By the shell: the program's output goes where no test has it.
int StatusOf(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SelfTest, LeavesNothingBehindWhenItIsEnded) {
  const TempFolder folder;
  // In the middle of it, where a machine is as fast as this one.
  for (const char* after : {"0.05", "0.2", "0.35", "0.5"}) {
    const std::string command = "TMPDIR=" + folder.path() + " timeout -s TERM " + after +
                                " " LISTSTORE_PROGRAM " selftest > /dev/null";
    const int status = StatusOf(command);
    EXPECT_TRUE(status == 124 || status == 0) << status;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "after " << after << " s";
  }
}

TEST(SelfTest, OutputThatCannotBeWrittenIsSaid) {
  EXPECT_EQ(StatusOf(LISTSTORE_PROGRAM " selftest > /dev/full 2> /dev/null"), 2);
}

TEST(SelfTest, JsonHasTheAdvice) {
  EXPECT_EQ(
      SelfTestJson({{"a", CheckOutcome::kOk, "b"}, {"c", CheckOutcome::kFailed, "d\"", "e"}}, 0.25)
          .substr(SelfTestJson({}, 0).find("\"works\"")),
      "\"works\":false,\"seconds\":0.250,\"checks\":[{\"name\":\"a\",\"outcome\":\"ok\","
      "\"found\":\"b\"},{\"name\":\"c\",\"outcome\":\"failed\",\"found\":\"d\\\"\","
      "\"advice\":\"e\"}]}\n");
}

}  // namespace selftest_test
}  // namespace liststore::testing
