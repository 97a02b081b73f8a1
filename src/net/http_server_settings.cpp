#include "base/settings.h"
#include "net/http_server.h"
#include "net/negotiation.h"

namespace sotto {

void HttpServerSettings::bind(SettingsTable& table) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  table.add("address", address, "Address to listen on; anything but loopback should have a certificate")
      .add("port", port, {0, 65535}, "Port to listen on; 0 takes any free one")
      .add("network_threads", network_threads, {1, 256}, "Threads that take and answer requests")
      .add("certificate", certificate, "Certificate chain (PEM); with private-key this turns TLS on")
      .add("private_key", private_key, "Private key of the certificate (PEM), readable by its owner alone")
      .add("max_header_bytes", max_header_bytes, {256, 1 << 20}, "Largest request head")
      .add("max_body_bytes", max_body_bytes, {0, std::int64_t{1} << 32}, "Largest request body")
      .add("max_anonymous_body_bytes", max_anonymous_body_bytes, {0, std::int64_t{1} << 32},
           "Largest request body where no credential is asked for")
      .add("max_connection_bytes", max_connection_bytes, {64 << 10, most_bytes},
           "What one connection may make the server hold: head, body and answer")
      .add("max_buffered_bytes", max_buffered_bytes, {1 << 20, most_bytes},
           "What all connections together may make the server hold; then 503")
      .add("max_connections", max_connections, {0, 1'000'000},
           "Open connections in all; 0 for as many as the system has descriptors")
      .add("max_connections_per_address", max_connections_per_address, {0, 1'000'000},
           "Open connections of one address; 0 for no limit")
      .add("requests_per_second", requests_per_second, {0, 1e9}, "Requests of one address; 0 for no limit")
      .add("request_burst", request_burst, {1, 1e9}, "Requests of one address at once, after a pause")
      .add("idle_seconds", idle_seconds, {0, 86400},
           "How long a connection may wait between requests; 0 for no limit")
      .add("read_seconds", read_seconds, {0, 86400},
           "How long a request head may take, and a body at less than the least rate; 0 for no limit")
      .add("handler_seconds", handler_seconds, {0, 86400},
           "How long an answer may take to compute; 0 for no limit")
      .add("write_seconds", write_seconds, {0, 86400},
           "How long a response may be taken at less than the least rate; 0 for no limit")
      .add("min_bytes_per_second", min_bytes_per_second, {0, 1'000'000'000},
           "Least rate of a body or response; 0: only a standstill counts")
      .add("trusted_proxies", trusted_proxies,
           "Proxies whose X-Forwarded-For is believed: addresses or networks, separated by commas");
}

void add_operator_routes(Router& router, MetricsRegistry& metrics, std::function<Status()> health) {
  router.add(HttpMethod::get, "/healthz", [health = std::move(health)](const HttpRequest& request) {
    if (const Status status = health ? health() : Status{}; !status) {
      return error_response(request, 503, status.error().message);
    }
    return json_response("{\"status\":\"ok\"}\n");
  });
  router.add(HttpMethod::get, "/metrics", [&metrics](const HttpRequest&) {
    HttpResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = metrics.to_text();
    return response;
  });
}

}  // namespace sotto
