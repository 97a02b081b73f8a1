#include "pages/page_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pages/embedded_files.h"

namespace sotto::pages {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Slot final : public net::HttpReply::Slot {
 public:
  void answer(net::HttpResponse response) override { said = std::move(response); }
  net::HttpResponse said;
};

net::HttpResponse get(const net::Router& router, const std::string& path) {
  auto match = router.match(net::HttpMethod::get, path);
  const auto slot = std::make_shared<Slot>();
  net::HttpRequest request;
  request.path = path;
  request.parameters = std::move(match.parameters);
  if (!match.route) return {.status = 404, .content_type = {}, .headers = {}, .body = {}, .shared_body = {}};
  router.routes()[*match.route].handler(std::move(request), net::HttpReply(slot));
  return slot->said;
}

TEST(Pages, NameOnlyFilesOfThisServerAndAllowNothingElse) {
  net::Router router;
  add_page(router, "/dashboard", "dashboard.html");
  const auto page = get(router, "/dashboard");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  const auto policy = std::string(page.header("Content-Security-Policy"));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(policy, Not(HasSubstr("http")));
  const std::string html(page.bytes());
  EXPECT_THAT(html, Not(HasSubstr("http")));
  std::size_t named = 0;
  for (std::size_t at = html.find("=\"/"); at != std::string::npos; at = html.find("=\"/", at + 1)) {
    const std::string path = html.substr(at + 2, html.find('"', at + 2) - at - 2);
    EXPECT_EQ(get(router, path).status, 200) << path;
    EXPECT_THAT(std::string(get(router, path).header("Cache-Control")), HasSubstr("immutable"));
    ++named;
  }
  EXPECT_GE(named, 3U) << "icon, script and style";
}

TEST(Pages, HaveTwoOfThemAndRefuseWhatIsNotThere) {
  net::Router router;
  add_page(router, "/dashboard", "dashboard.html");
  add_page(router, "/again", "dashboard.html");
  EXPECT_EQ(get(router, "/again").status, 200);
  EXPECT_EQ(get(router, "/assets/dashboard.html").status, 404) << "pages have their own places";
  EXPECT_EQ(get(router, "/assets/nothing.js").status, 404);
  EXPECT_THROW(add_page(router, "/nothing", "nothing.html"), std::logic_error);
}

TEST(Pages, AreSmall) {
  for (const EmbeddedFile& file : embedded_files()) {
    // The device's module travels compressed, to about a quarter.
    const std::size_t most = file.name.ends_with(".wasm") ? 2'400'000 : 1'000'000;
    EXPECT_LT(file.bytes.size(), most) << file.name;
  }
}

// What a reader downloads before their device runs: its module, the worker around it and the page.
TEST(Pages, BringTheDeviceInLessThan600Kilobytes) {
  net::Router router;
  add_page(router, "/", "reader.html");
  std::size_t all = 0, files = 0;
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name.ends_with(".html") || file.name.ends_with(".br") || file.name.starts_with("dashboard"))
      continue;
    auto match = router.match(net::HttpMethod::get, "/assets/" + std::string(file.name));
    ASSERT_TRUE(match.route) << file.name;
    const auto slot = std::make_shared<Slot>();
    net::HttpRequest request;
    request.parameters = std::move(match.parameters);
    request.headers.emplace_back("Accept-Encoding", "gzip, deflate, br");  // as browsers say
    router.routes()[*match.route].handler(std::move(request), net::HttpReply(slot));
    if (file.name.ends_with(".wasm")) {
      EXPECT_EQ(slot->said.header("Content-Encoding"), "br");
    }
    all += slot->said.bytes().size();
    ++files;
  }
  EXPECT_GE(files, 4U) << "module, worker, script and style";
  EXPECT_GT(all, 300'000U) << "the module is among them";
  EXPECT_LE(all, 600'000U);
}

// The same bytes for whoever takes no brotli, under a tag of their own.
TEST(Pages, BringTheDeviceToBrowsersWithoutBrotliToo) {
  net::Router router;
  add_page(router, "/", "reader.html");
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.name.ends_with(".wasm")) continue;
    std::vector<std::string> tags;
    for (const char* accepted : {"", "gzip", "br;q=0, gzip", "br"}) {
      auto match = router.match(net::HttpMethod::get, "/assets/" + std::string(file.name));
      ASSERT_TRUE(match.route) << file.name;
      const auto slot = std::make_shared<Slot>();
      net::HttpRequest request;
      request.parameters = std::move(match.parameters);
      if (*accepted != '\0') request.headers.emplace_back("Accept-Encoding", accepted);
      router.routes()[*match.route].handler(std::move(request), net::HttpReply(slot));
      const std::string wanted = std::string_view(accepted) == "br" ? "br" : *accepted != '\0' ? "gzip" : "";
      EXPECT_EQ(slot->said.status, 200) << accepted;
      EXPECT_EQ(slot->said.header("Content-Encoding"), wanted) << accepted;
      EXPECT_EQ(slot->said.content_type, "application/wasm") << accepted;
      if (wanted.empty()) {
        EXPECT_EQ(slot->said.bytes(), file.bytes);
      }
      tags.emplace_back(slot->said.header("ETag"));
    }
    EXPECT_NE(tags.back(), tags.front());
  }
}

}  // namespace
}  // namespace sotto::pages
