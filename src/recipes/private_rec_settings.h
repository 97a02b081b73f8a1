#pragma once
// The settings of PrivateRec's private attention, the models they make and what they guarantee.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/settings.h"
#include "model/news/private_rec_model.h"
#include "privacy/accounting/datasheet.h"

namespace sotto {

struct PrivateRecSettings {
  std::int64_t basis_vectors = 3;
  double padding = 0.2, weight_clip = 1, training_epsilon = 0, serving_epsilon = 0, noise_delta = 1e-6;
  std::string noise = "laplace";
  void bind(SettingsTable& table);

  // Puts private attention around a two-tower model. Keeps a copy of the mode for as_printed() and beside().
  Result<std::function<std::shared_ptr<RankingModel>(std::shared_ptr<RankingModel>)>> around_a_model(
      const std::string& mode, std::uint64_t seed);
  // Refuses more basis vectors than the readers' vectors of that model have numbers.
  Status check_basis(const RankingModel& model) const;

  // paper: what the paper claims; nothing holds for gradients computed from raw histories.
  Result<PrivacyDatasheet> as_printed() const;
  // sound: the training's page with a line about queries.
  Result<PrivacyDatasheet> beside(PrivacyDatasheet training) const;

 private:
  Result<std::optional<PrivateAttention>> mechanism(double epsilon) const;
  // Of one query with Laplace noise, for the whole history; Gaussian noise has a delta besides, told in
  // words.
  Result<std::optional<double>> query_epsilon() const;
  Result<std::string> query_statement() const;
  GuaranteeMode mode_ = GuaranteeMode::sound;
};

}  // namespace sotto
