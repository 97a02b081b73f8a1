#include "device/sdk/device_json.h"

#include <nlohmann/json.hpp>

#include "base/chain_hash.h"
#include "device/history/history_store.h"

namespace sotto::device {

using nlohmann::json;

json to_json(const ConsentTerms& terms) {
  const TrainingPolicy& training = terms.training_limits;
  const AskingLimits& asking = terms.asking_limits;
  return {{"service", terms.service},
          {"purpose", terms.purpose},
          {"training", terms.training},
          {"asking", terms.asking},
          {"training_limits",
           {{"epsilon", training.epsilon.value},
            {"delta", training.delta.value},
            {"group", training.group.value},
            {"corrupted", training.corrupted.value},
            {"server", training.server.value == secagg::ServerModel::active ? "active" : "semi-honest"},
            {"security_bits", training.security_bits},
            {"witnesses", training.witnesses.value},
            {"upload_bytes", training.upload_bytes.value},
            {"seconds", training.training_seconds.value}}},
          {"asking_limits",
           {{"ranking", asking.ranking},
            {"epsilon", asking.epsilon},
            {"refresh_hours", asking.refresh_hours},
            {"day_epsilon", asking.day_epsilon},
            {"month_epsilon", asking.month_epsilon},
            {"lifetime_epsilon", asking.lifetime_epsilon}}}};
}

json to_json(const Consent& consent) {
  json terms = to_json(consent.terms);
  terms["given"] = privacy::to_text(consent.given);
  return terms;
}

json to_json(const Recommendations& page) {
  json items = json::array();
  for (const RankedItem& item : page.items) items.push_back({{"id", item.item}, {"score", item.score}});
  return {{"source", name(page.source)}, {"note", page.note}, {"items", std::move(items)}};
}

namespace {

json to_json(const Participation::Checked& checked) {
  return {{"campaign", to_hex(checked.campaign)},
          {"campaign_entry", checked.campaign_entry},
          {"model", to_hex(checked.model)},
          {"log_entries", checked.log_entries},
          {"log_root", to_hex(checked.log_root)},
          {"witnesses", checked.witnesses},
          {"witnesses_needed", checked.witnesses_needed}};
}

}  // namespace

json to_json(const Participation& part) {
  return {{"outcome", name(part.outcome)},
          {"reason", part.refusal ? std::string(name(*part.refusal)) : ""},
          {"why", part.why},
          {"checked", part.checked ? to_json(*part.checked) : json(nullptr)},
          {"number", part.number},
          {"evaluates", part.evaluates},
          {"charged", part.was_charged},
          {"bytes_up", part.bytes_up},
          {"bytes_down", part.bytes_down},
          {"come_back_milliseconds", part.come_back ? json(part.come_back->count()) : json(nullptr)}};
}

json to_json(const std::vector<LabelChange>& changes) {
  json list = json::array();
  for (const LabelChange& change : changes)
    list.push_back({{"item", change.item},
                    {"before", change.before},
                    {"after", change.after},
                    {"time", privacy::to_text(change.time)}});
  return list;
}

json to_json(const rounds::Campaign& campaign) {
  return {{"purpose", campaign.purpose},
          {"recipe", campaign.recipe},
          {"epsilon", campaign.epsilon},
          {"evaluation_epsilon", campaign.evaluation ? campaign.evaluation->epsilon : 0},
          {"delta", campaign.delta},
          {"rounds", campaign.rounds},
          {"participations", campaign.participations},
          {"group", campaign.encoding.devices},
          {"upload_bytes", campaign.max_upload_bytes},
          {"seconds", campaign.max_training_seconds},
          {"valid_from", privacy::to_text(campaign.valid_from)},
          {"valid_until", privacy::to_text(campaign.valid_until)},
          {"coordinator", to_hex(campaign.coordinator)}};
}

std::string to_line(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace sotto::device
