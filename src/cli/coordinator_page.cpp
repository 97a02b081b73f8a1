// The page of a coordinator: what its campaign asks of people, what that costs them, and what it can be held
// to.

#ifdef SOTTO_HAVE_NET

#include <algorithm>

#include "base/chain_hash.h"
#include "cli/command.h"
#include "cli/key_files.h"
#include "cli/privacy_page.h"
#include "coordinator/inspection.h"
#include "privacy/accounting/account.h"
#include "privacy/ledger/ledger_clock.h"
#include "secagg/vectors/audited_sums.h"

namespace sotto::cli {

namespace {

using coordinator::Inspection;
using report::ReportTable;
using report::TableCell;

// What one device took part in, or may.
struct Part {
  std::uint64_t rounds = 0, evaluations = 0;
};

// Everything that was charged so far.
Part so_far(const Inspection& seen) {
  const rounds::Campaign& campaign = seen.campaign.campaign;
  return {std::min(seen.orders_charged, campaign.participations),
          campaign.evaluation ? std::min(seen.evaluations_charged, campaign.evaluation->participations) : 0};
}

Part whole_of(const rounds::Campaign& campaign) {
  return {campaign.participations, campaign.evaluation ? campaign.evaluation->participations : 0};
}

// ε against the server.
Result<double> epsilon_of(const Inspection& seen, const Part& part, double delta) {
  if (part.rounds + part.evaluations == 0) return 0;
  SOTTO_TRY(const auto guarantee,
            rounds::cost_of(seen.campaign.campaign, part.rounds, delta, part.evaluations));
  return guarantee.epsilon;
}

double guesses_of(const Inspection& seen, const Part& part) {
  double best = 1;
  std::vector<double> deltas(guessing_deltas().begin(), guessing_deltas().end());
  deltas.push_back(seen.campaign.campaign.delta);
  for (const double delta : deltas)
    if (const auto epsilon = epsilon_of(seen, part, delta))
      best = std::min(best, right_at_most(*epsilon, delta));
  return best;
}

Result<ReportTable> campaign_charges(const Inspection& seen) {
  const rounds::Campaign& campaign = seen.campaign.campaign;
  ReportTable table;
  for (const char* heading : {"who took part in", "rounds", "epsilon", "delta", "right guesses, at most"})
    table.columns.push_back({heading});
  const auto add = [&](const char* what, const Part& part) -> Status {
    const bool is_nothing = part.rounds + part.evaluations == 0;
    SOTTO_TRY(const double epsilon, epsilon_of(seen, part, campaign.delta));
    table.rows.push_back(
        {TableCell::words(what),
         TableCell::words(part.evaluations == 0
                              ? fmt::format("{}", part.rounds)
                              : fmt::format("{}, and {} measurements", part.rounds, part.evaluations)),
         TableCell::words(is_nothing ? "0" : fmt::format("{:.4g}", epsilon)),
         TableCell::words(is_nothing ? "–" : fmt::format("{:g}", campaign.delta)),
         TableCell::words(is_nothing ? "–" : odds_in_words(guesses_of(seen, part)))});
    return {};
  };
  SOTTO_CHECK(add("one round", {1, 0}));
  SOTTO_CHECK(add("as many as devices were charged for so far, at most", so_far(seen)));
  SOTTO_CHECK(add("as many as one device may, at most", whole_of(campaign)));
  table.caption = fmt::format(
      "Epsilon against the server, and so against everybody: everything of one {} is hidden, {}. What one "
      "device paid "
      "in a day, a month or its lifetime is in its own ledger, which refuses what exceeds its owner's "
      "budgets; this "
      "campaign adds at most the last line to each of them. Questions for recommendations are charged by the "
      "device "
      "too, and are not this coordinator's.",
      name(seen.terms.guarantee.unit), name(seen.terms.guarantee.adjacency));
  return table;
}

std::string campaign_in_one_paragraph(const Inspection& seen) {
  const rounds::Campaign& campaign = seen.campaign.campaign;
  std::string text;
  if (seen.is_trial)
    text =
        "This is a trial on one machine: the operator's secret key lies beside the store, and whoever asks "
        "is given a "
        "token. Nobody else's device should take part. ";
  text += fmt::format(
      "{} devices at a time are asked to train together. What the operator of the server can learn about any "
      "one person "
      "from all rounds that one device may take part in is bounded: if it wavers between two stories about "
      "somebody's "
      "entire history, it is right about which is true at most {} (a coin: 50). That holds if of every group "
      "of {} at "
      "most {} devices belong to the server and at most {} are lost, and if devices draw their noise in "
      "secret.",
      campaign.cohort, odds_in_words(guesses_of(seen, whole_of(campaign))), campaign.encoding.devices,
      campaign.encoding.corrupted, campaign.encoding.dropped);
  return text;
}

std::vector<std::string> what_a_coordinator_sees(const Inspection& seen) {
  const auto& encoding = seen.campaign.campaign.encoding;
  const auto in_a_round = [&](const auto& number, std::string_view what) {
    return seen.second ? fmt::format("{} {} in the first round, {} in the next", number(seen.terms), what,
                                     number(*seen.second))
                       : fmt::format("{} {} a round", number(seen.terms), what);
  };
  using Terms = rounds::CampaignTerms;
  return {fmt::format("The sum of every group of {} devices, with noise: {}.", encoding.devices,
                      in_a_round([](const Terms& terms) { return terms.plan.entries(); }, "numbers")),
          "Which enrolled device took part in which round, when, and from which network address. Neither is "
          "written down: "
          "the store keeps keys of devices, orders, sums and versions.",
          fmt::format("Nothing else of a device: what it sends is masked, and {} whatever it has to tell.",
                      in_a_round([](const Terms& terms) { return terms.bytes.up; }, "bytes"))};
}

std::vector<std::string> what_a_campaign_does_not_protect(const Inspection& seen) {
  const rounds::Campaign& campaign = seen.campaign.campaign;
  std::vector<std::string> list = {
      fmt::format(
          "Groups with more than {} devices of the server's own, or with more than {} lost: too little noise "
          "stays. The server picks the groups, and nothing proves that a device is a person's.",
          campaign.encoding.corrupted, campaign.encoding.dropped),
      campaign.server == secagg::ServerModel::active
          ? "A server that keeps devices from taking part."
          : "A server that departs from the protocol: this campaign withstands one that keeps to it and "
            "looks at "
            "everything.",
      "That somebody takes part at all, when, and from where.",
      "What people have in common, which is what is learned.",
      "Devices in a rehearsal that draw their noise from a seed: the coordinator cannot tell."};
  if (campaign.witnesses_needed == 0)
    list.emplace_back(
        "A server that shows some people another log: no witness is needed, and the log is the same for the "
        "devices of "
        "a group alone.");
  return list;
}

// The sums of this campaign, as the audit of a run reads them.
privacy::PrivacyDatasheet sheet_of(const Inspection& seen) {
  privacy::PrivacyDatasheet sheet;
  sheet.recipe = seen.campaign.campaign.recipe;
  sheet.sums = {secagg::record_of(seen.terms.plan, "updates")};
  if (seen.second) sheet.sums.push_back(secagg::record_of(seen.second->plan, "updates of the second sum"));
  return sheet;
}

// What kind of server it is, by its own description of its routes.
bool serves_recommendations(const net::HttpClientSettings& http) {
  auto client = net::HttpClient::create(http);
  if (!client) return false;
  const auto routes = client->get("/openapi.json");
  return routes && routes->body.find("\"/v1/recommend\"") != std::string::npos;
}

tl::unexpected<Error> report_of_a_server_of_recommendations(const std::string& place) {
  return bad_input(
      "{} serves recommendations: it keeps nothing of its readers that it could report. What its model cost "
      "and what a question costs is in the report of the run that it serves ('sotto privacy report RUN "
      "--query-epsilon E --out FILE', where E is its --epsilon), what one person told in that of the device "
      "('sotto privacy report DEVICE --out FILE')",
      place);
}

std::string signed_in_words(const Inspection& seen, const std::optional<rounds::IdentityKey>& operator_key) {
  if (operator_key) return fmt::format("by {}, verified", to_hex(*operator_key));
  return seen.is_trial ? "by a key that lies beside the store" : "not verified: --operator-key was not given";
}

Result<std::string> coordinator_page(const Inspection& seen,
                                     const std::optional<rounds::IdentityKey>& operator_key,
                                     const std::vector<AuditLine>& audits) {
  const rounds::Campaign& campaign = seen.campaign.campaign;
  report::HtmlReport page(fmt::format("Privacy of training over a network: {}", campaign.recipe),
                          fmt::format("{}{}", seen.is_trial ? "TRIAL. " : "", seen.where));
  page.privacy_note(campaign_in_one_paragraph(seen));
  page.facts(
      {{"people were told", campaign.purpose},
       {"rounds", fmt::format("{} of {} done, {} charged for; {}", seen.rounds_done, campaign.rounds,
                              seen.orders_charged, seen.state)},
       {"devices", fmt::format("{} enrolled, {} may be asked, {} in a round in groups of {}", seen.enrolled,
                               campaign.population, campaign.cohort, campaign.encoding.devices)},
       {"valid", fmt::format("{} to {}", privacy::to_text(campaign.valid_from),
                             privacy::to_text(campaign.valid_until))},
       {"noise", "secret, drawn on the devices"},
       {"this page", fmt::format("made by sotto {} from what it verified", SOTTO_VERSION)}});
  page.heading("What is charged, against the server");
  SOTTO_TRY(const ReportTable charges, campaign_charges(seen));
  page.table(charges);
  page.heading("How");
  const auto& encoding = campaign.encoding;
  page.list(
      {fmt::format(
           "Every device clips its update to norm {:g}, rounds it to a grid, adds its share of the noise "
           "and masks it; of a group that loses more devices than reckoned with no sum is opened.",
           encoding.clip),
       fmt::format("Mechanism: {} in the sum of a group, whoever stays away.",
                   privacy::describe(seen.terms.event.mechanism)),
       fmt::format(
           "Who takes part: those who come; nothing is gained by sampling. One device at most {} times, "
           "which it counts itself.",
           campaign.participations)});
  page.heading("What the server sees");
  page.list(what_a_coordinator_sees(seen));
  page.heading("What is not protected");
  page.list(what_a_campaign_does_not_protect(seen));
  add_audits(page, audits, sheet_of(seen), "campaign");
  page.heading("Fingerprints");
  page.facts(
      {{"campaign", to_hex(seen.campaign.hash)},
       {"signed", signed_in_words(seen, operator_key)},
       {"coordinator", to_hex(campaign.coordinator)},
       {"current version", to_hex(seen.version)},
       {"head of the log", fmt::format("{} entries ({} campaigns, {} versions), {}", seen.head.head.size,
                                       seen.campaigns, seen.versions, privacy::to_text(seen.head.head.time))},
       {"its root", to_hex(seen.head.head.root)},
       {"witnesses", fmt::format("{} of {} cosigned it, {} are needed",
                                 rounds::witnesses_of(seen.head, campaign.witnesses),
                                 campaign.witnesses.size(), campaign.witnesses_needed)}});
  return page.html();
}

}  // namespace

Result<PrivacyPage> page_of_coordinator(const std::string& place, const PageWishes& wishes) {
  const bool is_url = place.starts_with("http://") || place.starts_with("https://");
  net::HttpClientSettings http;
  http.url = place;
  http.authorities = wishes.authorities;
  if (!is_url && !wishes.authorities.empty())
    return bad_input("--authorities is for an address that begins with https://, and {} is a store", place);
  std::optional<rounds::IdentityKey> operator_key;
  if (!wishes.operator_key.empty()) {
    SOTTO_TRY(operator_key, read_public_key(wishes.operator_key));
  }
  auto inspected = is_url ? coordinator::inspect_server(http) : coordinator::inspect_store(place);
  if (!inspected && is_url && serves_recommendations(http))
    return report_of_a_server_of_recommendations(place);
  if (!inspected) return tl::unexpected(std::move(inspected).error());
  const Inspection seen = std::move(*inspected);
  if (operator_key && !seen.campaign.is_signed_by(*operator_key))
    return bad_input("the campaign of {} is not signed by {}: it is of another operator", seen.where,
                     wishes.operator_key);
  SOTTO_TRY(const auto audits, audit_for_page(sheet_of(seen)));
  SOTTO_TRY(std::string html, coordinator_page(seen, operator_key, audits));
  const rounds::Campaign& campaign = seen.campaign.campaign;
  SOTTO_TRY(const double spent, epsilon_of(seen, so_far(seen), campaign.delta));
  return PrivacyPage{
      .html = std::move(html),
      .event = {{"event", "report"},
                {"of", "coordinator"},
                {"campaign", to_hex(seen.campaign.hash)},
                {"operator_signature", operator_key ? nlohmann::json(true) : nlohmann::json(nullptr)},
                {"epsilon", seen.terms.guarantee.epsilon},
                {"epsilon_published", seen.terms.guarantee.epsilon},
                {"epsilon_so_far", spent},
                {"delta", campaign.delta},
                {"unit", privacy::name(seen.terms.guarantee.unit)},
                {"adjacency", privacy::name(seen.terms.guarantee.adjacency)},
                {"rounds_done", seen.rounds_done},
                {"rounds", campaign.rounds},
                {"orders_charged", seen.orders_charged},
                {"evaluations_charged", seen.evaluations_charged},
                {"enrolled", seen.enrolled},
                {"version", to_hex(seen.version)},
                {"log_entries", seen.head.head.size},
                {"log_root", to_hex(seen.head.head.root)},
                {"trial", seen.is_trial},
                {"audits", to_json(audits)}},
      .refuted = any_refuted(audits)};
}

}  // namespace sotto::cli

#endif
