#include "eval/experiments/efficient_costs.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "base/distributions.h"
#include "base/interrupt.h"
#include "base/make_folder.h"
#include "base/progress.h"
#include "base/random.h"
#include "fl/split_training.h"
#include "model/bert/bert_model.h"
#include "model/news/model_registry.h"
#include "recipes/news_run.h"
#include "secagg/item_union/union_statistics.h"
#ifdef SOTTO_HAVE_PROTOCOL
#include "bench/secagg/timed_round.h"
#include "secagg/shared/parameters.h"
#endif

namespace sotto::eval {

std::int64_t bert_parameters(const model::BertConfig& config) {
  const std::int64_t d = config.hidden, norm = 2 * d;
  const std::int64_t attention = 4 * (d * d + d) + norm,
                     feed_forward = 2 * d * config.intermediate + config.intermediate + d + norm;
  return (config.vocabulary + config.positions + config.token_types) * d + norm +
         config.layers * (attention + feed_forward);
}

std::int64_t user_model_parameters() {
  constexpr std::int64_t size = 400, pooling = 200;
  constexpr std::int64_t attention = 3 * size * size, query = size * pooling + pooling + pooling;
  return attention + query;
}

std::int64_t plm_nr_parameters(const model::BertConfig& config) {
  constexpr std::int64_t size = 400, pooling = 200;
  return bert_parameters(config) + config.hidden * pooling + 2 * pooling + (config.hidden + 1) * size +
         user_model_parameters();
}

namespace {

double seconds_of(const std::function<void()>& work, const Clock& now = wall_seconds) {
  const double start = now();
  work();
  return now() - start;
}

}  // namespace

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double user_model_pass_seconds(std::int64_t clicks) {
  model::NewsShape shape;  // the papers'
  shape.word_size = 1;     // the news model is the server's
  auto items = std::make_shared<model::ItemFeatures>();
  items->titles.offsets = {0};
  const auto made = model::find_model("nrms").value()->make({shape, torch::zeros({1, 1}), items, {}});
  auto& towers = dynamic_cast<model::NewsRecommender&>(*made);
  const torch::Tensor vectors = torch::randn({clicks, towers.vector_size()}).set_requires_grad(true);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(clicks));
  std::iota(rows.begin(), rows.end(), 0);
  model::Histories history;
  history.add(rows);
  const auto pass = [&] {
    model::Pass training = model::Pass::train(1, 1);
    towers.encode_users(vectors, history, training).sum().backward();
  };
  pass();  // the first one also sets up libraries
  return seconds_of(pass);
}

double mean_seconds(std::int64_t clients, std::int64_t numbers) {
  const std::int64_t timed = std::min<std::int64_t>(numbers, 1 << 22);
  const torch::Tensor update = torch::ones({timed});
  torch::Tensor sum = torch::zeros({timed});
  const double seconds = seconds_of([&] {
    for (std::int64_t client = 0; client < clients; ++client) sum.add_(update);
    sum.div_(static_cast<double>(clients));
  });
  return seconds * static_cast<double>(numbers) / static_cast<double>(timed);
}

double bert_pass_seconds(const model::BertConfig& config, std::int64_t titles, std::int64_t pieces) {
  model::BertModel bert(config);
  bert.random_start();
  std::vector<std::int64_t> words, offsets = {0};
  for (std::int64_t title = 0; title < titles; ++title) {
    for (std::int64_t i = 0; i < pieces; ++i) words.push_back((title * pieces + i) % config.vocabulary);
    offsets.push_back(static_cast<std::int64_t>(words.size()));
  }
  const model::Segments texts(std::move(offsets));
  return seconds_of([&] { bert.forward(words, texts).sum().backward(); });
}

namespace {

constexpr std::uint64_t grouping_seed = 1;
constexpr std::size_t max_history = 50, negatives_per_click = 4;

// Seconds of a client and of the server for one secure sum; nothing when this build has none.
struct SumSeconds {
  double client = NAN, server = NAN;
};

Result<SumSeconds> secure_sum_seconds([[maybe_unused]] std::int64_t group,
                                      [[maybe_unused]] std::size_t numbers) {
#ifdef SOTTO_HAVE_PROTOCOL
  constexpr unsigned bits = 16;
  SOTTO_TRY(const auto parameters, secagg::find_parameters({.clients = static_cast<std::uint32_t>(group),
                                                            .corrupted = 0.1,
                                                            .dropping = 0.1,
                                                            .server = secagg::ServerModel::semi_honest}));
  SOTTO_TRY(const auto timing, bench::time_round(parameters, {numbers, bits}, 0,
                                                 [&](std::uint32_t client) -> Result<secagg::RingVector> {
                                                   const std::vector<std::uint32_t> same(numbers, client);
                                                   return secagg::RingVector::of(std::span(same), bits);
                                                 }));
  return SumSeconds{timing.client_seconds, timing.server_seconds};
#else
  return SumSeconds{};
#endif
}

}  // namespace

