#pragma once
// The trainer beside a coordinator (trainer_process.h): it makes each version of a model of the sums of a
// round (coordinator/folding.h).
//
//   ready   layout and table of items, once
//   folded  a version; unless it is the last, the trainer then waits for the sums of the round on it
//   sums    of the groups of that round
//
// The trainer works in a folder of its own, to which the checkpoint of the version to begin with is written:
// what it leaves there beside is for nobody.

#ifdef SOTTO_HAVE_NET

#include <atomic>
#include <optional>

#include "cli/trainer_process.h"
#include "coordinator/folding.h"
#include "rounds/campaign.h"

namespace sotto::cli {

// Refused when there is something wrong with the bytes, as those of articles are.
Result<std::string> folded_model_body(const coordinator::FoldedModel& model);
Result<coordinator::FoldedModel> parse_folded_model(std::string_view bytes);
std::string folded_round_body(const coordinator::FoldedRound& round);
Result<coordinator::FoldedRound> parse_folded_round(std::string_view bytes);
std::string sums_body(const std::vector<coordinator::GroupSum>& sums);
Result<std::vector<coordinator::GroupSum>> parse_sums(std::string_view bytes);

// What devices train of a recipe, as the trainer says it for a campaign that is being drafted.
struct TaskOnDevices {
  std::vector<rounds::LocalSetting> local;
  std::string layout;
  std::uint64_t items = 0;
  double clip = 1;
  std::uint32_t bits = 18;
  bool bound_follows = false;
  double first_noise = 0;  // of two sums: noise of the first over that of the second; 0: one kind of sums
};
std::string task_body(const TaskOnDevices& task);
Result<TaskOnDevices> parse_task(std::string_view bytes);
struct TaskQuestion {
  std::string recipe;
  fs::path data, run;  // run: whose settings it is about; empty: the recipe's
  std::uint64_t devices = 0;
  std::vector<std::string> assignments;
};
// Asks a trainer, which is started for it.
Result<TaskOnDevices> ask_for_task(const TaskQuestion& question);

struct FoldSettings {
  fs::path campaign, data, folder;
  std::vector<std::string> assignments;  // of the recipe, key=value
  std::uint64_t seed = 1;                // of initial weights
  // Whose numbers take their place, and the table of items that these are about (starting_model.h).
  fs::path begin_with;
  std::optional<rounds::Digest> begin_with_items;
};

class FoldProcess final : public coordinator::Folding {
 public:
  explicit FoldProcess(FoldSettings settings) : settings_(std::move(settings)) {}

  Result<coordinator::FoldedModel> begin(const std::string& checkpoint) override;
  Result<coordinator::FoldedRound> next() override;
  Status give(const std::vector<coordinator::GroupSum>& sums) override;
  void let_go() override { is_let_go_ = true; }

 private:
  Result<std::string> expect(FrameKind kind);
  const FoldSettings settings_;
  std::optional<TrainerProcess> trainer_;
  std::atomic<bool> is_let_go_ = false;
};

}  // namespace sotto::cli

#endif
