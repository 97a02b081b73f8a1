#pragma once
// A server on a free loopback port with the few routes that tests need.

#include <gtest/gtest.h>

#include "net/http_client.h"
#include "net/http_server.h"
#include "net/negotiation.h"

namespace sotto::net {

inline Router echo_routes() {
  Router router;
  router.add(HttpMethod::get, "/hello", [](const HttpRequest&) { return json_response("\"hello\""); });
  router.add(
      HttpMethod::post, "/echo",
      [](const HttpRequest& request) {
        HttpResponse response;
        response.content_type = "application/octet-stream";
        response.body = request.body;
        return response;
      },
      std::uint64_t{1} << 20, [](const HttpRequest&) { return std::nullopt; });  // everybody is known
  router.add(HttpMethod::get, "/items/{id}",
             [](const HttpRequest& request) { return json_response(std::string(request.parameter("id"))); });
  return router;
}

struct TestServer {
  explicit TestServer(HttpServerSettings settings = {}, Router router = echo_routes()) {
    auto started = HttpServer::start(settings, std::move(router), metrics);
    if (!started) throw std::runtime_error(started.error().message);
    server = std::make_unique<HttpServer>(std::move(*started));
  }
  HttpClient client() const { return HttpClient::create({.url = server->url()}).value(); }
  std::uint16_t port() const { return server->port(); }

  MetricsRegistry metrics;
  std::unique_ptr<HttpServer> server;
};

}  // namespace sotto::net
