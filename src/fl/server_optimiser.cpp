#include "fl/server_optimiser.h"

#include <cmath>

namespace sotto::fl {

using torch::Tensor;

void OptimiserSettings::bind(SettingsTable& table) {
  table.add_choice("optimiser", optimiser, {"sgd", "fedavg", "fedadam", "adam"}, "Server optimiser")
      .add("learning_rate", learning_rate, {1e-9, 1000.0},
           "Step size of the server optimiser (fedavg always steps by 1)")
      .add("halve_every", halve_every, {0, 100000000},
           "Rounds after which the step size has halved, smoothly; 0: constant")
      .add("momentum", momentum, {0.0, 0.9999}, "Momentum of sgd")
      .add("beta1", beta1, {0.0, 0.9999}, "Decay of the first moment of fedadam and adam")
      .add("beta2", beta2, {0.0, 0.999999}, "Decay of the second moment of fedadam and adam")
      .add("tau", tau, {1e-12, 1.0}, "Added to the root of the second moment")
      .add_choice("second_moment", second_moment, {"standard", "paper"},
                  "fedadam's second moment: of g (standard) or of m (Efficient-FedRec as printed)");
}

double OptimiserSettings::rate_at(std::uint32_t round) const {
  return halve_every == 0
             ? learning_rate
             : learning_rate * std::exp2(-static_cast<double>(round) / static_cast<double>(halve_every));
}

namespace {

class Sgd final : public ServerOptimiser {
 public:
  Sgd(OptimiserSettings settings, const Tensor& like)
      : settings_(std::move(settings)), velocity_(torch::zeros_like(like)) {}
  void step(Tensor& parameters, const Tensor& direction, std::uint32_t round) override {
    const double rate = settings_.rate_at(round);
    if (settings_.momentum == 0) {
      parameters.sub_(direction, rate);
      return;
    }
    velocity_.mul_(settings_.momentum).add_(direction);
    parameters.sub_(velocity_, rate);
  }
  std::vector<Tensor*> state() override { return {&velocity_}; }

 private:
  OptimiserSettings settings_;
  Tensor velocity_;
};

class Adam final : public ServerOptimiser {
 public:
  Adam(const OptimiserSettings& settings, bool bias_correction, const Tensor& like)
      : settings_(settings),
        bias_correction_(bias_correction),
        first_(torch::zeros_like(like)),
        second_(torch::zeros_like(like)),
        steps_(torch::zeros({1}, torch::kFloat64)) {}

  void step(Tensor& parameters, const Tensor& direction, std::uint32_t round) override {
    steps_ += 1;
    first_.mul_(settings_.beta1).add_(direction, 1 - settings_.beta1);
    const Tensor& squared = settings_.second_moment == "paper" ? first_ : direction;
    second_.mul_(settings_.beta2).addcmul_(squared, squared, 1 - settings_.beta2);
    double rate = settings_.rate_at(round), root_scale = 1;
    if (bias_correction_) {
      const double t = steps_.item<double>();
      rate /= 1 - std::pow(settings_.beta1, t);
      root_scale = 1 / std::sqrt(1 - std::pow(settings_.beta2, t));
    }
    parameters.addcdiv_(first_, second_.sqrt().mul_(root_scale).add_(settings_.tau), -rate);
  }
  std::vector<Tensor*> state() override { return {&first_, &second_, &steps_}; }

 private:
  OptimiserSettings settings_;
  bool bias_correction_;
  Tensor first_, second_, steps_;
};

}  // namespace

Result<std::unique_ptr<ServerOptimiser>> make_optimiser(const OptimiserSettings& settings,
                                                        const Tensor& parameters) {
  const std::string& name = settings.optimiser;
  if (name == "sgd") return std::make_unique<Sgd>(settings, parameters);
  if (name == "fedavg") {
    OptimiserSettings plain_average = settings;
    plain_average.learning_rate = 1, plain_average.momentum = 0, plain_average.halve_every = 0;
    return std::make_unique<Sgd>(plain_average, parameters);
  }
  if (name == "fedadam") return std::make_unique<Adam>(settings, false, parameters);
  if (name == "adam") return std::make_unique<Adam>(settings, true, parameters);
  return bad_input("unknown optimiser '{}'", name);
}

}  // namespace sotto::fl
