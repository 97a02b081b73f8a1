#include "pages/page_routes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>

#include "base/chain_hash.h"
#include "net/negotiation.h"
#include "net/published_body.h"
#include "pages/embedded_files.h"

namespace sotto::pages {

namespace {

using net::HttpMethod;
using net::HttpRequest;
using net::HttpResponse;

constexpr int effort = 6;  // of compressing
// A file of this name beside another holds the same, compressed by brotli when the pages were built: smaller
// than what is made here, at the price of seconds.
constexpr std::string_view brotli = ".br";
constexpr std::string_view assets_route = "/assets/{file}";

constexpr std::string_view policy =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types sotto-worker";

std::string_view type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  if (name.ends_with(".wasm")) return "application/wasm";
  return "application/octet-stream";
}

using Body = std::shared_ptr<const net::PublishedBody>;

// Compressed once, when the server starts.
Body body_of(const EmbeddedFile& file) {
  return std::make_shared<const net::PublishedBody>(
      std::string(file.bytes), to_hex(chain_hash({file.bytes}).value()), type_of(file.name), effort);
}

HttpResponse guarded(HttpResponse response, std::string_view cache) {
  response.headers.emplace_back("Content-Security-Policy", policy);
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.emplace_back("Cache-Control", cache);
  return response;
}

// Of one file, the forms that it is handed out in.
struct Asset {
  Body body, brotli;  // brotli: null where there is none

  HttpResponse respond(const HttpRequest& request) const {
    if (brotli == nullptr || net::accepted_quality(request.header("Accept-Encoding"), "br") == 0)
      return body->respond(request);
    HttpResponse response = brotli->respond(request);
    response.headers.emplace_back("Content-Encoding", "br");
    response.headers.emplace_back("Vary", "Accept-Encoding");
    return response;
  }
};

Asset asset_of(const EmbeddedFile& file, std::span<const EmbeddedFile> all) {
  Asset asset{body_of(file), nullptr};
  for (const EmbeddedFile& other : all)
    if (other.name == std::string(file.name) + std::string(brotli))
      asset.brotli = std::make_shared<const net::PublishedBody>(
          std::string(other.bytes), asset.body->tag() + "-br", type_of(file.name), 0);
  return asset;
}

void add_assets(net::Router& router) {
  const auto& routes = router.routes();
  if (std::any_of(routes.begin(), routes.end(), [](const auto& one) { return one.pattern == assets_route; }))
    return;
  auto assets = std::make_shared<std::map<std::string, Asset, std::less<>>>();
  for (const EmbeddedFile& file : embedded_files())
    if (!file.name.ends_with(".html") && !file.name.ends_with(brotli))
      assets->emplace(file.name, asset_of(file, embedded_files()));
  router.add(HttpMethod::get, assets_route, [assets](const HttpRequest& request) {
    const auto found = assets->find(request.parameter("file"));
    if (found == assets->end()) return net::error_response(request, 404, "no page has a file of this name");
    // Their names hold a hash of what they are.
    return guarded(found->second.respond(request), "public, max-age=31536000, immutable");
  });
}

}  // namespace

void add_page(net::Router& router, std::string_view path, std::string_view page) {
  const auto files = embedded_files();
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.name == page; });
  if (found == files.end()) throw std::logic_error("no page is called " + std::string(page));
  add_assets(router);
  router.add(HttpMethod::get, path, [body = body_of(*found)](const HttpRequest& request) {
    return guarded(body->respond(request), "no-cache");
  });
}

}  // namespace sotto::pages
