#include "device/query/query_settings.h"

#include "base/settings.h"

namespace sotto::device {

void QuerySettings::bind(SettingsTable& table) {
  std::vector<std::string> mechanisms;
  for (const privacy::ServingMechanismEntry& entry : privacy::serving_mechanisms())
    mechanisms.emplace_back(entry.name);
  table.add_choice("mechanism", mechanism, mechanisms, "What an answer consists of")
      .add_choice("reads", reads, {"everything", "unprotected"},
                  "All clicks, charged; or only those of categories that are not sensitive, for nothing")
      .add("epsilon", epsilon, {0, 1000}, "What one answer may tell about all clicks together")
      .add("refresh_hours", refresh_hours, {0.1, 24.0 * 366}, "How long one answer is used again")
      .add_choice("rule", rule, {"response", "similarity"}, "How a prototype is drawn")
      .add_choice("mode", mode, {"sound", "paper"}, "Noise by a theorem, or as the paper has it")
      .add_choice("noise", noise, {"laplace", "gaussian"}, "Noise on coefficients")
      .add("delta", delta, {0, 0.1}, "Of Gaussian noise")
      .add("clip", clip, {1e-6, 1}, "Largest norm of the coefficients before noise")
      .add("padding", padding, {0, 0.99}, "Chance that a click is replaced by the anonymous item")
      .add("wanted", wanted, {1, 100'000}, "Items asked for, to be ranked again on the device");
}

privacy::MechanismSettings QuerySettings::of_mechanism() const {
  return {
      .epsilon = reads_everything() ? std::optional(epsilon) : std::nullopt,
      .delta = delta,
      .rule = rule == "similarity" ? privacy::PrototypeRule::similarity : privacy::PrototypeRule::response,
      .mode = mode == "paper" ? privacy::GuaranteeMode::paper : privacy::GuaranteeMode::sound,
      .noise = noise == "gaussian" ? privacy::NoiseKind::gaussian : privacy::NoiseKind::laplace,
      .clip = clip,
      .padding = padding};
}

}  // namespace sotto::device
