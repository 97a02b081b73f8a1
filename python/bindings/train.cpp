// sotto._train: what needs libtorch. Loaded when it is asked for, and against one libtorch only
// (sotto/training.py).
#include <nanobind/stl/tuple.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "bindings/bindings.h"
#include "data/dataset.h"
#include "eval/metrics_files.h"
#include "eval/training_run.h"
#include "local/check_numbers.h"
#include "model/tensor.h"
#include "publish/exported_own_model.h"
#include "publish/exported_run.h"
#include "publish/factor_ranking.h"
#include "publish/imported_run.h"
#include "publish/served_codebook.h"
#include "publish/two_tower_rows.h"
#include "recipes/own_model.h"
#include "recipes/run_data.h"

namespace sotto::python {

using namespace nb::literals;

namespace {

// While a training runs, Ctrl-C is a flag that the engine looks at between rounds; then Python has its own
// handler back.
class InterruptsAsFlag {
 public:
  InterruptsAsFlag() {
    ::sigaction(SIGINT, nullptr, &of_interrupt_);
    ::sigaction(SIGTERM, nullptr, &of_end_);
    set_interrupted(false);
    install_interrupt_handler();
  }
  InterruptsAsFlag(const InterruptsAsFlag&) = delete;
  InterruptsAsFlag& operator=(const InterruptsAsFlag&) = delete;
  ~InterruptsAsFlag() {
    ::sigaction(SIGINT, &of_interrupt_, nullptr);
    ::sigaction(SIGTERM, &of_end_, nullptr);
    set_interrupted(false);
  }

 private:
  struct sigaction of_interrupt_ {
  }, of_end_{};
};

// A Python function that is called from the engine. What it raises ends the training after the round, which
// is saved, and is raised again behind it.
class RoundCallback {
 public:
  explicit RoundCallback(std::optional<nb::callable> function) : function_(std::move(function)) {}

  fl::Observe observe() {
    return [this](const fl::RoundRecord& record) {
      if (!function_ || raised_) return;
      const nb::gil_scoped_acquire locked;
      try {
        (*function_)(to_python(nlohmann::json::parse(fl::to_json_line(record))));
      } catch (nb::python_error& error) {
        raised_.emplace(std::move(error));
        set_interrupted(true);
      }
    };
  }
  void raise_again() {
    if (raised_) throw nb::python_error(std::move(*raised_));
  }

