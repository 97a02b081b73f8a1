#pragma once
// The routes of private online serving over a live pool.
//
//   POST   /v1/recommend     what a device may safely ask, in JSON or FlatBuffers
//   GET    /v1/popular       the public list (?count= &category= &language= &model=)
//   GET    /v1/pack          the device pack, with ETag, Range and compression; ?from=VERSION for the
//   difference PUT    /v1/items         articles, by the operator DELETE /v1/items/{id}    the same GET
//   /openapi.json, /healthz, /metrics
//
// Nothing that a query says is logged, counted by value or kept. The pool, the publisher and the metrics must
// outlive the object, and the object the server that has its routes. Thread-safe.

#include "net/background_worker.h"
#include "net/http_server.h"
#include "net/negotiation.h"
#include "serving/http/published_answers.h"
#include "serving/http/query_coalescer.h"
#include "serving/pool/live_pool.h"

namespace sotto::serving {

struct ServingApiSettings {
  std::string operator_token;      // "Authorization: Bearer TOKEN" for changes; empty: changes are refused
  std::function<Status()> health;  // asked by /healthz on a network thread: must not block
};

// The routes, described for machines (OpenAPI 3); in open_api.cpp.
std::string_view open_api_document();

class ServingApi {
 public:
  ServingApi(LivePool& pool, const PackPublisher& packs, net::MetricsRegistry& metrics,
             ServingApiSettings settings);

  void add_routes(net::Router& router);
  // Brings the metrics of the pool up to date after changes that did not come through the routes.
  void observe_pool();

 private:
  void recommend(net::HttpRequest&& request, net::HttpReply reply);
  void popular(net::HttpRequest&& request, net::HttpReply reply);
  net::HttpResponse pack(const net::HttpRequest& request) const;
  // Here and now, or for thousands of items on a thread of its own: other connections do not wait for them.
  void answer(std::uint32_t count, net::BodyForm form, net::HttpReply reply,
              std::function<net::HttpResponse()> compute);
  void change(net::HttpRequest&& request, net::HttpReply reply,
              std::function<net::HttpResponse(const net::HttpRequest&)> apply);
  net::HttpResponse put_items(const net::HttpRequest& request);
  net::HttpResponse remove_item(const net::HttpRequest& request);

  LivePool& pool_;
  const PackPublisher& packs_;
  net::MetricsRegistry& metrics_;
  const ServingApiSettings settings_;
  net::Counter& by_coefficients_;
  net::Counter& by_prototypes_;
  net::Counter& by_popularity_;
  net::Histogram& batch_sizes_;
  net::Gauge& items_;
  net::Counter& stored_;
  net::Counter& removed_;
  net::Gauge& refused_changes_;
  net::Gauge& failed_compactions_;
  QueryCoalescer coalescer_;
  AnswerCache public_lists_;
  net::BackgroundWorker changes_, large_answers_;  // last: their tasks use the rest
};

}  // namespace sotto::serving
