#include "fl/round_engine.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <cmath>

#include "base/interrupt.h"
#include "base/log.h"
#include "fl/divergence.h"
#include "fl/process_group.h"
#include "fl/round_limit.h"

namespace sotto::fl {

void EngineSettings::bind(SettingsTable& table, bool validates) {
  table.add("rounds", rounds, {1, 100000000}, "Number of rounds (central training: steps)")
      .add(
          "checkpoint_every", checkpoint_every, {1, 1000000},
          "Rounds between two checkpoints, which the log waits for; a better validation AUC is always saved");
  if (!validates) return;
  table
      .add("evaluate_every", evaluate_every, {1, 1000000},
           "Rounds between two looks at the validation impressions")
      .add("patience", patience, {0, 1000000}, "Stop after this many looks without a better AUC; 0: never");
}

RoundEngine::RoundEngine(const EngineSettings& settings, fs::path run, model::FlatParameters& parameters,
                         UpdateSource& source, ServerOptimiser& optimiser)
    : settings_(settings),
      run_(std::move(run)),
      parameters_(parameters),
      source_(source),
      optimiser_(optimiser) {}

std::vector<torch::Tensor*> RoundEngine::state() const {
  auto tensors = optimiser_.state();
  for (torch::Tensor* tensor : source_.state()) tensors.push_back(tensor);
  return tensors;
}

Checkpoint RoundEngine::with_parameters(const Checkpoint& progress) const {
  Checkpoint full = progress;
  full.layout = parameters_.layout();
  full.parameters = parameters_.values();
  full.threads = at::get_num_threads();
  return full;
}

Status RoundEngine::save_last(const Checkpoint& progress) const {
  Checkpoint full = with_parameters(progress);
  for (const torch::Tensor* tensor : state()) full.optimiser.push_back(*tensor);
  return save_checkpoint(run_ / "last.sotto", full);
}

Status RoundEngine::save_best(const Checkpoint& progress) const {
  Checkpoint published = with_parameters(progress);
  published.unwritten.clear();
  return save_checkpoint(run_ / "best.sotto", published);
}

Status RoundEngine::restore(Checkpoint& progress) {
  SOTTO_TRY(progress, load_checkpoint(run_ / "last.sotto", parameters_.layout()));
  const auto state = this->state();
  // Of no rounds: the model that training begins with, from elsewhere. What steps have left is not in it.
  const bool begins = progress.rounds_done == 0 && progress.optimiser.empty();
  if ((!begins && state.size() != progress.optimiser.size()) ||
      progress.parameters.numel() != parameters_.size())
    return bad_input("{} was written by another optimiser: resume with the settings of the run",
                     (run_ / "last.sotto").string());
  if (progress.threads != at::get_num_threads())
    warn("the run used {} threads so far and now {}: results will not be bit-equal to an uninterrupted run",
         progress.threads, at::get_num_threads());
  torch::NoGradGuard no_grad;
  parameters_.values().copy_(progress.parameters);
  for (std::size_t i = 0; i < progress.optimiser.size(); ++i) {
    if (state[i]->numel() != progress.optimiser[i].numel())
      return bad_input("{} was written by another optimiser", (run_ / "last.sotto").string());
    state[i]->copy_(progress.optimiser[i]);
  }
  progress.optimiser.clear();
  return {};
}

bool RoundEngine::out_of_patience(const Checkpoint& progress) const {
  return settings_.patience > 0 &&
         progress.rounds_done >=
             progress.best_round + static_cast<std::uint64_t>(settings_.patience * settings_.evaluate_every);
}

// Processes that train together all run it, on the leader's parameters; the leader alone writes the run's
// files.
Result<RunSummary> RoundEngine::run(bool resume, const Validate& validate, const Observe& observe,
                                    const Begin& begin) {
  const ProcessGroup& group = processes();
  Checkpoint progress;
  if (resume) SOTTO_CHECK(restore(progress));
  if (begin) SOTTO_CHECK(begin());
  SOTTO_TRY(auto log, RunLog::open(run_ / "log.jsonl", progress.rounds_done, progress.unwritten));
  progress.unwritten.clear();
  // Killed behind the checkpoint of its best round, a run has not written best.sotto yet.
  if (group.leads() && progress.rounds_done > 0 && progress.best_round == progress.rounds_done)
    SOTTO_CHECK(save_best(progress));

  const auto rounds = static_cast<std::uint32_t>(settings_.rounds);
  bool stopped = false, ended = false;
  while (progress.rounds_done < rounds && !out_of_patience(progress) && !stopped && !ended) {
    const auto start = std::chrono::steady_clock::now();
    group.from_leader(parameters_.values());
    auto gathered = source_.round(progress.rounds_done);
    if (!gathered && interrupted() && progress.rounds_done > 0) {  // what was finished before stays
      if (!progress.unwritten.empty()) {
        SOTTO_CHECK(save_last(progress));
        SOTTO_CHECK(log.append(progress.unwritten));
        progress.unwritten.clear();
      }
      stopped = true;
      break;
    }
    SOTTO_TRY(auto update, std::move(gathered));
    if (!std::isfinite(update.loss))
      return diverged(progress.rounds_done + 1, "the loss", "Lower learning_rate");
    {
      torch::NoGradGuard no_grad;
      optimiser_.step(parameters_.values(), update.direction, progress.rounds_done);
      // A loss is computed before the step: after the last one nothing else would show it.
      if (!std::isfinite(at::linalg_vector_norm(parameters_.values(), HUGE_VAL).item<double>()))
        return diverged(progress.rounds_done + 1, "a parameter", "Lower learning_rate");
    }
    progress.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++progress.rounds_done;

    RoundRecord record{progress.rounds_done, update.loss,       progress.seconds, update.clients,
                       update.samples,       update.bytes_down, update.bytes_up,  {}};
    stopped = group.any(interrupted());
    ended = !stopped && progress.rounds_done < rounds && rounds_are_over();
    const bool last = progress.rounds_done == rounds || ended;
    if (validate &&
        (last || progress.rounds_done % static_cast<std::uint32_t>(settings_.evaluate_every) == 0)) {
      record.validation = validate();
      if (record.validation->auc > progress.best_score) {
        progress.best_score = record.validation->auc;
        progress.best_round = progress.rounds_done;
      }
    }
    progress.unwritten.push_back(record);
    const bool best = progress.best_round == progress.rounds_done;
    if (last || stopped || best || out_of_patience(progress) ||
        progress.rounds_done % static_cast<std::uint32_t>(settings_.checkpoint_every) == 0) {
      if (group.leads()) {
        SOTTO_CHECK(save_last(progress));
        if (best) SOTTO_CHECK(save_best(progress));
        SOTTO_CHECK(log.append(progress.unwritten));
      }
      progress.unwritten.clear();
    }
    if (observe) observe(record);
  }

  RunSummary summary{log.records(), progress.best_round, progress.seconds,
                     stopped && progress.rounds_done < rounds};
  if (!validate || progress.best_round == 0) {
    summary.best_round = progress.rounds_done;
    if (group.leads()) SOTTO_CHECK(save_best(progress));
  } else if (group.leads() && progress.best_round != progress.rounds_done) {
    SOTTO_TRY(auto best, load_checkpoint(run_ / "best.sotto", parameters_.layout()));
    torch::NoGradGuard no_grad;
    parameters_.values().copy_(best.parameters);
  }
  // Interrupted within a round, the leader is alone here, and nothing is tested.
  if (!summary.interrupted) group.from_leader(parameters_.values());
  return summary;
}

}  // namespace sotto::fl
