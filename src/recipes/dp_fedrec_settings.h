#pragma once
// The noise of DP-FedRec: of an upload as printed, and of a query (VDP). What each claims and what holds.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/settings.h"
#include "fl/update_transform.h"
#include "model/news/ranking_model.h"
#include "privacy/accounting/datasheet.h"
#include "privacy/mechanisms/user_embedding_release.h"

namespace sotto {

struct DpFedRecSettings {
  double training_epsilon = 10, gradient_clip = 0.005, serving_epsilon = 0, vector_clip = 0.001;
  void bind(SettingsTable& table);

  // paper: an upload is the gradient clipped to an L2 norm, with Laplace noise on every coordinate.
  UpdateTransforms printed_upload(std::uint64_t seed) const;
  // The page for uploads as printed: nobody's participations are capped.
  Result<PrivacyDatasheet> as_printed(std::uint64_t dimension, std::uint64_t vector_size,
                                      std::int64_t rounds) const;
  // sound: the training's page with a line about queries.
  Result<PrivacyDatasheet> beside(PrivacyDatasheet training, std::uint64_t vector_size) const;

  // Puts noisy queries around a two-tower model; empty when queries have no noise. A model whose vectors
  // cannot be released fails when it is made, so settings are checked here.
  Result<std::function<std::shared_ptr<RankingModel>(std::shared_ptr<RankingModel>)>> around_a_model(
      const std::string& mode, std::uint64_t seed);

 private:
  Result<UserEmbeddingRelease> query(std::uint64_t vector_size) const;
  // Of one query, for the whole history; nothing: it has no noise.
  Result<std::optional<double>> query_epsilon(std::uint64_t vector_size) const;
  Result<std::string> query_statement(std::uint64_t vector_size) const;
  GuaranteeMode mode_ = GuaranteeMode::sound;
};

}  // namespace sotto