 private:
  std::optional<nb::callable> function_;
  std::optional<nb::python_error> raised_;
};

[[noreturn]] void raise_interrupt(const fs::path& run, std::size_t rounds) {
  const std::string text = fmt::format(
      "stopped after round {}; everything up to here is in {}: go on with resume=True", rounds, run.string());
  PyErr_SetString(PyExc_KeyboardInterrupt, text.c_str());
  throw nb::python_error();
}

nb::object train(const std::string& recipe, const data::Dataset& dataset, const fs::path& data,
                 const fs::path& out, std::uint64_t seed, bool reproducible, bool resume,
                 std::uint64_t test_impressions, const std::vector<std::string>& assignments,
                 std::optional<nb::callable> on_round) {
  eval::TrainJob job;
  job.recipe = recipe;
  job.data = data;
  job.out = out;
  job.seed = seed;
  job.reproducible = reproducible;
  job.resume = resume;
  job.test_impressions = test_impressions;
  job.assignments = assignments;
  RoundCallback callback(std::move(on_round));
  const InterruptsAsFlag interrupts;
  const auto outcome = unlocked([&] {
    model::prepare_torch();
    return value_of(eval::train_run(job, dataset, {.round = callback.observe(), .trained = {}}));
  });
  callback.raise_again();
  if (outcome.summary.interrupted) raise_interrupt(out, outcome.summary.rounds.size());
  return to_python(eval::to_json(outcome));
}

nb::object evaluate(const fs::path& run, const data::Dataset& dataset, bool other_data,
                    std::uint64_t test_impressions) {
  const InterruptsAsFlag interrupts;
  const auto metrics = unlocked([&] {
    model::prepare_torch();
    return value_of(eval::evaluate_run(
        {.run = run, .test_impressions = test_impressions, .other_data = other_data}, dataset));
  });
  return to_python(std::visit([](const auto& measured) { return eval::to_json(measured); }, metrics));
}

using Matrix = nb::ndarray<nb::numpy, float, nb::ndim<2>>;
Matrix matrix_of(std::vector<float> values, std::size_t columns) {
  auto* kept = new std::vector<float>(std::move(values));
  const nb::capsule owner(kept,
                          [](void* memory) noexcept { delete static_cast<std::vector<float>*>(memory); });
  return {kept->data(), {columns == 0 ? 0 : kept->size() / columns, columns}, owner};
}

// Vectors of a trained run: of its items, and of readers by their histories.
class TrainedVectors {
 public:
  TrainedVectors(const fs::path& run, const data::Dataset& dataset)
      : dataset_(value_of(recipes::data_of_run(run, dataset))) {
    const torch::NoGradGuard no_grad;
    if (auto factors = value_of(recipes::open_factors_run(run, dataset))) {
      items_ = publish::Rows(factors->items.size() / factors->size, factors->size);
      items_.values = factors->items;
      factors_ = std::move(*factors);
      return;
    }
    news_ = value_of(recipes::open_news_run(run, dataset));
    towers_ = publish::shared_towers(*news_->model);
    if (towers_ == nullptr)
      raise({ErrorKind::bad_input,
             fmt::format("{} is not made of two towers: items have no vectors of their own",
                         news_->model_name)});
    items_ = value_of(publish::encode_catalogue(*towers_, dataset_.item_count()));
  }

  const publish::Rows& items() const { return items_; }
  std::vector<std::string> item_ids() const {
    std::vector<std::string> ids;
    for (std::size_t item = 0; item < dataset_.item_count(); ++item)
      ids.emplace_back(dataset_.catalogue().ids[item]);
    return ids;
  }

  publish::Rows readers(const std::vector<std::vector<data::ItemId>>& histories) {
    for (const auto& history : histories)
      for (const data::ItemId item : history)
        if (item >= items_.size())
          raise({ErrorKind::bad_input, fmt::format("item {} is not below {}", item, items_.size())});
    const torch::NoGradGuard no_grad;
    if (factors_) return readers_by_factors(histories);
    std::vector<std::span<const data::ItemId>> spans(histories.begin(), histories.end());
    return value_of(publish::encode_histories(*towers_, items_, news_->max_history, spans,
                                              std::vector<data::UserId>(spans.size(), model::unknown_user)));
  }

 private:
  publish::Rows readers_by_factors(const std::vector<std::vector<data::ItemId>>& histories) const {
    const std::size_t size = factors_->size;
    publish::Rows readers(histories.size(), size);
    device::DevicePack pack;
    pack.dimension = static_cast<std::uint32_t>(size);
    pack.user_model = value_of(publish::factor_user_model(*factors_));
    const auto user_model = value_of(device::make_user_model(pack));
    for (std::size_t reader = 0; reader < histories.size(); ++reader) {
      std::vector<float> clicks;
      for (const data::ItemId item : histories[reader])
        clicks.insert(clicks.end(), items_[item].begin(), items_[item].end());
      const std::vector<float> vector = user_model.encode(clicks);
      std::copy(vector.begin(), vector.end(), readers[reader].begin());
    }
    return readers;
  }

  data::Dataset dataset_;
  publish::Rows items_;
  std::optional<recipes::TrainedFactors> factors_;
  std::optional<recipes::TrainedNews> news_;
  model::NewsRecommender* towers_ = nullptr;
};
using GuardedVectors = Guarded<TrainedVectors>;

// What single users would send, computed by a Python function.
class PythonUpdates final : public fl::UserUpdates {
 public:
  // dimension: of what a user sends.
  PythonUpdates(nb::callable function, const torch::Tensor& values, std::uint64_t dimension)
      : function_(std::move(function)), values_(values), dimension_(dimension) {}

