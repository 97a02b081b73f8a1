#include "rounds/campaign.h"

#include <sodium.h>

#include <cmath>

namespace sotto::rounds {

namespace {

constexpr std::size_t most_local_settings = 64;
constexpr std::size_t most_named_witnesses = 16;

template <class Fields, class Encoding>
void visit_encoding(Fields& fields, Encoding& encoding) {
  fields.number(encoding.dimension);
  fields.real(encoding.clip);
  fields.real(encoding.step);
  fields.real(encoding.entry_clip);
  fields.optional(encoding.rotation_seed, [](auto& inner, auto& seed) { inner.number(seed); });
  fields.optional(encoding.clip_bit_weight, [](auto& inner, auto& weight) { inner.real(weight); });
  fields.flag(encoding.nonnegative);
  fields.flag(encoding.products);
  fields.real(encoding.rounding_beta);
  fields.real(encoding.denominator);
  fields.number(encoding.devices);
  fields.number(encoding.dropped);
  fields.number(encoding.corrupted);
  fields.choice(encoding.noise, privacy::ShareKind::skellam, privacy::ShareKind::discrete_gaussian);
  fields.real(encoding.noise_multiplier);
  fields.choice(encoding.adjacency, privacy::Adjacency::add_remove, privacy::Adjacency::replace_one);
  fields.real(encoding.log2_wrap_probability);
}

template <class Fields, class Document>
void visit_campaign(Fields& fields, Document& campaign) {
  fields.text(campaign.purpose);
  fields.text(campaign.recipe);
  fields.bytes(campaign.layout);
  fields.list(campaign.local, most_local_settings, [](auto& inner, auto& setting) {
    inner.text(setting.name);
    inner.text(setting.value);
  });
  fields.number(campaign.population);
  fields.number(campaign.cohort);
  fields.number(campaign.rounds);
  fields.number(campaign.participations);
  fields.real(campaign.epsilon);
  fields.real(campaign.delta);
  visit_encoding(fields, campaign.encoding);
  fields.number(campaign.bits);
  fields.choice(campaign.server, secagg::ServerModel::semi_honest, secagg::ServerModel::active);
  fields.real(campaign.security_bits);
  fields.real(campaign.correctness_bits);
  fields.number(campaign.max_upload_bytes);
  fields.number(campaign.max_training_seconds);
  fields.number(campaign.shortest_phase_seconds);
  fields.number(campaign.longest_phase_seconds);
  fields.time(campaign.valid_from);
  fields.time(campaign.valid_until);
  fields.bytes(campaign.coordinator);
  fields.list(campaign.witnesses, most_named_witnesses, [](auto& inner, auto& key) { inner.bytes(key); });
  fields.number(campaign.witnesses_needed);
  // Behind what campaigns of one sum have, which have the bytes that they always had.
  fields.last(campaign.second, [](auto& inner, auto& second) {
    inner.number(second.dimension);
    inner.flag(second.products);
    inner.real(second.step);
    inner.real(second.noise_multiplier);
    inner.number(second.bits);
  });
  fields.last(campaign.evaluation, [](auto& inner, auto& evaluation) {
    inner.number(evaluation.every);
    inner.number(evaluation.held_out);
    inner.number(evaluation.pages);
    inner.number(evaluation.participations);
    inner.real(evaluation.epsilon);
    inner.real(evaluation.step);
    inner.real(evaluation.noise_multiplier);
    inner.number(evaluation.bits);
  });
}

// Stands where there is no second sum, so that what follows it has a place.
constexpr SecondSum no_second{};

}  // namespace

secagg::EncodingPlan::Settings Campaign::encoding_of(std::uint64_t round) const {
  secagg::EncodingPlan::Settings settings = encoding;
  if (round == 1 || !second) return settings;
  settings.dimension = second->dimension;
  settings.products = second->products;
  settings.nonnegative = settings.nonnegative && !second->products;
  settings.step = second->step;
  settings.noise_multiplier = second->noise_multiplier;
  return settings;
}

Result<secagg::EncodingPlan> Campaign::plan(std::uint64_t round) const {
  return secagg::EncodingPlan::create(encoding_of(round));
}

Digest layout_hash(std::string_view layout) {
  Digest hash;
  crypto_hash_sha256(hash.data(), as_bytes(layout).data(), layout.size());
  return hash;
}

secagg::EncodingPlan::Settings Campaign::evaluation_encoding() const {
  secagg::EncodingPlan::Settings settings = encoding;
  settings.dimension = 2;
  settings.clip = std::sqrt(2.0);  // as long as what a device sends is at most
  settings.step = evaluation->step;
  settings.entry_clip = 1;
  settings.rotation_seed.reset();
  settings.clip_bit_weight.reset();
  settings.nonnegative = settings.products = false;
  settings.noise_multiplier = evaluation->noise_multiplier;
  return settings;
}

std::string encode(const Campaign& campaign) {
  FieldWriter fields;
  if (campaign.evaluation && !campaign.second) {
    Campaign filled = campaign;
    filled.second = no_second;
    visit_campaign(fields, filled);
  } else {
    visit_campaign(fields, campaign);
  }
  return std::move(fields).take();
}

Result<Campaign> decode_campaign(std::string_view body) {
  FieldReader fields(body);
  Campaign campaign;
  visit_campaign(fields, campaign);
  SOTTO_CHECK(fields.finish("campaign"));
  if (campaign.second == no_second) {
    if (!campaign.evaluation) return bad_input("the campaign has a second sum of nothing");
    campaign.second.reset();
  }
  return campaign;
}

Result<std::string> sign_campaign(const Campaign& campaign, const Identity& operator_key) {
  SOTTO_CHECK(terms_of(campaign));
  const std::string body = encode(campaign);
  SOTTO_CHECK(decode_campaign(body));
  return sign_document(campaign_kind, body, operator_key);
}

Result<OpenedCampaign> open_campaign(std::string_view bytes) {
  SOTTO_TRY(const SignedDocument document, read_document(campaign_kind, bytes));
  SOTTO_TRY(Campaign campaign, decode_campaign(document.body));
  return OpenedCampaign{std::move(campaign), document.hash, document.signature};
}

}  // namespace sotto::rounds
