#include "base/settings.h"
#include "net/http_server.h"
#include "net/negotiation.h"

namespace sotto {

void HttpServerSettings::bind(SettingsTable& table) {
  table.add("address", address, "Address to listen on; anything but loopback should have a certificate")
      .add("port", port, {0, 65535}, "Port to listen on; 0 takes any free one")
      .add("threads", threads, {1, 256}, "Network threads")
      .add("certificate", certificate, "Certificate chain (PEM); with private-key this turns TLS on")
      .add("private-key", private_key, "Private key of the certificate (PEM)")
      .add("max-header-bytes", max_header_bytes, {256, 1 << 20}, "Largest request head")
      .add("max-body-bytes", max_body_bytes, {0, std::int64_t{1} << 32}, "Largest request body")
      .add("max-connections", max_connections, {1, 1'000'000}, "Open connections in all")
      .add("max-connections-per-address", max_connections_per_address, {0, 1'000'000},
           "Open connections of one address; 0 for no limit")
      .add("requests-per-second", requests_per_second, {0, 1e9}, "Requests of one address; 0 for no limit")
      .add("request-burst", request_burst, {1, 1e9}, "Requests of one address at once, after a pause")
      .add("idle-seconds", idle_seconds, {0.01, 86400}, "How long a connection may wait between requests")
      .add("read-seconds", read_seconds, {0.01, 86400},
           "How long a request head, or body, may take to arrive")
      .add("handler-seconds", handler_seconds, {0.01, 86400}, "How long an answer may take to compute")
      .add("write-seconds", write_seconds, {0.01, 86400}, "How long a response may take to be taken");
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
