#include "fleet/predicted_evaluation.h"

#include <cmath>

#include "device/rounds/round_draws.h"
#include "fleet/readers.h"
#include "local/page_evaluation.h"
#include "secagg/vectors/modular_sum.h"

namespace sotto::fleet {

Result<PredictedEvaluation> predict_evaluation(const data::Dataset& dataset,
                                               std::span<const data::UserId> readers,
                                               const rounds::Campaign& campaign,
                                               const local::LocalTrainer& trainer,
                                               const device::FetchedModel& model, std::uint64_t number,
                                               std::uint64_t seed, const std::function<bool()>& cancelled) {
  if (!campaign.evaluation) return bad_input("the campaign measures no versions");
  if (readers.size() != campaign.cohort)
    return bad_input("a version is measured by {} devices, and there are {} readers", campaign.cohort,
                     readers.size());
  SOTTO_TRY(const auto plan, secagg::EncodingPlan::create(campaign.evaluation_encoding()));
  const secagg::UpdateEncoder encoder(plan);
  const std::uint64_t place = device::evaluation_draws(number);
  const local::HeldOutPages held_out{campaign.evaluation->held_out, campaign.evaluation->pages};
  std::vector<std::vector<std::uint32_t>> sums, group;
  double pages = 0, order = 0;
  for (const data::UserId reader : readers) {
    const Memory memory = memory_of(dataset, reader);
    const device::EventsOfReader own(model, trainer.reads(), memory.impressions, memory.rows);
    device::SimulatedDraws draws(seed, reader);
    SOTTO_TRY(const auto numbers, local::evaluate_pages(trainer, model.inputs(), own.events(), held_out,
                                                        draws.examples(place), cancelled));
    pages += numbers[0], order += numbers[1];
    SOTTO_TRY(group.emplace_back(), encoder.encode(std::span<const float>(numbers), draws.noise(place)));
    if (group.size() < campaign.encoding.devices) continue;
    SOTTO_TRY(sums.emplace_back(), secagg::modular_sum(group, plan.modulus()));
    group.clear();
  }
  if (pages == 0) return bad_input("no reader has a page that is kept out of training");
  PredictedEvaluation predicted;
  // By chance, too: a round of the network comes to nothing then, and is tried again with the next version.
  if (auto estimate = rounds::estimate_of(campaign, sums, readers.size()))
    predicted.noised = *estimate;
  else if (estimate.error().kind != ErrorKind::failed)
    return tl::unexpected(std::move(estimate).error());
  predicted.auc = 0.5 + order / pages / 2;
  predicted.pages =
      static_cast<std::uint64_t>(std::llround(pages * static_cast<double>(campaign.evaluation->pages)));
  return predicted;
}

}  // namespace sotto::fleet
