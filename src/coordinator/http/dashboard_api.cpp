#include "coordinator/http/dashboard_api.h"

#include <charconv>

#include "base/chain_hash.h"
#include "coordinator/http/desk_json.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "pages/page_routes.h"

namespace sotto::coordinator {

namespace {

using net::HttpMethod;
using net::HttpReply;
using net::HttpRequest;
using net::HttpResponse;
using nlohmann::json;

}  // namespace

DashboardApi::DashboardApi(const CampaignRun& run, Store& store, std::function<std::string()> status,
                           const ServingWatch* serving)
    : run_(run),
      store_(store),
      status_(std::move(status)),
      serving_(serving),
      feed_(std::to_string(std::chrono::system_clock::now().time_since_epoch().count())) {}

void DashboardApi::add_routes(net::Router& router) {
  router.add(HttpMethod::get, "/v1/events",
             [this](HttpRequest&& request, HttpReply reply) { feed_.wait(request, std::move(reply)); });
  router.add(HttpMethod::get, "/v1/rounds", [this](const HttpRequest&) { return rounds(); });
  router.add(HttpMethod::get, "/v1/versions", [this](const HttpRequest& request) {
    return shown(versions_, request, &DashboardApi::versions_text);
  });
  router.add(HttpMethod::get, "/v1/campaigns", [this](const HttpRequest& request) {
    return shown(campaigns_, request, &DashboardApi::campaigns_text);
  });
  router.add(HttpMethod::get, "/v1/log/entries",
             [this](const HttpRequest& request) { return log_entries(request); });
  router.add(HttpMethod::get, "/v1/serving", [this](const HttpRequest&) {
    return net::json_response(serving_ != nullptr ? serving_->text() : R"({"servers":[],"problem":""})");
  });
  pages::add_page(router, "/dashboard", "dashboard.html");
}

HttpResponse DashboardApi::rounds() const {
  json list = json::array();
  for (const RoundRecord& record : run_.recent_rounds()) {
    json one = json_of(record.counts);
    one["round"] = record.number;
    one["began"] = privacy::to_text(record.began);
    one["seconds"] = record.seconds;
    one["evaluates"] = record.evaluates;
    one["abandoned"] = record.abandoned.empty() ? json(nullptr) : json(record.abandoned);
    list.push_back(std::move(one));
  }
  return net::json_response(text_of({{"rounds", list}}));
}

HttpResponse DashboardApi::shown(Shown& shown, const HttpRequest& request,
                                 Result<std::string> (DashboardApi::*make)() const) const {
  const std::lock_guard lock(shown.mutex);
  // Before the store is asked: what changes meanwhile is asked for again.
  const std::uint64_t revision = run_.revision();
  if (!shown.made || shown.made->first != revision) {
    auto text = (this->*make)();
    if (!text) return net::error_response(request, 503, "the store does not answer: the log says why");
    shown.made.emplace(revision, *std::move(text));
  }
  return net::json_response(shown.made->second);
}

Result<std::string> DashboardApi::versions_text() const {
  const Digest& campaign = run_.campaign().hash;
  SOTTO_TRY(const auto versions, store_.versions(campaign));
  SOTTO_TRY(const auto current, store_.current_version(campaign));
  SOTTO_TRY(const auto evaluations, store_.evaluations(campaign));
  json list = json::array();
  auto measured = evaluations.begin();  // both ascend
  for (const ModelVersion& version : versions) {
    while (measured != evaluations.end() && measured->version < version.round) ++measured;
    const bool is_measured = measured != evaluations.end() && measured->version == version.round;
    list.push_back({{"version", version.round},
                    {"model", to_hex(version.model)},
                    {"time", privacy::to_text(version.time)},
                    {"bytes", version.size},
                    {"current", current && current->round == version.round},
                    {"auc", is_measured ? json(measured->auc) : json(nullptr)},
                    {"auc_noise", is_measured ? json(measured->noise) : json(nullptr)}});
  }
  return text_of({{"versions", list}});
}

Result<std::string> DashboardApi::campaigns_text() const {
  SOTTO_TRY(const auto stored, store_.campaigns());
  json list = json::array();
  for (const StoredCampaign& one : stored) {
    SOTTO_TRY(const auto opened, rounds::open_campaign(one.document));
    list.push_back({{"campaign", to_hex(one.hash)},
                    {"purpose", opened.campaign.purpose},
                    {"recipe", opened.campaign.recipe},
                    {"state", name(one.state)},
                    {"rounds", opened.campaign.rounds},
                    {"epsilon", opened.campaign.epsilon},
                    {"delta", opened.campaign.delta},
                    {"valid_until", privacy::to_text(opened.campaign.valid_until)}});
  }
  return text_of({{"campaigns", list}});
}

HttpResponse DashboardApi::log_entries(const HttpRequest& request) const {
  std::uint64_t from = 0;
  if (const auto text = net::query_value(request.query, "from")) {
    const auto [end, wrong] = std::from_chars(text->data(), text->data() + text->size(), from);
    if (wrong != std::errc() || end != text->data() + text->size())
      return net::error_response(request, 400, "?from= is not a whole number");
  }
  const rounds::LogPage page = run_.log_page(from);
  json list = json::array();
  for (std::size_t i = 0; i < page.entries.size(); ++i)
    list.push_back({{"entry", from + i},
                    {"kind", rounds::name(page.entries[i].kind)},
                    {"hash", to_hex(page.entries[i].hash)}});
  const rounds::SignedHead head = run_.head();
  const auto& campaign = run_.campaign().campaign;
  return net::json_response(text_of({{"entries", list},
                                     {"size", head.head.size},
                                     {"root", to_hex(head.head.root)},
                                     {"time", privacy::to_text(head.head.time)},
                                     {"witnesses", rounds::witnesses_of(head, campaign.witnesses)},
                                     {"witnesses_needed", campaign.witnesses_needed}}));
}

}  // namespace sotto::coordinator
