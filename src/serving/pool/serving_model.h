#pragma once
// The public side of a trained model, as far as the server searches with it.
//
// Immutable; shared between threads and with the pool that serves it.

#include <memory>
#include <optional>
#include <string>

#include "privacy/serving/serving_mechanism.h"
#include "serving/pool/item_encoder.h"
#include "serving/projection.h"

namespace sotto::serving {

class ServingModel {
 public:
  struct Parts {
    std::string version;
    std::size_t dimension = 0;      // of item vectors
    std::vector<float> basis;       // B x dimension; may be empty
    std::vector<float> prototypes;  // K x dimension; may be empty
    std::vector<float> average_user;
    double average_share = 0;                    // of the average user in what a prototype stands for, 0 to 1
    std::shared_ptr<const ItemEncoder> encoder;  // null: items must bring their vectors
    ServingMechanisms mechanisms = serving_mechanisms();
  };
  static Result<std::shared_ptr<const ServingModel>> create(Parts parts);

  const std::string& version() const { return version_; }
  std::size_t dimension() const { return lists_.dimension(); }
  const std::optional<Projection>& basis() const { return basis_; }
  // The prototypes, each mixed with the average user, and behind them the average user alone.
  const Projection& lists() const { return lists_; }
  std::size_t prototypes() const { return lists_.directions() - 1; }
  const ItemEncoder* encoder() const { return encoder_.get(); }
  // What it makes of a query; the numbers in the estimate may still be out of range.
  Result<ServerEstimate> estimate(const ServingQuery& query) const {
    return sotto::estimate(mechanisms_, query, vectors_);
  }

 private:
  ServingModel(std::string version, std::optional<Projection> basis, Projection lists,
               std::shared_ptr<const ItemEncoder> encoder, ServingMechanisms mechanisms,
               PublicVectors vectors)
      : version_(std::move(version)),
        basis_(std::move(basis)),
        lists_(std::move(lists)),
        encoder_(std::move(encoder)),
        mechanisms_(mechanisms),
        vectors_(std::move(vectors)) {}
  std::string version_;
  std::optional<Projection> basis_;
  Projection lists_;
  std::shared_ptr<const ItemEncoder> encoder_;
  ServingMechanisms mechanisms_;
  PublicVectors vectors_;
};

}  // namespace sotto::serving
