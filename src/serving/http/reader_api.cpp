#include "serving/http/reader_api.h"

#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "base/settings.h"
#include "net/negotiation.h"
#include "pages/page_routes.h"

namespace sotto::serving {

namespace {

using nlohmann::json;

constexpr int effort = 9;  // of compressing: once for all readers

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string offer_of(const ReaderSettings& settings) {
  return text_of({{"service", settings.service},
                  {"epsilon", settings.epsilon ? json(*settings.epsilon) : json(nullptr)},
                  {"day_epsilon", settings.day_epsilon},
                  {"month_epsilon", settings.month_epsilon},
                  {"refresh_hours", settings.refresh_hours}});
}

std::shared_ptr<const net::PublishedBody> stories_of(const std::vector<StoredItemPtr>& stored) {
  json list = json::array();
  for (const StoredItemPtr& one : stored)
    list.push_back({{"id", one->item.id},
                    {"title", one->item.title},
                    {"text", one->item.abstract},
                    {"category", one->item.category},
                    {"published", one->item.published}});
  std::string bytes = text_of({{"stories", std::move(list)}});
  const std::string tag = to_hex(chain_hash({bytes}).value());
  return std::make_shared<const net::PublishedBody>(std::move(bytes), tag, "application/json", effort);
}

}  // namespace

void ReaderSettings::bind(SettingsTable& table) {
  table.add("reader", enabled, "Serve the reader's page, whose browser is the device")
      .add("service", service, "Name of the service, as its readers know it")
      .add("reader_day_epsilon", day_epsilon, {0, 1e6},
           "What a page's answers of a day may tell; 0: no such budget")
      .add("reader_month_epsilon", month_epsilon, {0, 1e6},
           "What those of a month may tell; 0: no such budget")
      .add("reader_refresh_hours", refresh_hours, {0.1, 24.0 * 366}, "How long a page uses one answer again");
}

ReaderApi::ReaderApi(const LivePool& pool, const ReaderSettings& settings)
    : pool_(pool), offer_(offer_of(settings)), stories_(stories_of({})) {}

void ReaderApi::add_routes(net::Router& router) {
  pages::add_page(router, "/", "reader.html");
  router.add(net::HttpMethod::get, "/v1/stories",
             [this](const net::HttpRequest& request) { return stories_.take()->respond(request); });
  router.add(net::HttpMethod::get, "/v1/reader",
             [this](const net::HttpRequest&) { return net::json_response(offer_); });
}

void ReaderApi::publish() { stories_.replace(stories_of(pool_.catalogue().all())); }

}  // namespace sotto::serving
