#pragma once
// The public side of a trained model, as far as the server searches with it.
//
// Immutable; shared between threads and with the pool that serves it.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "privacy/serving/serving_mechanism.h"
#include "serving/catalogue/catalogue_item.h"

namespace sotto::serving {

// Turns articles into vectors. Implemented where torch may be seen; serving knows only this.

// Safe to call from several threads.
class ItemEncoder {
 public:
  virtual ~ItemEncoder() = default;
  // One vector of the model's dimension per item.
  virtual Result<std::vector<std::vector<float>>> encode(std::span<const CatalogueItem> items) const = 0;
};

// Items as the index knows them: the dot products of their vectors with a few public directions (basis
// vectors or prototypes), computed once when an item enters.
//
// Immutable; safe to share between threads.
class Projection {
 public:
  // directions: back to back, `dimension` numbers each.
  static Result<Projection> create(std::vector<float> directions, std::size_t dimension);

  std::size_t dimension() const { return dimension_; }  // of item vectors
  std::size_t directions() const { return directions_.size() / dimension_; }
  std::span<const float> direction(std::size_t i) const {
    return std::span(directions_).subspan(i * dimension_, dimension_);
  }
  // products: one per direction. vector.size() == dimension().
  void apply(std::span<const float> vector, std::span<float> products) const;

 private:
  Projection(std::vector<float> directions, std::size_t dimension)
      : directions_(std::move(directions)), dimension_(dimension) {}
  std::vector<float> directions_;
  std::size_t dimension_;
};

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
    privacy::ServingMechanisms mechanisms = privacy::serving_mechanisms();
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
  Result<privacy::ServerEstimate> estimate(const privacy::ServingQuery& query) const {
    return sotto::privacy::estimate(mechanisms_, query, vectors_);
  }

 private:
  ServingModel(std::string version, std::optional<Projection> basis, Projection lists,
               std::shared_ptr<const ItemEncoder> encoder, privacy::ServingMechanisms mechanisms,
               privacy::PublicVectors vectors)
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
  privacy::ServingMechanisms mechanisms_;
  privacy::PublicVectors vectors_;
};

}  // namespace sotto::serving
