#include "tools/serve/start_lines.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

#include "liststore/version.h"

namespace liststore::testing {
namespace start_lines_test {

StartFacts Facts() {
  return {.cql_port = 9042,
          .shard_aware_port = 19042,
          .pid = 4711,
          .clock = "real",
          .memory_limit_bytes = uint64_t{8} << 30};
}

TEST(StartLines, OfAServerWithNothingAskedFor) {
  EXPECT_EQ(StartLines({}, Facts()),
            std::string("liststore ") + kVersion +
                " serves, process 4711\n"
                "  CQL          127.0.0.1:9042, shard-aware 19042\n"
                "  memory       8.0 GiB for the process; at the limit writes are refused\n"
                "  shards       1\n"
                "  clock        real\n"
                "  instruments  on\n"
                "  logins       none are asked for\n"
                "  data         in memory, and goes with the process (--data-dir DIR --commit-log "
                "periodic "
                "keeps it)\n"
                "  connect      liststore query --via 127.0.0.1:9042\n"
                "Ctrl-C ends it.\n");
}

TEST(StartLines, OfOneWithEverything) {
  ServeOptions options;
  options.address = "::";
  options.shards = 4;
  options.auth = "root:secret";
  options.memory_policy = "evict";
  options.data_dir = "/var/lib/liststore";
  options.commit_log = "sync";
  StartFacts facts = Facts();
  facts.tls_port = 9142;
  facts.tls_shard_aware_port = 19142;
  facts.http_port = 8080;
  facts.clock = "manual";
  const std::string lines = StartLines(options, facts);
  for (const char* row :
       {"  CQL          [::]:9042, shard-aware 19042\n",
        "  CQL over TLS [::]:9142, shard-aware 19142\n", "  HTTP         https://[::]:8080/\n",
        "; at the limit partitions are evicted\n", "  shards       4\n", "  clock        manual\n",
        "  instruments  on\n", "  logins       with a password\n",
        "  data         /var/lib/liststore, commit log sync\n",
        "  connect      liststore query --via 127.0.0.1:9042 --user NAME\n"}) {
    EXPECT_NE(lines.find(row), std::string::npos) << row << lines;
  }
  EXPECT_EQ(lines.find("secret"), std::string::npos);
}

TEST(StartLines, JsonHasAllThatALineHas) {
  ServeOptions options;
  options.auth = "root:secret";
  options.data_dir = "/var/\"lib\"";
  options.commit_log = "os";
  StartFacts facts = Facts();
  facts.http_port = 8080;
  const std::string text = ReadyJson(options, facts);
  EXPECT_TRUE(text.starts_with(
      R"({"cql_port":9042,"shard_aware_port":19042,"http_port":8080,"pid":4711,"clock":"real",)"))
      << text;
  const boost::json::object json = boost::json::parse(text).as_object();
  EXPECT_EQ(json.at("address").as_string(), "127.0.0.1");
  EXPECT_EQ(json.at("shards").as_int64(), 1);
  EXPECT_EQ(json.at("memory_limit_bytes").as_int64(), int64_t{8} << 30);
  EXPECT_EQ(json.at("memory_policy").as_string(), "reject");
  EXPECT_EQ(json.at("instruments").as_string(), "on");
  EXPECT_EQ(json.at("auth").as_string(), "on");
  EXPECT_EQ(json.at("data_dir").as_string(), "/var/\"lib\"");
  EXPECT_EQ(json.at("commit_log").as_string(), "os");
  EXPECT_EQ(json.at("version").as_string(), kVersion);
  EXPECT_FALSE(boost::json::parse(ReadyJson({}, Facts())).as_object().contains("data_dir"));
}

}  // namespace start_lines_test
}  // namespace liststore::testing
