// DynamodbServerTest: a server with DynamoDB's port in the process, asked as its clients do.
#ifndef LISTSTORE_TESTS_FACES_DYNAMODB_DYNAMODB_SERVER_TEST_H_
#define LISTSTORE_TESTS_FACES_DYNAMODB_DYNAMODB_SERVER_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "liststore/clock.h"
#include "tests/faces/http/http_client.h"
#include "tests/over_cql/cql_session_test.h"

namespace liststore::testing {

// A request, and what its answer has to be: the whole body, or where `is_part` a part of it.
struct DynamodbStep {
  std::string operation;
  std::string body;
  std::string answer;
  int status = 200;
  bool is_part = false;
};

class DynamodbServerTest : public CqlSessionTest {
 protected:
  void Start(CqlServerOptions options = {}) {
    options.http_port = 0;
    options.dynamodb_port = 0;
    options.journal_entries = 1000;
    options.manual_clock = &clock_;
    StartServer(options, "k");
  }

  HttpReply AskWith(const std::string& operation, const std::string& body,
                    const std::string& fields) {
    HttpClient client(server_->dynamodb_port());
    return client.Ask("POST /", body,
                      "X-Amz-Target: DynamoDB_20120810." + operation + "\r\n" + fields);
  }
  HttpReply Ask(const std::string& operation, const std::string& body) {
    return AskWith(operation, body, "");
  }
  // The body of what must succeed.
  std::string Good(const std::string& operation, const std::string& body) {
    const HttpReply reply = Ask(operation, body);
    EXPECT_EQ(reply.status, 200) << operation << " " << body << "\n" << reply.body;
    return reply.body;
  }
  void Walk(const std::vector<DynamodbStep>& steps) {
    for (const DynamodbStep& step : steps) {
      SCOPED_TRACE(step.operation + " " + step.body);
      const HttpReply reply = Ask(step.operation, step.body);
      EXPECT_EQ(reply.status, step.status) << reply.body;
      if (step.is_part) {
        EXPECT_NE(reply.body.find(step.answer), std::string::npos) << reply.body;
      } else {
        EXPECT_EQ(reply.body, step.answer);
      }
    }
  }

  // 2023-11-14 22:13:20 UTC.
  ManualClock clock_{1'700'000'000'000'000'000};
};

}  // namespace liststore::testing

#endif  // LISTSTORE_TESTS_FACES_DYNAMODB_DYNAMODB_SERVER_TEST_H_
