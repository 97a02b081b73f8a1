#pragma once
// A campaign that holds: 20 devices a group, 50 numbers, a budget of 8 for five rounds.

#include "base/random.h"
#include "rounds/order.h"
#include "secagg/vectors/calibrated_plan.h"

namespace sotto::rounds {

inline const UtcTime campaign_begin{std::chrono::seconds(1'800'000'000)};

// The same key whenever it is asked for.
inline Identity test_key(std::uint8_t number) {
  std::array<std::uint8_t, 32> seed{};
  seed.fill(number);
  return Identity::from_seed(secagg::Key(seed));
}
inline Identity operator_key() { return test_key(1); }
inline Identity coordinator_key() { return test_key(2); }
inline Identity witness_key(std::uint8_t number = 0) {
  return test_key(static_cast<std::uint8_t>(10 + number));
}

inline Campaign small_campaign(secagg::ServerModel server = secagg::ServerModel::semi_honest) {
  static const auto calibrated =
      secagg::calibrated_plan(
          {.epsilon = 8, .delta = 1e-6, .participations = 5, .dropping = 0.1, .corrupted = 0.1},
          {50, 1000, 40, 30, 20})
          .value();
  Campaign campaign;
  campaign.purpose = "Better front pages for readers of the morning paper";
  campaign.recipe = "sotto";
  campaign.layout.fill(7);
  campaign.local = {{"max_history", "50"}, {"negatives", "20"}};
  campaign.population = 1000;
  campaign.cohort = 40;
  campaign.rounds = 30;
  campaign.participations = 5;
  campaign.epsilon = 8;
  campaign.delta = 1e-6;
  campaign.encoding = calibrated.plan.settings();
  campaign.bits = calibrated.plan.modulus().bits();
  campaign.server = server;
  campaign.max_upload_bytes = 100'000;
  campaign.max_training_seconds = 60;
  campaign.shortest_phase_seconds = 5;
  campaign.longest_phase_seconds = 60;
  campaign.valid_from = campaign_begin;
  campaign.valid_until = campaign_begin + std::chrono::days(30);
  campaign.coordinator = coordinator_key().public_key();
  campaign.witnesses = {witness_key(0).public_key(), witness_key(1).public_key()};
  campaign.witnesses_needed = 1;
  return campaign;
}

inline OpenedCampaign signed_campaign(const Campaign& campaign) {
  // By hand, so that a campaign which nobody should sign can be tried on a device.
  return open_campaign(sign_document(campaign_kind, encode(campaign), operator_key())).value();
}

inline Digest model_hash() {
  Digest model{};
  model.fill(9);
  return model;
}

}  // namespace sotto::rounds