  Status each_update(std::uint32_t round, std::span<const data::UserId> users,
                     const std::function<Status(const fl::UserUpdate&)>& take) override {
    for (const data::UserId user : users) {
      if (interrupted()) return failed("stopped in the middle of round {}", round + 1);
      SOTTO_TRY(const fl::UserUpdate update, update_of(round, user));
      SOTTO_CHECK(take(update));
    }
    return {};
  }
  void raise_again() {
    if (raised_) throw nb::python_error(std::move(*raised_));
  }

 private:
  Result<fl::UserUpdate> update_of(std::uint32_t round, data::UserId user) {
    const nb::gil_scoped_acquire locked;
    try {
      // The parameters as they are now, for the call alone: a copy, because a module may keep what it was
      // given.
      std::vector<float> values(values_.data_ptr<float>(), values_.data_ptr<float>() + values_.numel());
      const nb::object answer = function_(round, user, array_of(std::move(values)));
      const nb::tuple parts =
          nb::isinstance<nb::tuple>(answer) ? nb::borrow<nb::tuple>(answer) : nb::make_tuple(answer);
      if (parts.size() != 1 && parts.size() != 3)
        return bad_input("the update of user {} is a tuple of {}: an array, or (array, loss, samples)", user,
                         parts.size());
      GivenArray given;
      if (!nb::try_cast<GivenArray>(parts[0], given))
        return bad_input("the update of user {} is no flat array of numbers on the CPU", user);
      const std::string name = fmt::format("the update of user {}", user);
      const Column<float> direction(given, name.c_str(), 1, NaN::kept);
      if (direction.size() != dimension_)
        return bad_input(
            "the update of user {} has {} numbers, and {} are sent: one for each parameter, "
            "unless fold says otherwise",
            user, direction.size(), dimension_);
      // Later the training may have diverged, and the engine says so. At first nothing has moved yet: the
      // function that was handed in is wrong, or where it is to begin.
      if (round == 0 && !local::all_finite(direction.values()))
        return bad_input(
            "the update of user {} holds something that is no number, and nothing was trained yet: look for "
            "a "
            "division by zero or an overflow in the function, or in the parameters that it begins with",
            user);
      fl::UserUpdate update;
      update.user = user;
      update.direction = torch::empty({static_cast<std::int64_t>(dimension_)});
      std::copy_n(direction.values().data(), direction.size(), update.direction.data_ptr<float>());
      if (parts.size() == 3) {
        update.loss = nb::cast<double>(parts[1]);
        update.samples = nb::cast<std::uint64_t>(parts[2]);
      }
      return update;
    } catch (nb::python_error& error) {
      raised_.emplace(std::move(error));
    } catch (const InputError& refusal) {
      return bad_input("{}", refusal.what());
    } catch (const nb::cast_error&) {
      return bad_input("of the update of user {} loss must be a number and samples a whole one", user);
    }
    return failed("the update of user {} raised an exception", user);
  }

  nb::callable function_;
  const torch::Tensor& values_;
  std::uint64_t dimension_;
  std::optional<nb::python_error> raised_;
};

// What makes a direction of the noisy mean of what users sent: a Python function.
class PythonFold {
 public:
  PythonFold(nb::callable function, const torch::Tensor& values)
      : function_(std::move(function)), values_(values) {}

