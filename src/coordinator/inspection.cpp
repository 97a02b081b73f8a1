#include "coordinator/inspection.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "coordinator/store/store.h"
#include "net/negotiation.h"
#include "rounds/round_messages.h"

namespace sotto::coordinator {

namespace {

constexpr std::uint64_t records_at_once = 1000;
constexpr std::uint64_t most_entries = 10'000'000;

// Of the campaign by itself.
Result<Inspection> inspection_of(std::string where, std::string_view document) {
  SOTTO_TRY(auto campaign, rounds::open_campaign(document));
  SOTTO_TRY(auto terms, rounds::terms_of(campaign.campaign));
  std::optional<rounds::CampaignTerms> second;
  if (campaign.campaign.second) {
    SOTTO_TRY(second, rounds::terms_of(campaign.campaign, 2));
  }
  return Inspection{.where = std::move(where),
                    .campaign = std::move(campaign),
                    .terms = std::move(terms),
                    .second = std::move(second)};
}

// Counts, and that campaign and version are there. `leaves` are those below the head.
Status take_log(Inspection& made, const std::vector<rounds::LogLeaf>& leaves) {
  const auto has = [&](rounds::LeafKind kind, const Digest& hash) {
    return std::find(leaves.begin(), leaves.end(), rounds::LogLeaf{kind, hash}) != leaves.end();
  };
  const auto count = [&](rounds::LeafKind kind) {
    return static_cast<std::uint64_t>(
        std::count_if(leaves.begin(), leaves.end(), [&](const auto& leaf) { return leaf.kind == kind; }));
  };
  made.campaigns = count(rounds::LeafKind::campaign);
  made.versions = count(rounds::LeafKind::model);
  if (!has(rounds::LeafKind::campaign, made.campaign.hash))
    return bad_input("the campaign of {} is not in its public log: no device accepts it", made.where);
  if (!has(rounds::LeafKind::model, made.version))
    return bad_input("the current version of {} is not in its public log: no device accepts it", made.where);
  return {};
}

// What the server says of itself may be anything.
std::uint64_t number_in(const nlohmann::json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}
std::string text_in(const nlohmann::json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::string> fetch(net::HttpClient& client, const std::string& path, const std::string& url) {
  SOTTO_TRY(net::HttpResponse response, client.get(path));
  if (response.status == 404)
    return bad_input(
        "{} is no coordinator: it has no {}. Of a server that recommends, make the report of the run it "
        "serves",
        url, path);
  if (response.status != 200)
    return failed("{} answers {} to {}: {}", url, response.status, path, net::error_text(response));
  return std::move(response.body);
}

// The entries below the head, which must have its root.
Result<std::vector<rounds::LogLeaf>> fetch_log(net::HttpClient& client, const rounds::LogHead& head,
                                               const std::string& url) {
  if (head.size > most_entries)
    return bad_input("the log of {} has {} entries: at most {} are read", url, head.size, most_entries);
  std::vector<rounds::LogLeaf> leaves;
  rounds::LogFrontier frontier;
  while (leaves.size() < head.size) {
    SOTTO_TRY(const std::string body, fetch(client, fmt::format("/v1/log?from={}", leaves.size()), url));
    SOTTO_TRY(const auto page, rounds::decode_log_page(body));
    if (page.first != leaves.size() || page.entries.empty())
      return bad_input("the log of {} does not go on behind entry {}", url, leaves.size());
    for (const rounds::LogLeaf& leaf : page.entries) {
      if (leaves.size() == head.size) break;  // it has grown meanwhile
      leaves.push_back(leaf);
      frontier.append(rounds::leaf_hash(leaf));
    }
  }
  if (frontier.root() != head.root)
    return bad_input(
        "the log of {} is not the one whose head it signed: it shows different people different logs", url);
  return leaves;
}

}  // namespace

Result<Inspection> inspect_store(std::string_view location) {
  SOTTO_TRY(const auto store, open_store_to_read(location));
  SOTTO_TRY(const auto campaigns, store->campaigns());
  if (campaigns.empty()) return bad_input("the store {} has no campaign yet", store->location());
  const StoredCampaign& newest = campaigns.back();
  SOTTO_TRY(Inspection made, inspection_of(store->location(), newest.document));
  made.state = name(newest.state);
  SOTTO_TRY(const auto versions, store->versions(made.campaign.hash));
  SOTTO_TRY(const auto current, store->current_version(made.campaign.hash));
  if (versions.empty() || !current)
    return bad_input("the campaign of {} has no version yet: its coordinator is about to begin", made.where);
  made.rounds_done = versions.back().round;
  made.version = current->model;
  SOTTO_TRY(const OrderCounts orders, store->count_orders(made.campaign.hash));
  made.orders_charged = orders.trained;
  made.evaluations_charged = orders.evaluated;
  SOTTO_TRY(made.enrolled, store->count_enrolled());
  rounds::PublicLog log(made.campaign.campaign.coordinator);
  for (std::uint64_t read = 0;;) {
    SOTTO_TRY(const auto records, store->log_records(read, records_at_once));
    if (records.empty()) break;
    for (const std::string& record : records) SOTTO_CHECK(log.take(record));
    read += records.size();
  }
  if (!log.head()) return bad_input("the public log of {} is empty", made.where);
  made.head = *log.head();
  SOTTO_CHECK(take_log(made, log.leaves()));
  made.is_trial = fs::exists(fs::path(location) / "trial" / "operator.key");
  return made;
}

Result<Inspection> inspect_server(const net::HttpClientSettings& settings) {
  SOTTO_TRY(auto client, net::HttpClient::create(settings));
  const std::string& url = settings.url;
  // What is told first is in the log that is fetched after it.
  SOTTO_TRY(const std::string said, fetch(client, "/v1/status", url));
  const auto status = nlohmann::json::parse(said, nullptr, false);
  if (!status.is_object()) return bad_input("{} does not say how it stands", url);
  SOTTO_TRY(const std::string document, fetch(client, "/v1/campaign", url));
  SOTTO_TRY(Inspection made, inspection_of(url, document));
  made.state = text_in(status, "state");
  made.rounds_done = std::min(number_in(status, "rounds_done"), made.campaign.campaign.rounds);
  // Less than the rounds that it says are done cannot be.
  made.orders_charged = std::max(number_in(status, "orders_charged"), made.rounds_done);
  made.evaluations_charged = number_in(status, "evaluations_charged");
  made.enrolled = number_in(status, "enrolled");
  const auto trial = status.find("trial");
  made.is_trial = trial != status.end() && trial->is_boolean() && trial->get<bool>();
  const auto told = status.find("version");
  if (told == status.end() || (told->is_string() && told->get_ref<const std::string&>().empty()))
    return bad_input("the campaign of {} has no version yet: ask again in a moment", url);
  SOTTO_TRY(made.version, rounds::digest_from_hex(text_in(status, "version"), "the current version"));
  SOTTO_TRY(const std::string head, fetch(client, "/v1/log/head", url));
  SOTTO_TRY(made.head, rounds::decode_head(head));
  if (!is_signed_by(made.head, made.campaign.campaign.coordinator))
    return bad_input("the head of the log of {} is not signed by the coordinator that its campaign names",
                     url);
  SOTTO_TRY(const auto leaves, fetch_log(client, made.head.head, url));
  SOTTO_CHECK(take_log(made, leaves));
  return made;
}

}  // namespace sotto::coordinator
