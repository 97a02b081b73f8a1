#include "recipes/device_training.h"

#include <fmt/format.h>

#include <algorithm>

namespace sotto::recipes {

LocalSettingsList& LocalSettingsList::add(std::string name, const std::string& value) {
  if (!value.empty()) settings_.emplace_back(std::move(name), value);  // an empty one says nothing
  return *this;
}

LocalSettingsList& LocalSettingsList::add(std::string name, double value) {
  return add(std::move(name), fmt::format("{}", value));
}

std::vector<std::pair<std::string, std::string>> LocalSettingsList::take() && {
  std::sort(settings_.begin(), settings_.end());
  return std::move(settings_);
}

fl::DeviceTask task_over(const data::Catalogue& catalogue, std::string recipe, LocalSettingsList&& local,
                         std::string layout) {
  fl::DeviceTask task;
  task.recipe = std::move(recipe);
  task.local = std::move(local).take();
  task.layout = std::move(layout);
  for (std::size_t i = 0; i < catalogue.ids.size(); ++i) task.ids.emplace_back(catalogue.ids[i]);
  return task;
}

Result<TrainOutcome> train_remotely(const RunRequest& request, const fl::DeviceTask& task,
                                    model::FlatParameters& parameters, fl::DeviceFold& fold,
                                    fl::ServerOptimiser& optimiser, const fl::EngineSettings& engine,
                                    const fl::BoundRule& rule) {
  const fl::RemoteRounds& remote = *request.remote;
  SOTTO_TRY(const auto trainer, task.trainer());
  for (std::size_t i = 0; i < remote.plans.size(); ++i)
    if (const auto sent = trainer->dimension(task.ids.size(), i + 1);
        remote.plans[i].settings().dimension != sent)
      return bad_input(
          "round {} of the campaign sums {} numbers, and devices of this recipe with this catalogue send {}: "
          "draft it anew for this data",
          i + 1, remote.plans[i].settings().dimension, sent);
  SOTTO_CHECK(remote.begin(task));
  fl::RemoteGather gather(remote, fold);
  fl::CohortRounds rounds(fold, gather);
  if (remote.plans.front().clip_bit()) rounds.follow(rule);
  fl::RoundEngine rounds_engine(engine, request.run, parameters, rounds, optimiser);
  TrainOutcome outcome;
  SOTTO_TRY(outcome.summary, rounds_engine.run(request.resume, {}, request.observe, request.begin));
  fold.publish();
  SOTTO_CHECK(remote.finish(fold.fetched()));
  return outcome;
}

}  // namespace sotto::recipes