  Result<torch::Tensor> operator()(std::uint32_t round, const torch::Tensor& mean) {
    const nb::gil_scoped_acquire locked;
    try {
      const torch::Tensor sums = mean.to(torch::kCPU, torch::kFloat32).contiguous();
      const auto copy_of = [](const torch::Tensor& flat) {
        return array_of(std::vector<float>(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()));
      };
      GivenArray given;
      if (!nb::try_cast<GivenArray>(function_(round, copy_of(sums), copy_of(values_)), given))
        return bad_input("what fold returned is no flat array of numbers on the CPU");
      const Column<float> direction(given, "what fold returned", 1, NaN::kept);
      if (static_cast<std::int64_t>(direction.size()) != values_.numel())
        return bad_input("what fold returned has {} numbers, and the model has {} parameters",
                         direction.size(), values_.numel());
      torch::Tensor answer = torch::empty_like(values_);
      std::copy_n(direction.values().data(), direction.size(), answer.data_ptr<float>());
      return answer;
    } catch (nb::python_error& error) {
      raised_.emplace(std::move(error));
    } catch (const InputError& refusal) {
      return bad_input("{}", refusal.what());
    }
    return failed("fold raised an exception in round {}", round + 1);
  }
  void raise_again() {
    if (raised_) throw nb::python_error(std::move(*raised_));
  }

 private:
  nb::callable function_;
  const torch::Tensor& values_;
  std::optional<nb::python_error> raised_;
};

class FlatModule : public torch::nn::Module {
 public:
  explicit FlatModule(const torch::Tensor& values) { register_parameter("values", values); }
};

nb::object train_own(const nb::callable& update, const GivenArray& given_initial,
                     const GivenArray& given_users, const fs::path& out,
                     std::optional<std::tuple<std::uint64_t, nb::callable>> given_fold,
                     std::optional<std::uint64_t> simulation_seed, bool resume,
                     std::optional<nb::callable> on_round, const nb::kwargs& given) {
  recipes::OwnModelSettings settings;
  SettingsTable table;
  settings.bind(table);
  apply_settings(settings_of(given), table);
  const Column<float> initial(given_initial, "parameters");
  const Column<std::uint32_t> users(given_users, "users");
  if (initial.size() == 0) throw InputError("the model has no parameters");
  torch::Tensor start = torch::empty({static_cast<std::int64_t>(initial.size())});
  std::copy_n(initial.values().data(), initial.size(), start.data_ptr<float>());
  FlatModule module(start);
  model::FlatParameters parameters(module);
  if (given_fold && (std::get<0>(*given_fold) == 0 || std::get<0>(*given_fold) > std::uint64_t{1} << 32))
    throw InputError(
        fmt::format("what a user sends has {} numbers, must be 1 to 2**32", std::get<0>(*given_fold)));
  PythonUpdates updates(update, parameters.values(), given_fold ? std::get<0>(*given_fold) : initial.size());
  std::optional<PythonFold> fold;
  if (given_fold) fold.emplace(std::get<1>(*given_fold), parameters.values());
  RoundCallback callback(std::move(on_round));
  recipes::OwnModelRequest request{.run = out,
                                   .users = {users.values().begin(), users.values().end()},
                                   .updates = updates,
                                   .noise = simulation_seed
                                                ? privacy::NoiseOrigin::reproducible(*simulation_seed)
                                                : privacy::NoiseOrigin::secret(),
                                   .seed = simulation_seed.value_or(1),
                                   .resume = resume,
                                   .observe = callback.observe()};
  if (fold) request.fold = recipes::OwnFold{std::get<0>(*given_fold), std::ref(*fold)};
  const InterruptsAsFlag interrupts;
  const auto outcome = unlocked([&] {
    model::prepare_torch();
    return recipes::train_own_model(settings, parameters, request);
  });
  updates.raise_again();
  if (fold) fold->raise_again();
  callback.raise_again();
  if (!outcome && interrupted()) raise_interrupt(out, fl::read_run_log(out / "log.jsonl").size());
  if (!outcome) raise(outcome.error());
  if (outcome->summary.interrupted) raise_interrupt(out, outcome->summary.rounds.size());
  const torch::Tensor& trained = parameters.values();
  return array_of(std::vector<float>(trained.data_ptr<float>(), trained.data_ptr<float>() + trained.numel()))
      .cast();
}

// Name, shape and numbers of one parameter.
using GivenParameter = std::tuple<std::string, std::vector<std::uint64_t>, GivenArray>;

std::vector<std::string> export_own(const fs::path& run, const std::vector<GivenParameter>& parameters,
                                    const GivenArray& given_items, std::vector<std::string> item_ids,
                                    const std::string& format, const fs::path& out) {
  publish::OwnModelArrays model;
  for (const auto& [name, shape, given] : parameters) {
    const Column<float> numbers(given, name.c_str(), 1, NaN::kept);
    if (formats::elements_of(shape) != numbers.size())
      throw InputError(fmt::format("{} has {} numbers, and its shape says otherwise", name, numbers.size()));
    model.parameters.push_back({name, shape, {numbers.values().begin(), numbers.values().end()}});
  }
  const Column<float> items(given_items, "item vectors", 2, NaN::kept);
  if (items.shape(0) != item_ids.size())
    throw InputError(fmt::format("{} item vectors and {} ids: one of each", items.shape(0), item_ids.size()));
  model.items = {
      "item_vectors", {items.shape(0), items.shape(1)}, {items.values().begin(), items.values().end()}};
  model.item_ids = std::move(item_ids);
  return unlocked([&] { return value_of(publish::export_own_model(run, model, format, out)).files; });
}

}  // namespace

}  // namespace sotto::python

