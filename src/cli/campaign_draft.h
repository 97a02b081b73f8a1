#pragma once
// A campaign before it is signed: a TOML file that people read and change. Every field of the campaign is one
// setting, so what is signed is what was read.

#ifdef SOTTO_HAVE_PROTOCOL

#include "base/settings.h"
#include "rounds/campaign.h"

namespace sotto::cli {

struct CampaignDraft {
  std::string purpose, recipe, layout, local;
  std::string data;  // where the data set lies that it was drafted for: for trying it out, never signed
  std::int64_t population = 0, cohort = 0, rounds = 0, participations = 0;
  double epsilon = 0, delta = 0;
  std::int64_t group = 0, dropped = 0, corrupted = 0, bits = 0;
  std::string server = "semi-honest";
  double security_bits = 40, correctness_bits = 20;
  std::int64_t dimension = 0, second_dimension = 0, second_bits = 0;
  double second_step = 0, second_noise_multiplier = 0;
  bool second_products = false;
  std::int64_t evaluation_every = 0, evaluation_held_out = 0, evaluation_pages = 0,
               evaluation_participations = 0, evaluation_bits = 0;
  double evaluation_epsilon = 0, evaluation_step = 0, evaluation_noise_multiplier = 0;
  double clip = 0, clip_bit_weight = 0, step = 0, entry_clip = 0, noise_multiplier = 0;
  double rounding_beta = secagg::StochasticRounding::default_beta, log2_wrap_probability = -30;
  std::string rotation_seed, noise = "skellam", adjacency = "replace-one";
  bool nonnegative = false, products = false;
  std::int64_t max_upload_bytes = 0, max_training_seconds = 0, shortest_phase_seconds = 0,
               longest_phase_seconds = 0;
  std::string valid_from, valid_until, coordinator, witnesses;
  std::int64_t witnesses_needed = 0;

  // The table refers to this object: keep it alive and in place.
  void bind(SettingsTable& table);
  static CampaignDraft of(const rounds::Campaign& campaign);
  // Refuses texts that are no hash, key or time. Whether the campaign can hold is for terms_of() to say.
  Result<rounds::Campaign> campaign() const;
};

// "2026-03-01", or "2026-03-01 00:00:00 UTC".
Result<rounds::UtcTime> parse_time(std::string_view text, std::string_view what);
// "name=value name=value", ascending by name.
Result<std::vector<rounds::LocalSetting>> parse_local(std::string_view text);

}  // namespace sotto::cli

#endif
