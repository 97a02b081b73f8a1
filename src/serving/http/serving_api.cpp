#include "serving/http/serving_api.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "net/bearer_token.h"
#include "net/http_text.h"
#include "serving/http/bodies_json.h"

namespace sotto::serving {

namespace {

constexpr std::size_t waiting_changes = 64, waiting_large_answers = 64;
constexpr std::uint32_t large_answer_items = 500;  // about half a millisecond to find and to write
constexpr std::size_t most_cached_bytes = std::size_t{32} << 20;
constexpr int long_list_effort = 3;  // of compressing; short lists are not worth the time
constexpr std::uint64_t most_change_bytes = std::uint64_t{16} << 20;
constexpr std::array batch_bounds = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0};

int status_of(const Error& error) { return error.kind == ErrorKind::bad_input ? 400 : 500; }

net::HttpResponse problem(const net::HttpRequest& request, const Error& error) {
  return net::error_response(request, status_of(error), error.message);
}

net::HttpResponse unknown_model(net::BodyForm form, std::string_view current) {
  return net::error_response(
      form, 409,
      fmt::format("this model version is not served; {} is: fetch /v1/pack and ask again", current));
}

net::HttpResponse answer_in(net::BodyForm form, const device::RecommendAnswer& answer) {
  if (form == net::BodyForm::json) return net::json_response(encode_recommend_json(answer));
  net::HttpResponse response;
  response.content_type = net::flat_buffers_type;
  response.body = encode(answer);
  return response;
}

// Ids for numbers. Items that were removed since the search are left out.
device::RecommendAnswer with_ids(const LivePool& pool, const std::string& version,
                                 std::span<const ScoredItem> scored) {
  device::RecommendAnswer answer;
  answer.model = version;
  const auto items = pool.catalogue().find(scored);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i]) continue;
    answer.items.push_back(items[i]->item.id);
    answer.scores.push_back(static_cast<float>(scored[i].score));
  }
  return answer;
}

// No value: nothing can pass, because no item has ever had what is asked for.
std::optional<ItemFilter> filter_of(const device::RecommendRequest& request, const Catalogue& catalogue) {
  ItemFilter filter;
  for (const std::string& name : request.categories) {
    if (const auto code = catalogue.category_code(name)) filter.categories.push_back(*code);
  }
  if (!request.categories.empty() && filter.categories.empty()) return std::nullopt;
  if (!request.language.empty()) {
    const auto code = catalogue.language_code(request.language);
    if (!code) return std::nullopt;
    filter.languages.push_back(*code);
  }
  if (request.published_after > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  filter.published_from = static_cast<std::uint32_t>(request.published_after);
  return filter;
}

}  // namespace

ServingApi::ServingApi(LivePool& pool, const PackPublisher& packs, net::MetricsRegistry& metrics,
                       ServingApiSettings settings)
    : pool_(pool),
      packs_(packs),
      metrics_(metrics),
      settings_(std::move(settings)),
      by_coefficients_(metrics.counter("sotto_recommendations_total", "Recommendations by kind of query",
                                       {{"kind", "coefficients"}})),
      by_prototypes_(metrics.counter("sotto_recommendations_total", "", {{"kind", "prototypes"}})),
      by_popularity_(metrics.counter("sotto_recommendations_total", "", {{"kind", "popular"}})),
      batch_sizes_(metrics.histogram("sotto_queries_per_pass", "Queries searched together", batch_bounds)),
      items_(metrics.gauge("sotto_pool_items", "Live items")),
      stored_(metrics.counter("sotto_items_stored_total", "Items that the operator stored, new or replaced")),
      removed_(metrics.counter("sotto_items_removed_total", "Items that the operator removed")),
      refused_changes_(metrics.gauge("sotto_catalogue_refused_changes",
                                     "Changes that the disk did not take, since start")),
      failed_compactions_(
          metrics.gauge("sotto_catalogue_failed_compactions", "Compactions that failed, since start")),
      coalescer_(&net::run_after_ready_requests,
                 [this](std::size_t queries) { batch_sizes_.observe(static_cast<double>(queries)); }),
      public_lists_(most_cached_bytes),
      changes_(waiting_changes, net::BackgroundWorker::AtEnd::finish),
      large_answers_(waiting_large_answers, net::BackgroundWorker::AtEnd::drop) {
  observe_pool();
}

void ServingApi::observe_pool() {
  const Catalogue& catalogue = pool_.catalogue();
  const CatalogueHealth health = catalogue.health();
  items_.set(static_cast<std::int64_t>(catalogue.size()));
  refused_changes_.set(static_cast<std::int64_t>(health.failed_changes));
  failed_compactions_.set(static_cast<std::int64_t>(health.failed_compactions));
}