NB_MODULE(_train, module) {
  using namespace sotto;
  using namespace sotto::python;
  module.doc() = "Training, and what reads a trained model: needs libtorch.";
  set_progress_style(ProgressStyle::silent);
  check(set_log_level("warn"));
  module.def(
      "recipes",
      [] {
        nb::list all;
        for (const auto& entry : recipes::recipes())
          all.append(nb::make_tuple(std::string(entry.name), std::string(entry.summary),
                                    std::string(entry.guarantee), entry.differentially_private));
        return all;
      },
      nb::sig("def recipes() -> list[tuple[str, str, str, bool]]"));
  module.def(
      "recipe_settings",
      [](const std::string& name, const std::vector<std::string>& choices) {
        const auto recipe = value_of(recipes::find_recipe(name))->make();
        SettingsTable table;
        check(recipes::bind_settings(*recipe, table, choices));
        return rows_of(table);
      },
      "name"_a, "choices"_a = std::vector<std::string>{},
      nb::sig("def recipe_settings(name: str, choices: collections.abc.Sequence[str] = ()) -> "
              "list[tuple[str, str, str, "
              "str, str]]"));
  module.def("train", &train, "recipe"_a, "dataset"_a, "data"_a, "out"_a, "seed"_a, "reproducible"_a,
             "resume"_a, "test_impressions"_a, "assignments"_a, "on_round"_a.none(),
             nb::sig("def train(recipe: str, dataset: sotto._core.data.Dataset, data: str | "
                     "os.PathLike[str], out: str | "
                     "os.PathLike[str], seed: int, reproducible: bool, resume: bool, test_impressions: int, "
                     "assignments: "
                     "collections.abc.Sequence[str], on_round: collections.abc.Callable[[dict[str, "
                     "typing.Any]], object] "
                     "| None) -> dict[str, typing.Any]"));
  module.def(
      "evaluate", &evaluate, "run"_a, "dataset"_a, "other_data"_a, "test_impressions"_a,
      nb::sig(
          "def evaluate(run: str | os.PathLike[str], dataset: sotto._core.data.Dataset, other_data: bool, "
          "test_impressions: int) -> dict[str, typing.Any]"));
  module.def(
      "train_own", &train_own, "update"_a, "initial"_a, "users"_a, "out"_a, "fold"_a.none(),
      "simulation_seed"_a.none(), "resume"_a, "on_round"_a.none(), "settings"_a,
      nb::sig(
          "def train_own(update: collections.abc.Callable[[int, int, numpy.typing.NDArray[numpy.float32]], "
          "typing.Any], initial: numpy.typing.NDArray[typing.Any], users: numpy.typing.NDArray[typing.Any], "
          "out: str | "
          "os.PathLike[str], fold: tuple[int, collections.abc.Callable[[int, "
          "numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]], typing.Any]] | None, "
          "simulation_seed: int | None, resume: "
          "bool, on_round: "
          "collections.abc.Callable[[dict[str, typing.Any]], object] | None, **settings: str | float | bool "
          "| "
          "None) -> numpy.typing.NDArray[numpy.float32]"));
  module.def(
      "own_model_settings",
      [] {
        recipes::OwnModelSettings settings;
        SettingsTable table;
        settings.bind(table);
        return rows_of(table);
      },
      nb::sig("def own_model_settings() -> list[tuple[str, str, str, str, str]]"));
  module.def(
      "export_run",
      [](const fs::path& run, const data::Dataset& dataset, const std::string& format, const fs::path& out) {
        return unlocked([&] {
          model::prepare_torch();
          const torch::NoGradGuard no_grad;
          return value_of(publish::export_run(run, dataset, format, out)).files;
        });
      },
      "run"_a, "dataset"_a, "format"_a, "out"_a,
      nb::sig("def export_run(run: str | os.PathLike[str], dataset: sotto._core.data.Dataset, format: str, "
              "out: str | os.PathLike[str]) -> list[str]"));
  module.def(
      "export_own", &export_own, "run"_a, "parameters"_a, "items"_a, "item_ids"_a, "format"_a, "out"_a,
      nb::sig("def export_own(run: str | os.PathLike[str], parameters: collections.abc.Sequence[tuple[str, "
              "collections.abc.Sequence[int], numpy.typing.NDArray[typing.Any]]], items: "
              "numpy.typing.NDArray[typing.Any], item_ids: collections.abc.Sequence[str], format: str, out: "
              "str | "
              "os.PathLike[str]) -> list[str]"));
  module.def(
      "import_run",
      [](const fs::path& run, const data::Dataset& dataset, const fs::path& file, const fs::path& out) {
        return unlocked([&] {
          model::prepare_torch();
          const torch::NoGradGuard no_grad;
          return value_of(publish::import_run(run, dataset, file, out)).unchanged;
        });
      },
      "run"_a, "dataset"_a, "file"_a, "out"_a,
      nb::sig("def import_run(run: str | os.PathLike[str], dataset: sotto._core.data.Dataset, file: str | "
              "os.PathLike[str], out: str | os.PathLike[str]) -> bool"));
  module.def(
      "write_metrics_files",
      [](const fs::path& run, const std::string& format) { check(eval::write_metrics_files(run, format)); },
      "run"_a, "format"_a,
      nb::sig("def write_metrics_files(run: str | os.PathLike[str], format: str) -> None"));
  nb::class_<GuardedVectors>(module, "Vectors", "Vectors of a trained run.")
      .def(
          "__init__",
          [](GuardedVectors* made, const fs::path& run, const data::Dataset& dataset) {
            unlocked([&] {
              model::prepare_torch();
              new (made) GuardedVectors(TrainedVectors(run, dataset));
            });
          },
          "run"_a, "dataset"_a,
          nb::sig(
              "def __init__(self, run: str | os.PathLike[str], dataset: sotto._core.data.Dataset) -> None"))
      .def_prop_ro("item_ids",
                   [](GuardedVectors& vectors) {
                     return vectors.use([](TrainedVectors& trained) { return trained.item_ids(); });
                   })
      .def(
          "items",
          [](GuardedVectors& vectors) {
            auto rows = vectors.use([](TrainedVectors& trained) { return trained.items(); });
            return matrix_of(std::move(rows.values), rows.width);
          },
          nb::sig("def items(self) -> numpy.typing.NDArray[numpy.float32]"), "[items, D]")
      .def(
          "readers",
          [](GuardedVectors& vectors, const std::vector<std::vector<data::ItemId>>& histories) {
            auto rows = vectors.use([&](TrainedVectors& trained) { return trained.readers(histories); });
            return matrix_of(std::move(rows.values), rows.width);
          },
          "histories"_a,
          nb::sig("def readers(self, histories: collections.abc.Sequence[collections.abc.Sequence[int]]) -> "
                  "numpy.typing.NDArray[numpy.float32]"),
          "[histories, D]: numbers of clicked items, oldest first.");
}
