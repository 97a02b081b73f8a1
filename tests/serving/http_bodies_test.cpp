// JSON bodies of queries: what is read of them, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/http/bodies_json.h"

namespace sotto::serving {
namespace {

using ::testing::HasSubstr;

Result<device::RecommendRequest> query(const std::string& members) {
  return decode_recommend_json(R"({"model": "v1", )" + members + "}");
}

std::string bytes_of(const std::string& base64) {
  const auto request = query(R"("mechanism": {"name": "own", "bytes": ")" + base64 + "\"}");
  if (!request) return request.error().message;
  return std::get<privacy::MechanismQuery>(request->query).bytes;
}

TEST(QueryBody, CarriesAnyMechanismOfTheTable) {
  const auto request = query(R"("mechanism": {"name": "own", "bytes": "AP8Q"})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->query,
            privacy::ServingQuery(privacy::MechanismQuery{"own", std::string("\0\xff\x10", 3)}));
  EXPECT_EQ(bytes_of(""), "");
  EXPECT_EQ(bytes_of("Zg=="), "f");
  EXPECT_EQ(bytes_of("Zm8="), "fo");
  EXPECT_EQ(bytes_of("Zm9vYmE="), "fooba");
  EXPECT_EQ(bytes_of("+/+/"), "\xfb\xff\xbf");
}

TEST(QueryBody, RefusesMechanismsThatAreNotWrittenInOneWay) {
  for (const char* wrong : {"Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm 8", "Zm8\\n", "Zm-_"})
    EXPECT_THAT(bytes_of(wrong), HasSubstr("base64 with its padding")) << wrong;
  EXPECT_FALSE(query(R"("mechanism": "own")"));
  EXPECT_FALSE(query(R"("mechanism": {"bytes": "AAEC"})"));
  EXPECT_FALSE(query(R"("mechanism": {"name": "own", "byte": "AAEC"})"));
  EXPECT_THAT(query(R"("mechanism": {"name": "own", "bytes": ""}, "popular": true)").error().message,
              HasSubstr("exactly one of"));
}

}  // namespace
}  // namespace sotto::serving
