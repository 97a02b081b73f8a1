#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/distributions.h"
#include "base/log.h"
#include "base/make_folder.h"
#include "bench/benchmarks.h"
#include "data/dataset_builder.h"
#include "data/newsroom/newsroom.h"
#include "fl/personal_model.h"
#include "fl/private_training.h"
#include "fl/split_fold.h"
#include "recipes/interaction_run.h"
#include "recipes/news_run.h"

namespace sotto::bench {
namespace {

using torch::Tensor;

constexpr std::size_t cohort = 1000;
constexpr std::int64_t readers = 1600, articles = 1500;
constexpr std::uint32_t raters = 1400, films = 3700, ratings_of_one = 100;  // MovieLens' shape
constexpr std::uint64_t seed = 1;
constexpr int repeats = 2;

// A folder that goes with the object.
struct Scratch {
  Scratch() : path(fs::temp_directory_path() / fmt::format("sotto-bench-private-{}", ::getpid())) {}
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  fs::path path;
};

// What one recipe's devices compute, as the recipe sets it up by default.
struct Devices {
  std::string recipe;
  std::uint64_t dimension = 0;
  std::vector<data::UserId> users;
  double clip_quantile = 0;
  // What a round is about. Where it computes the updates too, `updates` is null.
  std::function<std::unique_ptr<fl::RoundFold>(const secagg::EncodingPlan&)> fold;
  fl::UserUpdates* updates = nullptr;
  // The same users' mean without laying out anybody's own.
  std::function<void()> together;
};

// Work queued on a card is over when a number of it has arrived.
void wait_for(const Tensor& result) { (void)result.flatten()[0].item<float>(); }

// On the CPU what all threads computed, which other work on the machine hardly changes; on a card the time.
class Timer {
 public:
  explicit Timer(bool on_card) : on_card_(on_card) {}
  double seconds_of(const std::function<Status()>& work, Status& outcome) const {
    const double start = now();
    if (outcome) outcome = work();
    return now() - start;
  }
  const char* unit() const { return on_card_ ? "s" : "s of CPU"; }

