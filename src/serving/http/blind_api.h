#pragma once
// The routes of blind serving.
//
//   GET  /v1/blind/{version}   the guide with this hash: the newest, or the one before it
//   POST /v1/blind             an encrypted question (BlindQuery), answered by an encrypted answer
//   GET  /v1/items/{id}        an article with its vector, for whoever opens it
//
// Questions that wait while a pass over the database is under way share the next one. Nothing of a question
// is logged or kept; there is nothing in it to count by. The pools and the metrics must outlive the object,
// and the object the server that has its routes. Thread-safe; publish() is for one owner.

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "net/http_server.h"
#include "net/published_body.h"
#include "serving/blind/blind_pool.h"

namespace sotto::serving {

class BlindApi {
 public:
  BlindApi(const LivePool& pool, const BlindPool& blind, net::MetricsRegistry& metrics);
  ~BlindApi();
  BlindApi(const BlindApi&) = delete;
  BlindApi& operator=(const BlindApi&) = delete;

  // most_words: of a question; larger bodies are refused unread.
  void add_routes(net::Router& router, std::size_t most_words);
  // Hands out the guides of the editions that are being served.
  void publish();

 private:
  struct Waiting {
    std::shared_ptr<const BlindEdition> edition;
    std::vector<std::uint32_t> words;
    net::HttpReply reply;
  };
  using Guides = std::vector<std::shared_ptr<const net::PublishedBody>>;
  void ask(net::HttpRequest&& request, net::HttpReply reply);
  net::HttpResponse guide(const net::HttpRequest& request) const;
  net::HttpResponse item(const net::HttpRequest& request) const;
  void work();
  static void answer(std::span<Waiting> batch);

  const LivePool& pool_;
  const BlindPool& blind_;
  net::Counter& questions_;
  net::Histogram& batch_sizes_;
  Published<Guides> guides_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;  // last: they use the rest
};

}  // namespace sotto::serving