void ServingApi::add_routes(net::Router& router) {
  router.add(net::HttpMethod::post, "/v1/recommend",
             [this](net::HttpRequest&& request, net::HttpReply reply) {
               recommend(std::move(request), std::move(reply));
             });
  router.add(net::HttpMethod::get, "/v1/popular", [this](net::HttpRequest&& request, net::HttpReply reply) {
    popular(std::move(request), std::move(reply));
  });
  router.add(net::HttpMethod::get, "/v1/pack",
             [this](const net::HttpRequest& request) { return pack(request); });
  const auto operator_only = [this](const net::HttpRequest& head) {
    return net::refuse_without_token(head, settings_.operator_token);
  };
  router.add(
      net::HttpMethod::put, "/v1/items",
      [this](net::HttpRequest&& request, net::HttpReply reply) {
        change(std::move(request), std::move(reply),
               [this](const net::HttpRequest& r) { return put_items(r); });
      },
      most_change_bytes, operator_only);
  router.add(
      net::HttpMethod::remove, "/v1/items/{id}",
      [this](net::HttpRequest&& request, net::HttpReply reply) {
        change(std::move(request), std::move(reply),
               [this](const net::HttpRequest& r) { return remove_item(r); });
      },
      net::Router::default_body_limit, operator_only);
  const auto document = std::make_shared<const net::PublishedBody>(
      std::string(open_api_document()), "openapi-1", net::json_type, long_list_effort);
  router.add(net::HttpMethod::get, "/openapi.json",
             [document](const net::HttpRequest& request) { return document->respond(request); });
  net::add_operator_routes(router, metrics_, settings_.health);
}

void ServingApi::answer(std::uint32_t count, net::BodyForm form, net::HttpReply reply,
                        std::function<net::HttpResponse()> compute) {
  if (count <= large_answer_items) return std::move(reply)(compute());
  const auto later = std::make_shared<net::HttpReply>(std::move(reply));
  if (large_answers_.submit([later, compute = std::move(compute)] { std::move (*later)(compute()); })) return;
  net::HttpResponse refused =
      net::error_response(form, 503, "too many long lists are waiting: ask again later");
  refused.headers.emplace_back("Retry-After", "1");
  std::move (*later)(std::move(refused));
}

void ServingApi::recommend(net::HttpRequest&& request, net::HttpReply reply) {
  const net::BodyForm form = net::wanted_form(request);
  const auto sent = net::sent_form(request);
  if (!sent) return std::move(reply)(net::error_response(form, 415, sent.error().message));
  auto decoded = *sent == net::BodyForm::json ? decode_recommend_json(request.body)
                                              : device::decode_recommend_request(request.body);
  if (!decoded) return std::move(reply)(net::error_response(form, 400, decoded.error().message));
  const auto pool = pool_.of_version(decoded->model);
  if (!pool) return std::move(reply)(unknown_model(form, pool_.current()->model().version()));
  const auto filter = filter_of(*decoded, pool_.catalogue());
  if (!filter) return std::move(reply)(answer_in(form, {decoded->model, {}, {}}));

  auto understood = pool->query_for(decoded->query, decoded->count, *filter);
  if (!understood)
    return std::move(reply)(
        net::error_response(form, status_of(understood.error()), understood.error().message));
  PoolQuery query = std::move(*understood);
  (!query.coefficients.empty() ? by_coefficients_
   : query.prototypes.empty()  ? by_popularity_
                               : by_prototypes_)
      .add();
  const auto finish = [this, form, pool](Result<std::vector<ScoredItem>> found) {
    if (!found) return net::error_response(form, status_of(found.error()), found.error().message);
    return answer_in(form, with_ids(pool_, pool->model().version(), *found));
  };
  const bool together = !query.coefficients.empty() && query.filter.is_empty();
  const std::uint32_t count = query.count;
  if (!together || count > large_answer_items) {
    return answer(count, form, std::move(reply),
                  [finish, pool, query = std::move(query)] { return finish(pool->search(query)); });
  }
  // Together with others: a mistake in one must not spoil the rest.
  if (auto good = pool->check_query(query); !good)
    return std::move(reply)(finish(tl::unexpected(good.error())));
  const auto later = std::make_shared<net::HttpReply>(std::move(reply));
  coalescer_.submit({pool, std::move(query.coefficients), query.count,
                     [later, finish](Result<std::vector<ScoredItem>> found) {
                       std::move (*later)(finish(std::move(found)));
                     }});
}

