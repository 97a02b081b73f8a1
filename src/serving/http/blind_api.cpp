#include "serving/http/blind_api.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/thread_pool.h"
#include "blind/guide.h"
#include "net/negotiation.h"

namespace sotto::serving {

namespace {

constexpr std::size_t most_waiting = 256;
constexpr std::size_t most_probes_at_once = 16;
constexpr int guide_effort = 3;  // the hint, which is most of it, cannot be compressed
constexpr std::array probe_bounds = {1.0, 2.0, 4.0, 8.0, 16.0};

net::HttpResponse later_please(const net::HttpRequest& request) {
  net::HttpResponse refused =
      net::error_response(request, 503, "too many questions are waiting: ask again later");
  refused.headers.emplace_back("Retry-After", "1");
  return refused;
}

}  // namespace

BlindApi::BlindApi(const LivePool& pool, const BlindPool& blind, net::MetricsRegistry& metrics)
    : pool_(pool),
      blind_(blind),
      questions_(metrics.counter("sotto_recommendations_total", "", {{"kind", "blind"}})),
      batch_sizes_(metrics.histogram("sotto_blind_probes_per_pass", "Encrypted probes answered together",
                                     probe_bounds)),
      guides_(std::make_shared<const Guides>()) {
  for (int i = 0; i < std::max(1, thread_count()); ++i) threads_.emplace_back([this] { work(); });
}

BlindApi::~BlindApi() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void BlindApi::add_routes(net::Router& router, std::size_t most_words) {
  router.add(
      net::HttpMethod::post, "/v1/blind",
      [this](net::HttpRequest&& request, net::HttpReply reply) { ask(std::move(request), std::move(reply)); },
      blind::body_bytes(most_words));
  router.add(net::HttpMethod::get, "/v1/blind/{version}",
             [this](const net::HttpRequest& request) { return guide(request); });
  router.add(net::HttpMethod::get, "/v1/items/{id}",
             [this](const net::HttpRequest& request) { return item(request); });
}

void BlindApi::publish() {
  const auto newest = blind_.newest();
  const auto before = guides_.take();
  if (!newest) return guides_.replace(std::make_shared<const Guides>());
  if (!before->empty() && before->front()->tag() == newest->version()) return;
  auto next = std::make_shared<Guides>();
  next->push_back(std::make_shared<const net::PublishedBody>(newest->guide_bytes(), newest->version(),
                                                             net::flat_buffers_type, guide_effort));
  if (!before->empty()) next->push_back(before->front());
  guides_.replace(std::move(next));
}

net::HttpResponse BlindApi::guide(const net::HttpRequest& request) const {
  const auto guides = guides_.take();
  for (const auto& body : *guides)
    if (body->tag() == request.parameter("version")) return body->respond(request);
  return net::error_response(request, 404,
                             "this guide is not served (any more): fetch /v1/pack, which names the newest");
}

net::HttpResponse BlindApi::item(const net::HttpRequest& request) const {
  const auto stored = pool_.catalogue().find(request.parameter("id"));
  const auto model = pool_.current();
  const auto vector = stored ? model->vector_of(stored->number) : nullptr;
  if (!vector) return net::error_response(request, 404, "there is no such item");
  const CatalogueItem& article = stored->item;
  return net::json_response(nlohmann::json{{"id", article.id},
                                           {"title", article.title},
                                           {"abstract", article.abstract},
                                           {"category", article.category},
                                           {"subcategory", article.subcategory},
                                           {"language", article.language},
                                           {"published", article.published},
                                           {"vector", *vector},
                                           {"encoded_by", model->model().version()}}
                                .dump());
}

void BlindApi::ask(net::HttpRequest&& request, net::HttpReply reply) {
  auto query = blind::decode_query(request.body);
  if (!query) return std::move(reply)(net::error_response(request, 400, query.error().message));
  auto edition = blind_.of_version(query->guide);
  if (!edition)
    return std::move(reply)(net::error_response(
        request, 409, "this guide is not served (any more): fetch /v1/pack and ask again"));
  const std::size_t columns = edition->shape().columns();
  const std::size_t expected = columns * edition->shape().probes;
  if (query->words.size() != expected) {
    return std::move(reply)(
        net::error_response(request, 400,
                            fmt::format("the question has {} numbers, not {} probes of {}",
                                        query->words.size(), edition->shape().probes, columns)));
  }
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() < most_waiting && !ending_) {
      waiting_.push_back({std::move(edition), std::move(query->words), std::move(reply)});
      questions_.add();
    } else {
      return std::move(reply)(later_please(request));
    }
  }
  wake_.notify_one();
}

void BlindApi::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    // The first, and as many behind it as one pass takes along.
    std::vector<Waiting> batch;
    const auto edition = waiting_.front().edition;
    const std::size_t most = std::max<std::size_t>(1, most_probes_at_once / edition->shape().probes);
    while (!waiting_.empty() && batch.size() < most && waiting_.front().edition == edition) {
      batch.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    lock.unlock();
    batch_sizes_.observe(static_cast<double>(batch.size() * edition->shape().probes));
    answer(batch);
    lock.lock();
  }
}

void BlindApi::answer(std::span<Waiting> batch) {
  const BlindEdition& edition = *batch.front().edition;
  const blind::Shape& shape = edition.shape();
  std::vector<std::span<const std::uint32_t>> probes;
  for (const Waiting& waiting : batch)
    for (std::size_t probe = 0; probe < shape.probes; ++probe)
      probes.push_back(std::span(waiting.words).subspan(probe * shape.columns(), shape.columns()));
  std::vector<std::uint32_t> words(probes.size() * shape.rows);
  edition.database().answer(probes, words);
  auto first = words.begin();
  for (Waiting& waiting : batch) {
    const auto end = first + static_cast<std::ptrdiff_t>(std::size_t{shape.probes} * shape.rows);
    net::HttpResponse response;
    response.content_type = net::flat_buffers_type;
    response.body = blind::encode_answer({edition.version(), {first, end}});
    std::move(waiting.reply)(std::move(response));
    first = end;
  }
}

}  // namespace sotto::serving
