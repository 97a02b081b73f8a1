#pragma once
// What recipes share whose rounds run on devices: the settings that devices are told, and versions of a
// campaign of sums that devices elsewhere make.

#include <string>
#include <utility>
#include <vector>

#include "fl/device_fold.h"
#include "fl/server_optimiser.h"
#include "model/flat_parameters.h"
#include "recipes/recipe.h"

namespace sotto::recipes {

// A recipe's settings in the words of a device's trainer.
class LocalSettingsList {
 public:
  LocalSettingsList& add(std::string name, const std::string& value);
  LocalSettingsList& add(std::string name, const char* value) {
    return add(std::move(name), std::string(value));
  }
  LocalSettingsList& add(std::string name, std::int64_t value) {
    return add(std::move(name), std::to_string(value));
  }
  LocalSettingsList& add(std::string name, double value);
  LocalSettingsList& add(std::string name, bool value) {
    return add(std::move(name), std::string(value ? "true" : "false"));
  }
  // Ascending by name, as campaigns have them.
  std::vector<std::pair<std::string, std::string>> take() &&;

 private:
  std::vector<std::pair<std::string, std::string>> settings_;
};

// A task without anything to fetch beside the items' ids.
fl::DeviceTask task_over(const data::Catalogue& catalogue, std::string recipe, LocalSettingsList&& local,
                         std::string layout);

// The request must be remote. The bound follows the rule where the campaign has a clip bit. Refuses a
// campaign whose sums have another size than what devices of the task send.
Result<TrainOutcome> train_remotely(const RunRequest& request, const fl::DeviceTask& task,
                                    model::FlatParameters& parameters, fl::DeviceFold& fold,
                                    fl::ServerOptimiser& optimiser, const fl::EngineSettings& engine,
                                    const fl::BoundRule& rule);

}  // namespace sotto::recipes