void ServingApi::popular(net::HttpRequest&& request, net::HttpReply reply) {
  const net::BodyForm form = net::wanted_form(request);
  device::RecommendRequest asked;
  asked.query = privacy::PopularQuery{};
  asked.count = default_count;
  asked.model = net::query_value(request.query, "model").value_or(pool_.current()->model().version());
  asked.language = net::query_value(request.query, "language").value_or("");
  if (auto category = net::query_value(request.query, "category"))
    asked.categories.push_back(std::move(*category));
  if (const auto count = net::query_value(request.query, "count")) {
    const auto [end, wrong] = std::from_chars(count->data(), count->data() + count->size(), asked.count);
    if (wrong != std::errc() || end != count->data() + count->size()) {
      return std::move(reply)(net::error_response(form, 400, "count must be a whole number"));
    }
  }
  const auto pool = pool_.of_version(asked.model);
  if (!pool) return std::move(reply)(unknown_model(form, pool_.current()->model().version()));
  const auto filter = filter_of(asked, pool_.catalogue());
  if (!filter) return std::move(reply)(answer_in(form, {asked.model, {}, {}}));
  by_popularity_.add();
  // The names were found in the catalogue, so the number of questions is bounded by what the operator put
  // there.
  const std::string question =
      fmt::format("{} {} {}\n{}\n{}", form == net::BodyForm::json ? 'j' : 'f', asked.count, asked.language,
                  fmt::join(asked.categories, ","), asked.model);
  const std::uint64_t state = pool_.changes();
  if (const auto known = public_lists_.find(question, state)) {
    return std::move(reply)(known->respond(request));
  }
  PoolQuery query;
  query.count = asked.count;
  query.filter = *filter;
  answer(asked.count, form, std::move(reply),
         [this, form, pool, state, question, query = std::move(query), model = asked.model,
          request = std::move(request)]() -> net::HttpResponse {
           const auto found = pool->search(query);
           if (!found) return problem(request, found.error());
           net::HttpResponse response = answer_in(form, with_ids(pool_, model, *found));
           const std::string tag =
               fmt::format("{:016x}", XXH3_64bits(response.body.data(), response.body.size()));
           const auto list = std::make_shared<const net::PublishedBody>(
               std::move(response.body), tag, response.content_type,
               query.count > large_answer_items ? long_list_effort : 0);
           public_lists_.keep(question, state, list);
           return list->respond(request);
         });
}

net::HttpResponse ServingApi::pack(const net::HttpRequest& request) const {
  const auto edition = packs_.latest();
  if (!edition->pack)
    return net::error_response(request, 503, "the first pack is being made: ask again shortly");
  const auto from = net::query_value(request.query, "from");
  const auto delta = from ? edition->deltas.find(*from) : edition->deltas.end();
  if (delta == edition->deltas.end() || edition->pack->client_has(request)) {
    return edition->pack->respond(request);
  }
  net::HttpResponse response = delta->second->respond(request);
  response.headers.emplace_back("Sotto-Delta-From", *from);
  response.headers.emplace_back("Sotto-Pack", edition->version);
  return response;
}

void ServingApi::change(net::HttpRequest&& request, net::HttpReply reply,
                        std::function<net::HttpResponse(const net::HttpRequest&)> apply) {
  const net::BodyForm form = net::wanted_form(request);
  const auto asked = std::make_shared<net::HttpRequest>(std::move(request));
  const auto later = std::make_shared<net::HttpReply>(std::move(reply));
  const bool taken = changes_.submit([this, asked, later, apply = std::move(apply)] {
    net::HttpResponse response = apply(*asked);
    observe_pool();
    std::move (*later)(std::move(response));
  });
  if (taken) return;
  net::HttpResponse refused =
      net::error_response(form, 503, "too many changes are waiting: send them again later");
  refused.headers.emplace_back("Retry-After", "1");
  std::move (*later)(std::move(refused));
}

net::HttpResponse ServingApi::put_items(const net::HttpRequest& request) {
  auto items = decode_items_json(request.body);
  if (!items) return problem(request, items.error());
  const Catalogue& catalogue = pool_.catalogue();
  const auto replaced = std::count_if(items->begin(), items->end(), [&](const CatalogueItem& item) {
    return catalogue.find(item.id) != nullptr;
  });
  if (auto done = pool_.put(*items); !done) return problem(request, done.error());
  stored_.add(items->size());
  const auto alike = std::count_if(items->begin(), items->end(), [&](const CatalogueItem& item) {
    return catalogue.count_with_text_of(item) > 1;
  });
  std::string answer = fmt::format("{{\"stored\":{}", items->size());
  if (replaced > 0) answer += fmt::format(",\"replaced\":{}", replaced);
  if (alike > 0) answer += fmt::format(",\"same_text\":{}", alike);
  return net::json_response(answer + "}");
}

net::HttpResponse ServingApi::remove_item(const net::HttpRequest& request) {
  const std::string id(request.parameter("id"));
  const auto removed = pool_.remove({&id, 1});
  if (!removed) return problem(request, removed.error());
  if (*removed == 0) return net::error_response(request, 404, "there is no such item");
  removed_.add();
  return net::json_response("{\"removed\":1}");
}

}  // namespace sotto::serving