 private:
  double now() const { return on_card_ ? wall_seconds() : process_seconds(); }
  bool on_card_;
};

fl::SimulatedDevices simulated(std::span<const data::UserId> users, fl::UserUpdates& updates,
                               const privacy::NoiseOrigin& noise) {
  return {
      {fl::CohortSampler::create({users.begin(), users.end()}, static_cast<std::int64_t>(users.size()), seed)
           .value(),
       fl::every_round},
      updates,
      noise};
}

// Made-up updates that are multiples of the grid's step: no draw of the rounding changes them.
class UpdatesOnTheGrid final : public fl::UserUpdates {
 public:
  UpdatesOnTheGrid(std::uint64_t dimension, double step, torch::Device device)
      : own_(torch::zeros({static_cast<std::int64_t>(dimension)}, device)), step_(step) {}
  Status each_update(std::uint32_t, std::span<const data::UserId> users,
                     const std::function<Status(const fl::UserUpdate&)>& take) override {
    for (const data::UserId user : users) {
      own_.zero_();
      for (std::int64_t k = 0; k < nonzero; ++k) {
        const auto place = (static_cast<std::int64_t>(user) * 7919 + k * 104'729) % own_.numel();
        own_[place] = k % 2 == 0 ? step_ : -step_;
      }
      SOTTO_CHECK(take({user, own_, 0, 1}));
    }
    return {};
  }

 private:
  static constexpr std::int64_t nonzero = 16;
  Tensor own_;
  double step_;
};

// Without noise the integers are those of one device after another: of the same updates on the CPU, of
// multiples of the step on a card, which draws its rounding by another generator. Otherwise nothing is
// compared.
Status check_same_integers(const Devices& devices, fl::UserUpdates& own, const secagg::EncodingPlan& noisy,
                           torch::Device device) {
  constexpr std::size_t few = 10;
  secagg::EncodingPlan::Settings settings = noisy.settings();
  settings.noise_multiplier = 0, settings.devices = few, settings.dropped = settings.corrupted = 0;
  std::optional<UpdatesOnTheGrid> made_up;
  if (device.is_cuda()) {
    settings.rotation_seed.reset();
    settings.clip_bit_weight.reset();
    settings.step = std::exp2(std::ceil(std::log2(settings.step)));
    made_up.emplace(settings.dimension, settings.step, device);
  }
  fl::UserUpdates& updates = made_up ? *made_up : own;
  SOTTO_TRY(const auto plan, secagg::EncodingPlan::create(settings));
  const auto users = std::span(devices.users).first(few);
  std::vector<std::vector<std::uint32_t>> sums;
  for (const char* way : {"law", "simulated"}) {
    SOTTO_TRY(const auto gather, fl::SumSettings{.sums = way}.gather(
                                     simulated(users, updates, privacy::NoiseOrigin::reproducible(seed))));
    SOTTO_TRY(auto gathered, gather->sum({0, plan, 1}));
    sums.push_back(std::move(gathered.groups.front().entries));
  }
  if (sums[0] == sums[1]) return {};
  return failed("{}: sums=law and sums=simulated differ without noise, no comparison", devices.recipe);
}

Status compare(const Devices& devices, bool on_card, std::vector<BenchRow>& rows) {
  fl::PrivateTrainingSettings budget;
  budget.epsilon = 8, budget.clip_quantile = devices.clip_quantile;
  SOTTO_TRY(const auto training,
            fl::PrivateTraining::calibrate(budget, {devices.dimension, 100'000, cohort, 100}));
  const auto fold = devices.fold(training.plan);
  auto* updates = devices.updates ? devices.updates : dynamic_cast<fl::UserUpdates*>(fold.get());
  SOTTO_TRY(const auto task, fold->open(0));
  SOTTO_CHECK(check_same_integers(devices, *updates, training.plan, on_card ? torch::kCUDA : torch::kCPU));

  const auto plain = [&]() -> Status {
    Tensor sum;
    SOTTO_CHECK(updates->each_block(0, devices.users, [&](const fl::UpdateBlock& block) -> Status {
      const Tensor own = block.directions.sum(0);
      sum = sum.defined() ? sum.add_(own) : own;
      return {};
    }));
    wait_for(sum);
    return {};
  };
  const auto summed_by = [&](const char* way) {
    return [&, way]() -> Status {
      SOTTO_TRY(const auto gather, fl::SumSettings{.sums = way}.gather(
                                       simulated(devices.users, *updates, privacy::NoiseOrigin::secret())));
      SOTTO_TRY(const auto gathered, gather->sum({0, task.plan, 1}));
      (void)gathered;
      return {};
    };
  };
  const auto together = [&]() -> Status {
    devices.together();
    return {};
  };
  // In turns: whatever else the machine does meets all of them.
  double plain_seconds = HUGE_VAL, law = HUGE_VAL, one_by_one = HUGE_VAL, summed = HUGE_VAL;
  Status outcome;
  const Timer timer(on_card);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    plain_seconds = std::min(plain_seconds, timer.seconds_of(plain, outcome));
    law = std::min(law, timer.seconds_of(summed_by("law"), outcome));
    if (repeat == 0) one_by_one = timer.seconds_of(summed_by("simulated"), outcome);
    summed = std::min(summed, timer.seconds_of(together, outcome));
  }
  SOTTO_CHECK(std::move(outcome));
  info("{}: plain {:.3g} s, sums=law {:.3g} s, sums=simulated {:.3g} s, summed gradients {:.3g} s",
       devices.recipe, plain_seconds, law, one_by_one, summed);  // all of them take minutes
  const std::string name =
      fmt::format("private round of {} users, {} ({} numbers)", cohort, devices.recipe, devices.dimension);
  rows.push_back({name, law, plain_seconds, law / plain_seconds, timer.unit(),
                  "the same updates, neither clipped nor noised", on_card ? "at most 2" : "at most 1.5"});
  rows.back().note =
      fmt::format("{:.2f} times a round of summed gradients ({:.3g} {})", law / summed, summed, timer.unit());
  rows.push_back({name + ", sums=simulated", one_by_one, plain_seconds, one_by_one / plain_seconds,
                  timer.unit(), "the same updates, neither clipped nor noised"});
  for (auto row = rows.end() - 2; row != rows.end(); ++row) row->worse_when_larger = true;
  return {};
}

Result<data::Dataset> generated_news(const fs::path& folder) {
  data::NewsroomSettings newsroom;
  newsroom.users = readers, newsroom.news = articles, newsroom.seed = seed;
  SOTTO_TRY(const auto report, data::generate_newsroom(newsroom, folder));
  (void)report;
  return data::Dataset::open(folder);
}

Result<data::Dataset> random_ratings(const fs::path& folder) {
  data::DatasetBuilder builder("ratings", "bench");
  for (std::uint32_t i = 0; i < films; ++i)
    builder.add_item({.id = fmt::format("M{}", i), .title = fmt::format("M{}", i)});
  SeededRandom random(seed, Purpose::test);
  for (std::uint32_t u = 0; u < raters; ++u) {
    const data::UserId user = builder.user(fmt::format("U{}", u));
    for (std::uint32_t k = 0; k < ratings_of_one; ++k)
      builder.add_interaction(user, static_cast<data::ItemId>(uniform_below(random, films)), 5, k);
  }
  SOTTO_CHECK(make_folder(folder));
  SOTTO_CHECK(builder.write(folder));
  return data::Dataset::open(folder);
}

std::vector<data::UserId> first_of(const std::vector<data::UserId>& users) {
  return {users.begin(), users.begin() + static_cast<std::ptrdiff_t>(std::min(cohort, users.size()))};
}

Status news_rounds(const std::string& recipe, const data::Dataset& dataset,
                   const recipes::NewsSettings& settings, const fs::path& folder, const std::string& device,
                   std::vector<BenchRow>& rows) {
  SOTTO_CHECK(make_folder(folder / recipe));
  const recipes::RunRequest request{
      .dataset = dataset, .run = folder / recipe, .seed = seed, .device = device};
  SOTTO_TRY(auto run, recipes::NewsRun::prepare(settings, request));
  Devices devices{recipe, run.dimension(), first_of(run.data().users), 0, {}, nullptr, {}};
  if (devices.users.size() < cohort)
    return failed("{} readers of the newsroom can train, {} are needed", devices.users.size(), cohort);
  devices.together = [&] {
    wait_for(run.training().cohort_gradient(0, devices.users, fl::Weighting::samples).gradient);
  };
  std::optional<fl::SplitTraining> split;
  if (recipe == "efficient-fedrec") {
    SOTTO_TRY(auto created, fl::SplitTraining::create(run.training(), run.model()));
    split.emplace(created);
    const std::uint64_t catalogue = dataset.catalogue().size();
    devices.dimension = split->dimension(catalogue);
    devices.fold = [&split, catalogue](const secagg::EncodingPlan& plan) {
      return std::make_unique<fl::CatalogueFold>(plan, *split, catalogue);
    };
  } else {
    devices.updates = &run.training();
    devices.fold = [&run](const secagg::EncodingPlan& plan) {
      return std::make_unique<fl::WholeModelFold>(plan, run.parameters().values());
    };
  }
  return compare(devices, device != "cpu", rows);
}

Status rating_rounds(const data::Dataset& dataset, const fs::path& folder, const std::string& device,
                     std::vector<BenchRow>& rows) {
  SOTTO_CHECK(make_folder(folder / "dp-privrec"));
  const recipes::RunRequest request{
      .dataset = dataset, .run = folder / "dp-privrec", .seed = seed, .device = device};
  const recipes::InteractionRunSettings settings;
  SOTTO_TRY(auto run, recipes::InteractionRun::prepare(settings, request));
  Devices devices{"dp-privrec", run.dimension(), first_of(run.data().users), 0.5, {}, &run.training(), {}};
  devices.together = [&] { wait_for(run.training().mean_update(0, devices.users).direction); };
  devices.fold = [&run](const secagg::EncodingPlan& plan) {
    return std::make_unique<fl::WholeModelFold>(plan, run.training().values());
  };
  return compare(devices, device != "cpu", rows);
}

}  // namespace

BenchRows bench_private(const std::string& device) {
  const Scratch scratch;
  SOTTO_TRY(const auto news, generated_news(scratch.path / "news"));
  recipes::NewsSettings fednewsrec, flagship;
  fednewsrec.data.validation_impressions = 0, fednewsrec.shape.train_words = true;
  flagship.model = "catalogue", flagship.data.validation_impressions = 0, flagship.data.negatives = 20;
  std::vector<BenchRow> rows;
  SOTTO_CHECK(news_rounds("sotto", news, flagship, scratch.path, device, rows));
  SOTTO_TRY(const auto ratings, random_ratings(scratch.path / "ratings"));
  SOTTO_CHECK(rating_rounds(ratings, scratch.path, device, rows));
  SOTTO_CHECK(news_rounds("fednewsrec", news, fednewsrec, scratch.path, device, rows));
  SOTTO_CHECK(news_rounds("efficient-fedrec", news, recipes::NewsSettings::private_nrms(), scratch.path,
                          device, rows));
  SOTTO_CHECK(
      news_rounds("privaterec", news, recipes::NewsSettings::private_nrms(), scratch.path, device, rows));
  return rows;
}

}  // namespace sotto::bench
