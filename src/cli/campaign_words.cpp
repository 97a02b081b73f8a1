#ifdef SOTTO_HAVE_PROTOCOL

#include "cli/campaign_words.h"

#include <chrono>

#include "base/chain_hash.h"

namespace sotto::cli {

rounds::UtcTime current_time() {
  return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

Status refuse_to_replace(const fs::path& path) {
  if (!fs::exists(path)) return {};
  return bad_input("{} is there already: name another file, or remove it", path.string());
}

void say_terms(const rounds::Campaign& campaign, const rounds::CampaignTerms& terms, const std::string& hash,
               const Output& output) {
  const auto& encoding = campaign.encoding;
  const bool active = campaign.server == secagg::ServerModel::active;
  rounds::RoundBytes bytes = terms.bytes;  // of the larger sum
  if (campaign.second)
    if (const auto second = rounds::terms_of(campaign, 2); second && second->bytes.up > bytes.up)
      bytes = second->bytes;
  nlohmann::json local = nlohmann::json::object();
  for (const auto& setting : campaign.local) local[setting.name] = setting.value;
  output.event({{"event", "campaign"},
                {"hash", hash.empty() ? nlohmann::json(nullptr) : nlohmann::json(hash)},
                {"purpose", campaign.purpose},
                {"recipe", campaign.recipe},
                {"layout", to_hex(campaign.layout)},
                {"local", local},
                {"population", campaign.population},
                {"cohort", campaign.cohort},
                {"group", encoding.devices},
                {"dropped", encoding.dropped},
                {"corrupted", encoding.corrupted},
                {"server", active ? "active" : "semi-honest"},
                {"rounds", campaign.rounds},
                {"participations", campaign.participations},
                {"epsilon", terms.guarantee.epsilon},
                {"epsilon_published", terms.guarantee.epsilon},
                {"epsilon_stated", campaign.epsilon},
                {"delta", campaign.delta},
                {"unit", privacy::name(terms.guarantee.unit)},
                {"dimension", encoding.dimension},
                {"second_dimension",
                 campaign.second ? nlohmann::json(campaign.second->dimension) : nlohmann::json(nullptr)},
                {"bits", campaign.bits},
                {"noise_multiplier", encoding.noise_multiplier},
                {"evaluation_epsilon", campaign.evaluation ? nlohmann::json(campaign.evaluation->epsilon)
                                                           : nlohmann::json(nullptr)},
                {"bytes_up", bytes.up},
                {"bytes_down", bytes.down},
                {"max_upload_bytes", campaign.max_upload_bytes},
                {"valid_from", privacy::to_text(campaign.valid_from)},
                {"valid_until", privacy::to_text(campaign.valid_until)},
                {"coordinator", to_hex(campaign.coordinator)},
                {"witnesses", campaign.witnesses.size()},
                {"witnesses_needed", campaign.witnesses_needed}});
  output.text("", campaign.purpose);
  const auto line = [&](std::string_view head, const std::string& beside) {
    output.text(fmt::format("  {:<11}", head), beside);
  };
  const std::string numbers =
      campaign.second ? fmt::format("{} numbers, then {},", encoding.dimension, campaign.second->dimension)
                      : fmt::format("{} numbers", encoding.dimension);
  line("asked",
       fmt::format("train {} by '{}', at most {} s in each of at most {} rounds of {}", numbers,
                   campaign.recipe, campaign.max_training_seconds, campaign.participations, campaign.rounds));
  line("costs",
       fmt::format("epsilon {:.4g} at delta {:g} for all of them together, per {}, against the server and so "
                   "against everybody",
                   terms.guarantee.epsilon, campaign.delta, privacy::name(terms.guarantee.unit)));
  if (const auto& evaluation = campaign.evaluation)
    line("measures",
         fmt::format("versions on one page in {}, which is kept out of training, after every {} rounds, at "
                     "most {} times; epsilon {:.4g} for all of them beside that",
                     evaluation->held_out, evaluation->every, evaluation->participations,
                     evaluation->epsilon));
  line("sends",
       fmt::format("at most {} bytes a round, in a sum of {} devices; fetches {} bytes and the model",
                   bytes.up, encoding.devices, bytes.down));
  line("holds",
       fmt::format("if of a group at most {} belong to the server and at most {} are lost; the server {}",
                   encoding.corrupted, encoding.dropped,
                   active ? "may do anything" : "follows the protocol and keeps what it sees"));
  line("who", fmt::format("{} of {} devices a round", campaign.cohort, campaign.population));
  line("from", privacy::to_text(campaign.valid_from));
  line("until", privacy::to_text(campaign.valid_until));
  line("orders", fmt::format("signed by {}", to_hex(campaign.coordinator)));
  line("log", campaign.witnesses_needed == 0
                  ? "the same for the devices of a group; no witness is needed"
                  : fmt::format("the same for all that {} of {} witnesses saw", campaign.witnesses_needed,
                                campaign.witnesses.size()));
  line("hash", hash.empty() ? "none: a draft, which no device accepts" : hash);
}

}  // namespace sotto::cli

#endif