std::vector<std::vector<std::uint32_t>> training_items(const data::Dataset& dataset, std::size_t negatives,
                                                       std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> sets;
  for (std::size_t user = 0; user < dataset.user_count(); ++user) {
    std::vector<std::uint32_t> items;
    SeededRandom random(seed, Purpose::negative_sampling, 0, static_cast<std::uint32_t>(user));
    const auto [first, last] = dataset.impressions_of(static_cast<data::UserId>(user));
    for (std::size_t i = first; i < last; ++i) {
      const data::Impression impression = dataset.impression(i);
      if (impression.split != data::Split::train) continue;
      const auto recent = impression.history.last(std::min(max_history, impression.history.size()));
      items.insert(items.end(), recent.begin(), recent.end());
      std::vector<std::uint32_t> others;
      std::size_t clicks = 0;
      for (std::size_t j = 0; j < impression.shown.size(); ++j) {
        if (impression.clicked[j] == 0) {
          others.push_back(impression.shown[j]);
        } else {
          items.push_back(impression.shown[j]);
          ++clicks;
        }
      }
      for (std::size_t drawn = 0; drawn < clicks * negatives && !others.empty(); ++drawn)
        items.push_back(others[uniform_below(random, others.size())]);
    }
    if (!items.empty()) sets.push_back(std::move(items));
  }
  return sets;
}

Result<GridExtra> group_costs(const data::Dataset& dataset, const std::vector<std::int64_t>& group_sizes,
                              std::size_t numbers) {
  GridExtra extra;
  const auto sets = training_items(dataset, negatives_per_click, grouping_seed);
  ReportTable table;
  for (const char* heading :
       {"group size", "items of one user", "union of the group", "held by one user alone, %",
        "client seconds of a secure sum", "server seconds of a secure sum"})
    table.columns.push_back({heading, Better::neither});
  Plot unions, seconds;
  unions.title = "Union of a group's items";
  unions.y_label = "distinct items";
  seconds.title = "Secure aggregation";
  seconds.y_label = "seconds per client";
  for (Plot* plot : {&unions, &seconds}) {
    plot->x_label = "users in a group";
    plot->series = {{"", SeriesStyle::line_and_points, {}, {}, {}}};
  }
  Progress progress("secure sums", group_sizes.size(), "groups");
  for (const std::int64_t group : group_sizes) {
    if (interrupted()) return failed("stopped while secure sums were timed");
    progress.advance();
    if (static_cast<std::size_t>(group) > sets.size()) continue;
    SOTTO_TRY(const auto statistics,
              secagg::union_statistics(sets, static_cast<std::uint64_t>(group), grouping_seed));
    SOTTO_TRY(const SumSeconds sum, secure_sum_seconds(group, numbers));
    table.rows.push_back(
        {TableCell::number(static_cast<double>(group), 0), TableCell::number(statistics.items_per_user, 1),
         TableCell::number(statistics.union_size, 1), TableCell::number(100 * statistics.singleton_share, 1),
         TableCell::number(sum.client, 4), TableCell::number(sum.server, 4)});
    for (Plot* plot : {&unions, &seconds}) plot->series[0].x.push_back(static_cast<double>(group));
    unions.series[0].y.push_back(statistics.union_size);
    seconds.series[0].y.push_back(sum.client);
  }
  extra.tables.push_back({"groups", std::move(table)});
  extra.plots.emplace_back("unions", std::move(unions));
  extra.plots.emplace_back("secure-aggregation", std::move(seconds));
  return extra;
}

