#include "serving/http/reader_api.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "base/settings.h"
#include "net/http_text.h"
#include "net/negotiation.h"
#include "pages/page_routes.h"

namespace sotto::serving {

namespace {

using nlohmann::json;

constexpr int effort = 9;  // of compressing: once for all readers
constexpr std::size_t page_size = 1000;

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json log_of(const ServedLog* log, std::int64_t witnesses_needed) {
  if (log == nullptr) return nullptr;
  json witnesses = json::array();
  for (const auto& key : log->witnesses()) witnesses.push_back(to_hex(key));
  return {{"key", to_hex(log->owner())},
          {"witnesses", std::move(witnesses)},
          {"witnesses_needed", witnesses_needed}};
}

// Without a key of the operator the coordinator itself says it: a trial.
json training_of(const TrainingGateSettings& training) {
  if (training.coordinator.empty()) return nullptr;
  const auto hex_or_null = [](const auto& key) { return key ? json(to_hex(*key)) : json(nullptr); };
  return {{"operator_key", hex_or_null(training.operator_key)},
          {"recovery_key", hex_or_null(training.recovery_key)}};
}

std::string offer_of(const ReaderSettings& settings, bool blind, const ServedLog* log) {
  return text_of({{"service", settings.service},
                  {"blind", blind},
                  {"epsilon", settings.epsilon ? json(*settings.epsilon) : json(nullptr)},
                  {"day_epsilon", settings.day_epsilon},
                  {"month_epsilon", settings.month_epsilon},
                  {"refresh_hours", settings.refresh_hours},
                  {"log", log_of(log, settings.witnesses_needed)},
                  {"training", training_of(settings.training)}});
}

std::string stories_of(std::span<const StoredItemPtr> stored, std::size_t page, std::size_t first) {
  json list = json::array();
  for (const StoredItemPtr& one : stored)
    list.push_back({{"id", one->item.id},
                    {"title", one->item.title},
                    {"text", one->item.abstract},
                    {"category", one->item.category},
                    {"published", one->item.published}});
  return text_of({{"stories", std::move(list)}, {"page", page}, {"first", first}});
}

bool is_older(const StoredItemPtr& a, const StoredItemPtr& b) {
  return std::tie(a->item.published, a->item.id) < std::tie(b->item.published, b->item.id);
}

}  // namespace

void ReaderSettings::bind(SettingsTable& table) {
  table.add("reader", enabled, "Serve the reader's page, whose browser is the device")
      .add("service", service, "Name of the service, as its readers know it")
      .add("reader_day_epsilon", day_epsilon, {0, 1e6},
           "What a page's answers of a day may tell; 0: no such budget")
      .add("reader_month_epsilon", month_epsilon, {0, 1e6},
           "What those of a month may tell; 0: no such budget")
      .add("reader_stories", stories, {1, 1'000'000}, "Of the edition at most, the newest")
      .add("reader_witnesses_needed", witnesses_needed, {0, 16},
           "Witnesses of the public log that a page demands before it takes an edition")
      .add("reader_refresh_hours", refresh_hours, {0.1, 24.0 * 366}, "How long a page uses one answer again");
  training.bind(table);
}

ReaderApi::ReaderApi(const LivePool& pool, const ReaderSettings& settings, bool blind, const ServedLog* log)
    : pool_(pool),
      offer_(offer_of(settings, blind, log)),
      stories_(static_cast<std::size_t>(settings.stories)),
      edition_(std::make_shared<const Edition>(edition_of({}, {}))) {}

void ReaderApi::add_routes(net::Router& router) {
  pages::add_page(router, "/", "reader.html");
  router.add(net::HttpMethod::get, "/v1/stories",
             [this](const net::HttpRequest& request) { return stories(request); });
  router.add(net::HttpMethod::get, "/v1/reader",
             [this](const net::HttpRequest&) { return net::json_response(offer_); });
}

net::HttpResponse ReaderApi::stories(const net::HttpRequest& request) const {
  const auto edition = edition_.take();
  std::size_t number = edition->first + edition->pages.size() - 1;
  if (const auto text = net::query_value(request.query, "page")) {
    const auto [end, wrong] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (wrong != std::errc() || end != text->data() + text->size())
      return net::error_response(request, 400, "?page= is not a whole number");
  }
  if (number < edition->first || number - edition->first >= edition->pages.size())
    return net::error_response(request, 404, "the edition has no page of this number: ask without one");
  return edition->pages[number - edition->first]->respond(request);
}

ReaderApi::Edition ReaderApi::edition_of(std::vector<StoredItemPtr> all, const Edition& before) const {
  Edition edition;
  // Whole pages: which stories are the oldest of the edition changes with every thousandth that is new.
  edition.first = (all.size() - std::min(all.size(), stories_)) / page_size;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(edition.first * page_size);
  std::nth_element(all.begin(), begin, all.end(), is_older);
  std::sort(begin, all.end(), is_older);
  const std::span<const StoredItemPtr> newest(begin, all.end());
  for (std::size_t at = 0; at == 0 || at < newest.size(); at += page_size) {
    const std::size_t number = edition.first + edition.pages.size();
    std::string bytes =
        stories_of(newest.subspan(at, std::min(page_size, newest.size() - at)), number, edition.first);
    const std::string tag = to_hex(chain_hash({bytes}).value());
    const bool was_there = number >= before.first && number - before.first < before.pages.size();
    const Page old = was_there ? before.pages[number - before.first] : nullptr;
    edition.pages.push_back(
        old && old->tag() == tag
            ? old
            : std::make_shared<const net::PublishedBody>(std::move(bytes), tag, "application/json", effort));
  }
  return edition;
}

void ReaderApi::publish() {
  edition_.replace(std::make_shared<const Edition>(edition_of(pool_.catalogue().all(), *edition_.take())));
}

}  // namespace sotto::serving
