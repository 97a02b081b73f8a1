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

void add_assets(net::Router& router) {
  const auto& routes = router.routes();
  if (std::any_of(routes.begin(), routes.end(), [](const auto& one) { return one.pattern == assets_route; }))
    return;
  auto bodies = std::make_shared<std::map<std::string, Body, std::less<>>>();
  for (const EmbeddedFile& file : embedded_files())
    if (!file.name.ends_with(".html")) bodies->emplace(file.name, body_of(file));
  router.add(HttpMethod::get, assets_route, [bodies](const HttpRequest& request) {
    const auto found = bodies->find(request.parameter("file"));
    if (found == bodies->end()) return net::error_response(request, 404, "no page has a file of this name");
    // Their names hold a hash of what they are.
    return guarded(found->second->respond(request), "public, max-age=31536000, immutable");
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
