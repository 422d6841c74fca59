#include "engine/base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace liststore {
namespace nearest_name_test {

TEST(NearestName, IsTheOneThatWasMeant) {
  constexpr std::array<std::string_view, 4> kNames = {"cql-port", "clock", "shards", "strict"};
  struct Row {
    const char* written;
    const char* meant;  // empty: nobody can tell
  };
  for (const Row& row : {Row{"cql-prot", "cql-port"}, Row{"cql-port", "cql-port"},
                         Row{"cqlport", "cql-port"}, Row{"shard", "shards"}, Row{"clokc", "clock"},
                         Row{"stict", "strict"}, Row{"moon", ""}, Row{"", ""}, Row{"port", ""}}) {
    EXPECT_EQ(NearestName(row.written, kNames), row.meant) << row.written;
  }
  EXPECT_EQ(DidYouMean("cql-prot", kNames), "; did you mean cql-port?");
  EXPECT_EQ(DidYouMean("moon", kNames), "");
}

}  // namespace nearest_name_test
}  // namespace liststore
