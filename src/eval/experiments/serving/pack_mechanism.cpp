// One of K prototypes exactly as devices and `sotto serve` have them: vectors of the model's own space in the
// pack, named by cosine and randomised response, mixed with the average user by the share that follows from
// ε alone. Nothing is tuned for the run.

#include <cmath>

#include "eval/experiments/serving/mechanism_parts.h"
#include "eval/experiments/serving/mixing.h"
#include "privacy/mechanisms/prototype_selection.h"
#include "publish/codebook.h"
#include "publish/rows.h"

namespace sotto::private_serving {

namespace {

class PackMechanism final : public ServingMechanism {
 public:
  PackMechanism(Rows prototypes, Rows lists, std::optional<PrototypeSelection> selection, double epsilon)
      : prototypes_(std::move(prototypes)),
        lists_(std::move(lists)),
        selection_(std::move(selection)),
        epsilon_(epsilon) {}

  AnswerPrivacy privacy() const override {
    if (!selection_) return {std::nullopt, 0, epsilon_};
    return {epsilon_, 0, epsilon_};
  }

  Result<Rows> serve(const Rows& user_vectors, const Rows&, std::uint64_t seed) const override {
    return draw_rows(user_vectors.size(), lists_.width, seed,
                     [&](std::size_t i, std::span<float> out, DeviceRandom random) -> Status {
                       SOTTO_TRY(const auto similarities,
                                 cosine_similarities(prototypes_.values, user_vectors[i]));
                       auto chosen = static_cast<std::uint64_t>(
                           std::max_element(similarities.begin(), similarities.end()) - similarities.begin());
                       if (selection_) {
                         SOTTO_TRY(chosen, selection_->choose(similarities, random));
                       }
                       std::copy(lists_[chosen].begin(), lists_[chosen].end(), out.begin());
                       return {};
                     });
  }

 private:
  Rows prototypes_;  // [K, d]
  Rows lists_;       // what the server ranks by: [K, dimension of the ranking space]
  std::optional<PrototypeSelection> selection_;  // none without noise
  double epsilon_;
};

}  // namespace

Result<std::unique_ptr<ServingMechanism>> make_pack_mechanism(const MechanismChoice& choice,
                                                              const PublicKnowledge& known,
                                                              std::uint64_t seed) {
  const Codebook book = make_codebook(known.space, known.reader_vectors, choice.size, 0, seed);
  std::optional<PrototypeSelection> selection;
  double share = 0;
  if (std::isfinite(choice.epsilon)) {
    SOTTO_TRY(selection,
              PrototypeSelection::create(PrototypeRule::response, choice.epsilon, book.prototypes.size()));
    share = share_of_average_user(choice.epsilon, book.prototypes.size());
  }
  Rows lists = known.space.readers(mixed_with_average(book.prototypes, book.average_user, 1 - share));
  return std::make_unique<PackMechanism>(book.prototypes, std::move(lists), std::move(selection),
                                         choice.epsilon);
}

}  // namespace sotto::private_serving
