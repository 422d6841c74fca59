#include "engine/execute/request_view.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/execute/answers.h"
#include "engine/model/schema.h"

namespace liststore::testing {
namespace request_view_test {

protocol::Request QueryOf(std::string_view text) {
  protocol::Request request;
  request.message = protocol::Query{text, {}};
  return request;
}

// A plan of as many variables of these names; what it does is of no account.
cql::Plan PlanWith(const std::vector<std::string>& names) {
  cql::Plan plan;
  for (const std::string& name : names) {
    cql::BindVariable variable;
    variable.name = name;
    plan.variables.push_back(variable);
  }
  return plan;
}

TEST(RequestView, ATextIsPlannedOnceForASchemaAndKeyspace) {
  const protocol::Request request = QueryOf("USE k");
  execute::RequestView view({}, request);
  execute::StatementView& statement = view.statement();
  const auto schema = std::make_shared<const Schema>();
  const std::shared_ptr<const cql::Plan> plan = *statement.PlanOf(schema, "", {});
  EXPECT_EQ(&statement.plan(), plan.get());
  EXPECT_EQ(*statement.PlanOf(schema, "", {}), plan);
  EXPECT_NE(*statement.PlanOf(schema, "other", {}), plan) << "for another keyspace";
  const std::shared_ptr<const cql::Plan> other = *statement.PlanOf(schema, "other", {});
  EXPECT_NE(*statement.PlanOf(std::make_shared<const Schema>(), "other", {}), other)
      << "for another schema";
  const std::weak_ptr<const cql::Plan> last = *statement.PlanOf(schema, "", {});
  statement.ForgetPlan();
  EXPECT_TRUE(last.expired());
}

TEST(RequestView, AnOutlineIsThatOfTheKeyspace) {
  const protocol::Request request = QueryOf("SELECT * FROM t");
  execute::RequestView view({}, request);
  const cql::StatementOutline* const outline = &view.statement().Outline("a");
  EXPECT_EQ(outline->keyspace, "a");
  EXPECT_EQ(&view.statement().Outline("a"), outline);
  EXPECT_EQ(view.statement().Outline("b").keyspace, "b");
}

TEST(RequestView, WhatIsNotKnownHasNoTextAndNoOutline) {
  protocol::Request request;
  request.message = protocol::Execute{"an id", std::nullopt, {}};
  execute::RequestView view({}, request);
  EXPECT_EQ(view.kind(), execute::RequestKind::kExecute);
  execute::StatementMemo memo;
  const execute::StatementCache cache;
  EXPECT_EQ(view.statement().Find(memo, cache), nullptr);
  EXPECT_EQ(view.statement().id(), "an id");
  EXPECT_EQ(view.statement().text(), "");
  EXPECT_EQ(view.statement().Outline("a"), cql::StatementOutline());
}

TEST(RequestView, ValuesAreBoundByPlaceOrName) {
  const protocol::Value values[] = {protocol::Value::Null(), protocol::Value::Unset()};
  const std::string_view names[] = {"b", "a"};
  protocol::Request request = QueryOf("");
  auto& parameters = std::get<protocol::Query>(request.message).parameters;
  parameters.values = values;
  const execute::RequestView by_place({}, request);
  std::vector<cql::BoundValue> bound;
  ASSERT_TRUE(by_place.Bind(execute::StatementView(), PlanWith({"a", "b"}), bound).ok());
  EXPECT_TRUE(bound[0].is_null());
  EXPECT_TRUE(bound[1].is_unset());
  EXPECT_EQ(by_place.Bind(execute::StatementView(), PlanWith({"a"}), bound).error().message,
            "Invalid amount of bind variables: expected 1 received 2");

  parameters.value_names = names;
  bound.clear();
  const execute::RequestView by_name({}, request);
  ASSERT_TRUE(by_name.Bind(execute::StatementView(), PlanWith({"a", "b"}), bound).ok());
  EXPECT_TRUE(bound[0].is_unset());
  EXPECT_TRUE(bound[1].is_null());
  EXPECT_EQ(by_name.Bind(execute::StatementView(), PlanWith({"c"}), bound).error().message,
            "Missing value for bind marker with name: c");
}

TEST(RequestView, StatementsOfABatchHaveTheirOwnValues) {
  const protocol::Value values[] = {protocol::Value::Null()};
  protocol::BatchStatement statements[2];
  statements[0].query_or_id = "a text";
  statements[1].kind = protocol::BatchStatement::Kind::kPrepared;
  statements[1].query_or_id = "an id";
  statements[1].values = values;
  protocol::Request request;
  request.message = protocol::Batch{protocol::BatchType::kUnlogged, statements, {}};
  execute::RequestView view({}, request);
  ASSERT_EQ(view.statements().size(), 2u);
  EXPECT_EQ(view.statements()[0].text(), "a text");
  EXPECT_EQ(view.statements()[1].id(), "an id");
  std::vector<cql::BoundValue> bound;
  EXPECT_TRUE(view.Bind(view.statements()[1], PlanWith({"a"}), bound).ok());
  EXPECT_EQ(view.Bind(view.statements()[0], PlanWith({"a"}), bound).error().message,
            "There were 1 markers(?) in CQL but 0 bound variables");
}

TEST(RequestView, NothingIsLeftForTheNextRequest) {
  protocol::BatchStatement statements[1];
  protocol::Request batch;
  batch.message = protocol::Batch{protocol::BatchType::kLogged, statements, {}};
  execute::RequestView view({}, batch);
  EXPECT_EQ(view.statements().size(), 1u);
  OutputBuffer out;
  view.outcome.answered = true;
  execute::AnswerError(cql::CqlError::Invalid("no"), {}, view.outcome, out);
  EXPECT_STREQ(view.outcome.Name(), "invalid");
  view.End();
  const protocol::Request query = QueryOf("SELECT * FROM a.t");
  view.Begin({}, query);
  EXPECT_EQ(view.statements().size(), 1u);
  EXPECT_EQ(view.statement().Outline("").keyspace, "a");
  EXPECT_STREQ(view.outcome.Name(), "no_answer");
  EXPECT_EQ(view.outcome.message, "");
}

}  // namespace request_view_test
}  // namespace liststore::testing
