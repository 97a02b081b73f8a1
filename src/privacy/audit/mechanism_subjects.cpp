#include "privacy/audit/mechanism_subjects.h"

namespace sotto::privacy {

namespace {

std::vector<MechanismEntry> every_entry() {
  std::vector<MechanismEntry> entries = {
      MechanismEntry{"laplace", "Laplace noise on a vector", false, &subject::laplace},
      MechanismEntry{"gaussian", "Gaussian noise on a vector", false, &subject::gaussian},
      MechanismEntry{"elementwise-laplace", "FedNewsRec's upload of 2 numbers, at its true epsilon", false,
                     &subject::elementwise_laplace},
      MechanismEntry{"elementwise-laplace-paper", "FedNewsRec's upload of 8 numbers, at the paper's epsilon",
                     true, &subject::elementwise_laplace_paper},
      MechanismEntry{"attention-laplace", "private attention, Laplace noise", false,
                     &subject::attention_laplace},
      MechanismEntry{"attention-gaussian", "private attention, Gaussian noise", false,
                     &subject::attention_gaussian},
      MechanismEntry{"attention-padded", "private attention with half of the clicks padded, for one click",
                     false, &subject::attention_padded},
      MechanismEntry{"attention-laplace-paper", "PrivateRec's attention, Laplace noise, as in the paper",
                     true, &subject::attention_laplace_paper},
      MechanismEntry{"attention-gaussian-paper", "PrivateRec's attention, Gaussian noise, as in the paper",
                     true, &subject::attention_gaussian_paper},
      MechanismEntry{"embedding-laplace", "user embedding, Laplace noise", false,
                     &subject::embedding_laplace},
      MechanismEntry{"embedding-gaussian", "user embedding, Gaussian noise", false,
                     &subject::embedding_gaussian},
      MechanismEntry{"embedding-laplace-paper", "VDP's user embedding, Laplace noise, as in the paper", true,
                     &subject::embedding_laplace_paper},
      MechanismEntry{"embedding-gaussian-paper", "VDP's user embedding, Gaussian noise, as in the paper",
                     true, &subject::embedding_gaussian_paper},
      MechanismEntry{"exponential", "exponential mechanism over 8 candidates", false, &subject::exponential},
      MechanismEntry{"response", "randomised response over 4 values", false, &subject::response},
      MechanismEntry{"label-release", "the clicked item of an impression, sound", false,
                     &subject::label_release},
      MechanismEntry{"label-permutation-paper", "PrivateRec's label permutation, as in the paper", true,
                     &subject::label_permutation_paper},
      MechanismEntry{"prototype-response", "one of 8 prototypes by randomised response", false,
                     &subject::prototype_by_response},
      MechanismEntry{"prototype-similarity", "one of 8 prototypes by similarity", false,
                     &subject::prototype_by_similarity},
      MechanismEntry{"partition-count", "partition selection: the count of a common item", false,
                     &subject::unknown_items_count},
      MechanismEntry{"partition-newcomer", "partition selection: an item that one user alone holds", false,
                     &subject::unknown_items_newcomer},
      MechanismEntry{"partition-catalogue", "noisy counts over a public catalogue", false,
                     &subject::public_catalogue},
      MechanismEntry{"clipped-mean", "mean of clipped updates, one user more", false, &subject::clipped_mean},
      MechanismEntry{"adaptive-clip", "one round of adaptive clipping: update and clipping bit together",
                     false, &subject::adaptive_clip},
      MechanismEntry{"skellam-shares", "sum of the devices' Skellam shares, 3 of 10 missing", false,
                     &subject::skellam_shares},
      MechanismEntry{"discrete-gaussian-shares",
                     "sum of the devices' discrete Gaussian shares, 3 of 10 missing", false,
                     &subject::discrete_gaussian_shares}};
  for (const ServingMechanismEntry& entry : serving_mechanisms()) {
    entries.push_back({fmt::format("serving-{}", entry.name),
                       fmt::format("what a device sends: {}", entry.summary), false,
                       [&entry] { return subject::served(entry); }});
  }
  return entries;
}

}  // namespace

std::span<const MechanismEntry> audited_mechanisms() {
  static const std::vector<MechanismEntry> entries = every_entry();
  return entries;
}

}  // namespace sotto::privacy
