// ListstoreTest: a fixture of GoogleTest. Each suite has a server of its own, in this process, and
// each test begins with it as Prepare has left it.
//
//   class ClicksTest : public liststore::ListstoreTest {
//     void Prepare() override { server().Execute("CREATE KEYSPACE ..."); }
//   };
//
//   TEST_F(ClicksTest, AreKeptForADay) {
//     ConnectDriver(server().host(), server().port());
//     server().clock().Advance(std::chrono::hours(24));
//   }
#ifndef LISTSTORE_TESTING_GTEST_H_
#define LISTSTORE_TESTING_GTEST_H_

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "liststore/testing/test_server.h"

namespace liststore {

class ListstoreTest : public ::testing::Test {
 protected:
  // What the suite's server is told when it starts.
  virtual TestServerOptions Options() { return {}; }
  // Called once for each suite, before its first test: schema and rows that each test begins with.
  virtual void Prepare() {}

  // The suite's; there from SetUp on.
  static TestServer& server() { return *Kept().server; }

  // Who overrides these calls them.
  void SetUp() override {
    const ::testing::TestSuite* const suite =
        ::testing::UnitTest::GetInstance()->current_test_suite();
    if (Kept().suite != suite) {
      Kept() = {};
      TestServerOptions options = Options();
      if (!options.fail)
        options.fail = [](const std::string& message) { ADD_FAILURE() << message; };
      auto started = TestServer::Start(std::move(options));
      ASSERT_TRUE(started.ok()) << started.status();
      Kept() = {*std::move(started), suite};
      Prepare();
      if (HasFailure() || IsSkipped()) {
        // Half of what each test begins with is not kept: the next test prepares anew, or fails as this one does.
        Kept() = {};
        if (!IsSkipped()) FAIL() << "Prepare has failed, and this test does not run";
        return;
      }
      server().Mark();
    }
    server().Reset();
  }
  void TearDown() override {
    if (Kept().server != nullptr) server().CheckFaults();
  }
  // The last suite's server ends here; that of another one when the next begins.
  static void TearDownTestSuite() { Kept() = {}; }

 private:
  struct State {
    std::unique_ptr<TestServer> server;
    const ::testing::TestSuite* suite = nullptr;
  };
  static State& Kept() {
    static State kept;
    return kept;
  }
};

}  // namespace liststore

#endif  // LISTSTORE_TESTING_GTEST_H_
