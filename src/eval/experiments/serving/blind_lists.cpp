#ifdef SOTTO_HAVE_NET

#include <algorithm>
#include <numeric>

#include "base/thread_pool.h"
#include "blind/quantisation.h"
#include "blind/rotation.h"
#include "device/blind/probes.h"
#include "eval/experiments/serving/compared_mechanism.h"
#include "serving/blind/edition.h"

namespace sotto::eval::private_serving {

namespace {

// Blind serving as it ships: the server's edition of the catalogue, the device's choice of clusters, its
// rounded user vector and its scores. Products are taken in the clear: decrypted ones are the same, but once
// in 2^40 refreshes.
class BlindLists final : public ComparedMechanism {
 public:
  BlindLists(std::shared_ptr<const serving::BlindEdition> edition, blind::Guide guide)
      : edition_(std::move(edition)), guide_(std::move(guide)) {}
  AnswerPrivacy privacy() const override { return {0, 0, 0}; }
  Result<Rows> serve(const Rows&, const Rows&, std::uint64_t) const override {
    return failed("a blind server ranks by no vector");
  }
  Result<std::vector<ReturnedItems>> returned(const Rows& user_vectors) const override {
    std::vector<ReturnedItems> lists(user_vectors.size());
    parallel_for(lists.size(), 8, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) lists[i] = list_of(user_vectors[i]);
    });
    return lists;
  }

 private:
  ReturnedItems list_of(std::span<const float> user_vector) const {
    const blind::Shape& shape = guide_.parameters.shape;
    const std::vector<float> user = blind::rotated(user_vector, user_vector.size());
    const auto quantised = blind::quantise_user(user, guide_.parameters);
    std::vector<device::ItemScore> scores;
    for (const std::uint32_t cluster : device::nearest_clusters(guide_, user)) {
      std::vector<std::int32_t> products(shape.rows);
      for (std::size_t row = 0; row < shape.rows; ++row) {
        std::int32_t sum = 0;
        for (std::size_t j = 0; j < shape.dimension; ++j) {
          const std::size_t column = std::size_t{cluster} * shape.dimension + j;
          sum += quantised.entries[j] * edition_->database().entry(row, column);
        }
        products[row] = sum;
      }
      const auto found = device::cluster_scores(guide_, user, quantised.scale, cluster, products);
      scores.insert(scores.end(), found.begin(), found.end());
    }
    ReturnedItems list;
    const auto ranked = device::ranked_once(std::move(scores));
    for (const device::ItemScore& score : ranked) {
      list.items.push_back(score.item);  // its place among the ids is its number: make_blind_lists()
      list.scores.push_back(score.score);
    }
    return list;
  }

  std::shared_ptr<const serving::BlindEdition> edition_;
  blind::Guide guide_;
};

}  // namespace

Result<std::unique_ptr<ComparedMechanism>> make_blind_lists(const MechanismChoice& choice,
                                                            const PublicKnowledge& known) {
  serving::BlindItems items;
  items.model = "experiment";
  items.dimension = static_cast<std::uint32_t>(known.item_vectors.width);
  items.vectors = known.item_vectors.values;
  items.numbers.resize(known.item_vectors.size());
  std::iota(items.numbers.begin(), items.numbers.end(), 0U);
  for (const auto number : items.numbers) items.ids.push_back(std::to_string(number));
  blind::ShapeBudget budget;
  budget.refresh_bytes = std::size_t{16} << 20;  // long vectors too: the table is about what is found
  budget.probes = static_cast<std::uint32_t>(choice.size);
  SOTTO_TRY(auto edition, serving::BlindEdition::make(items, budget));
  SOTTO_TRY(blind::Guide guide, blind::decode_guide(edition->guide_bytes()));
  return std::make_unique<BlindLists>(std::move(edition), std::move(guide));
}

}  // namespace sotto::eval::private_serving

#endif