namespace {

struct OwnWork {
  double client = 0, server = 0;
};

// The server averages gradients of the whole model.
Result<OwnWork> whole_model_work(recipes::NewsRun& run, std::span<const data::UserId> group,
                                 const Clock& now) {
  OwnWork work;
  run.training().user_gradient(0, group.front());  // the first one also sets up libraries
  for (const data::UserId user : group)
    work.client +=
        seconds_of([&] { run.training().user_gradient(0, user); }, now) / static_cast<double>(group.size());
  work.server =
      mean_seconds(static_cast<std::int64_t>(group.size()), static_cast<std::int64_t>(run.dimension()));
  return work;
}

// The server infers the vectors of the group's items and carries their gradients back.
Result<OwnWork> split_model_work(recipes::NewsRun& run, std::span<const data::UserId> group,
                                 const Clock& now) {
  SOTTO_TRY(auto split, fl::SplitTraining::create(run.training(), run.model()));
  OwnWork work;
  std::set<data::ItemId> together;
  bool first = true;
  for (const data::UserId user : group) {
    const std::vector<data::ItemId> items = split.items_of(0, user);
    together.insert(items.begin(), items.end());
    const torch::Tensor vectors = split.infer(items), encoder = split.user_encoder().clone();
    Status computed;
    const auto compute = [&] {
      computed = split.devices(0, {&user, 1}, items, vectors, encoder,
                               [](data::UserId, const fl::DeviceGradients&) -> Status { return {}; });
    };
    if (std::exchange(first, false)) compute();
    work.client += seconds_of(compute, now) / static_cast<double>(group.size());
    SOTTO_CHECK(computed);
  }
  const std::vector<data::ItemId> all(together.begin(), together.end());
  const torch::Tensor update = torch::ones({static_cast<std::int64_t>(split.dimension(all.size()))});
  work.server = seconds_of(
      [&] {
        split.infer(all);
        split.whole_gradient(all, update);
      },
      now);
  return work;
}

struct TimedSystem {
  const char *label, *model;
  bool split;
  double paper_seconds;  // of a client; 0: not in the paper
};

}  // namespace

Result<GridExtra> own_work(const data::Dataset& dataset, std::int64_t group, bool quick, const Clock& now) {
  constexpr TimedSystem systems[] = {{"FedRec", "fednewsrec", false, 0},
                                     {"FedRec(BERT tiny)", "plm-nr", false, 0.69},
                                     {"Efficient-FedRec(BERT tiny)", "plm-nr", true, 0.02},
                                     {"Efficient-FedRec(NRMS)", "nrms", true, 0}};
  GridExtra extra;
  extra.note =
      "Seconds of one client alone, the mean over the clients of a round, and of the server, on this "
      "machine.";
  ReportTable table;
  for (const char* heading : {"system", "client seconds", "paper", "server seconds"})
    table.columns.push_back({heading, Better::neither});
  Plot plot;
  plot.title = "Seconds of one client in a round";
  plot.y_label = "seconds";
  plot.log_y = true;
  plot.series = {{"", SeriesStyle::points, {}, {}, {}}};
  Progress progress("own work", std::size(systems), "systems");
  for (const TimedSystem& system : systems) {
    if (interrupted()) return failed("stopped while a client's own work was timed");
    const fs::path folder =
        fs::temp_directory_path() / fmt::format("sotto-own-work-{}-{}", ::getpid(), system.model);
    SOTTO_CHECK(make_folder(folder));
    recipes::NewsSettings settings;
    settings.model = system.model;
    settings.shape.train_words = true;
    settings.data.validation_impressions = 0;
    settings.bert.size = "tiny";
    if (quick) settings.shape.word_size = 32, settings.shape.heads = 4, settings.shape.head_size = 8;
    const recipes::RunRequest request{dataset, folder};
    const auto measured = [&]() -> Result<OwnWork> {
      SOTTO_TRY(auto run, recipes::NewsRun::prepare(settings, request));
      const auto& users = run.data().users;
      const auto drawn =
          std::span(users).first(std::min<std::size_t>(users.size(), static_cast<std::size_t>(group)));
      return system.split ? split_model_work(run, drawn, now) : whole_model_work(run, drawn, now);
    }();
    std::error_code left_there;
    fs::remove_all(folder, left_there);
    SOTTO_TRY(const OwnWork work, measured);
    table.rows.push_back(
        {TableCell::words(system.label), TableCell::number(work.client, 4),
         system.paper_seconds > 0 ? TableCell::number(system.paper_seconds, 2) : TableCell::words(""),
         TableCell::number(work.server, 4)});
    plot.series[0].x.push_back(static_cast<double>(plot.categories.size()));
    plot.series[0].y.push_back(work.client);
    plot.categories.emplace_back(system.label);
    progress.advance();
  }
  extra.tables.push_back({"own-work", std::move(table)});
  extra.plots.emplace_back("client-seconds", std::move(plot));
  return extra;
}

}  // namespace sotto::eval
