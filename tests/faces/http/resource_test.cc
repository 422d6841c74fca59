#include "engine/faces/http/resource.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace liststore::http_face {
namespace resource_test {

HttpAnswer Nothing(const HttpCall& /*call*/) { return {}; }

Resources Some() {
  std::vector<Resource> all;
  all.push_back({"/a", {"GET"}, "first", false, Nothing});
  all.push_back({"/a", {"POST"}, "second", false, Nothing});
  all.push_back({"/b/{name}", {"DELETE"}, "third", false, Nothing});
  return Resources(std::move(all));
}

Resources::Found Find(const Resources& resources, const std::string& method,
                      const std::string& target) {
  HttpRequest request;
  request.method = method;
  request.target = target;
  return resources.Find(request);
}

std::string FieldOf(const HttpAnswer& answer, const std::string& name) {
  for (const auto& [field, value] : answer.fields) {
    if (field == name) return value;
  }
  return "";
}

TEST(ResourceTest, PathAndMethodSayWhichOneItIs) {
  const Resources resources = Some();
  EXPECT_EQ(Find(resources, "GET", "/a").resource->summary, "first");
  EXPECT_EQ(Find(resources, "HEAD", "/a?x=1").resource->summary, "first");
  EXPECT_EQ(Find(resources, "POST", "/a").resource->summary, "second");
  const Resources::Found third = Find(resources, "DELETE", "/b/x%2Fy%20z");
  ASSERT_NE(third.resource, nullptr);
  EXPECT_EQ(third.resource->summary, "third");
  EXPECT_EQ(third.name, "x/y z");
}

TEST(ResourceTest, OtherPathsAreAnsweredWithWhatThereIs) {
  const Resources resources = Some();
  for (const char* path : {"/", "/a/", "/A", "/b", "/b/", "/b/x/y", "*", ""}) {
    const Resources::Found found = Find(resources, "GET", path);
    EXPECT_EQ(found.resource, nullptr) << path;
    EXPECT_EQ(found.refusal.status, 404) << path;
  }
  EXPECT_EQ(Find(resources, "GET", "/\"\xff").refusal.body,
            R"({"error":{"status":404,"code":"not_found","message":"There is no /\"?; `paths` is )"
            R"(what there is"},"paths":[{"method":"GET","path":"/a","summary":"first"},)"
            R"({"method":"POST","path":"/a","summary":"second"},)"
            R"({"method":"DELETE","path":"/b/{name}","summary":"third"}]})"
            "\n");
}

TEST(ResourceTest, OtherMethodsAreToldWhichThereAre) {
  const Resources resources = Some();
  const Resources::Found found = Find(resources, "DELETE", "/a");
  EXPECT_EQ(found.refusal.status, 405);
  EXPECT_EQ(FieldOf(found.refusal, "Allow"), "GET, HEAD, POST, OPTIONS");
  const Resources::Found options = Find(resources, "OPTIONS", "/b/x");
  EXPECT_EQ(options.refusal.status, 204);
  EXPECT_EQ(FieldOf(options.refusal, "Allow"), "DELETE, OPTIONS");
}

TEST(ResourceTest, NamesThatAreNoTextAreRefused) {
  EXPECT_EQ(Find(Some(), "DELETE", "/b/%f").refusal.status, 400);
  EXPECT_EQ(Find(Some(), "DELETE", "/b/%ff").refusal.status, 400);
}

}  // namespace resource_test
}  // namespace liststore::http_face
