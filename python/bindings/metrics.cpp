// sotto.metrics: ranking metrics of many impressions or users at once, on all threads.
#include <algorithm>

#include "bindings/bindings.h"
#include "metrics/mean.h"
#include "metrics/ranking.h"

namespace sotto::python {

using namespace nb::literals;

namespace {

// Offsets of n lists over `values` values: ascending from 0 to the end.
void check_offsets(std::span<const std::uint64_t> offsets, std::size_t values, const char* what) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != values)
    throw InputError(
        fmt::format("offsets must begin with 0 and end with the number of {}, {}", what, values));
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] < offsets[i - 1])
      throw InputError(fmt::format("offsets must ascend, and offset {} is below the one before", i));
}

struct PerImpression {
  std::vector<double> auc, mrr, ndcg5, ndcg10;
};

nb::dict to_python(const metrics::ImpressionMetrics& metrics) {
  nb::dict made;
  made["auc"] = metrics.auc;
  made["mrr"] = metrics.mrr;
  made["ndcg5"] = metrics.ndcg5;
  made["ndcg10"] = metrics.ndcg10;
  return made;
}

void check_lengths(const Column<float>& scores, const Column<std::uint8_t>& clicked) {
  if (scores.size() != clicked.size())
    throw InputError(fmt::format("{} scores and {} marks of clicks: one of each per item shown",
                                 scores.size(), clicked.size()));
}

// Marks are yes or no: what is graded has another metric.
void check_marks(const Column<std::uint8_t>& marks, const char* name) {
  const auto values = marks.values();
  const auto graded = std::find_if(values.begin(), values.end(), [](std::uint8_t mark) { return mark > 1; });
  if (graded != values.end())
    throw InputError(
        fmt::format("value {} of {} is {}, must be 0 or 1", graded - values.begin(), name, *graded));
}

nb::object mean_impressions(const GivenArray& given_scores, const GivenArray& given_clicked,
                            const GivenArray& given_offsets) {
  const Column<float> scores(given_scores, "scores", 1, NaN::refused, Memory::shared);
  const Column<std::uint8_t> clicked(given_clicked, "clicked");
  const Column<std::uint64_t> offsets(given_offsets, "offsets");
  check_lengths(scores, clicked);
  check_marks(clicked, "clicked");
  const auto starts = offsets.values();
  check_offsets(starts, scores.size(), "scores");
  const auto mean = unlocked([&] {
    return metrics::sum_in_chunks<metrics::ImpressionMetricsSum>(
               starts.size() - 1,
               [&](std::size_t begin, std::size_t end, metrics::ImpressionMetricsSum& sum) {
                 for (std::size_t i = begin; i < end; ++i)
                   sum.add(metrics::impression_metrics(
                       scores.values().subspan(starts[i], starts[i + 1] - starts[i]),
                       clicked.values().subspan(starts[i], starts[i + 1] - starts[i])));
               })
        .mean();
  });
  nb::dict made = to_python(mean.mean);
  made["error"] = to_python(mean.error);
  made["counted"] = mean.counted;
  made["left_out"] = mean.left_out;
  return std::move(made);
}

nb::dict to_python(const metrics::HeldOutMetrics& metrics) {
  nb::dict made;
  for (std::size_t c = 0; c < std::size(metrics::HeldOutMetrics::cutoffs); ++c) {
    const int k = metrics::HeldOutMetrics::cutoffs[c];
    made[fmt::format("hits{}", k).c_str()] = metrics.hits[c];
    made[fmt::format("ndcg{}", k).c_str()] = metrics.ndcg[c];
  }
  return made;
}

nb::object mean_held_out(const GivenArray& given_scores, const GivenArray& given_excluded,
                         const GivenArray& given_held_out, const GivenArray& given_offsets) {
  const Column<float> scores(given_scores, "scores", 2, NaN::refused, Memory::shared);
  const Column<std::uint8_t> excluded(given_excluded, "excluded", 2);
  const Column<std::uint32_t> held_out(given_held_out, "held_out");
  const Column<std::uint64_t> offsets(given_offsets, "offsets");
  check_marks(excluded, "excluded");
  const std::size_t users = scores.shape(0), items = scores.shape(1);
  if (excluded.shape(0) != users || excluded.shape(1) != items)
    throw InputError(fmt::format("scores are {} x {} and excluded is {} x {}: both users x items", users,
                                 items, excluded.shape(0), excluded.shape(1)));
  const auto starts = offsets.values();
  check_offsets(starts, held_out.size(), "held-out items");
  if (starts.size() != users + 1)
    throw InputError(fmt::format("{} offsets for {} users: one more than users", starts.size(), users));
  for (const std::uint32_t item : held_out.values())
    if (item >= items) throw InputError(fmt::format("held-out item {} is not below {}", item, items));
  std::uint64_t tested = 0;
  const auto mean = unlocked([&] {
    const auto sum = metrics::sum_in_chunks<metrics::HeldOutMetricsSum>(
        users, [&](std::size_t begin, std::size_t end, metrics::HeldOutMetricsSum& part) {
          std::vector<float> row(items);  // looks a score up that must not have changed since it was sorted
          for (std::size_t user = begin; user < end; ++user) {
            if (starts[user] == starts[user + 1]) continue;
            std::copy_n(scores.values().data() + user * items, items, row.begin());
            part.add(metrics::held_out_metrics(
                row, excluded.values().subspan(user * items, items),
                held_out.values().subspan(starts[user], starts[user + 1] - starts[user])));
          }
        });
    tested = sum.count();
    return sum.mean();
  });
  nb::dict made = to_python(mean);
  made["users"] = tested;
  return std::move(made);
}

}  // namespace

void bind_metrics(nb::module_& module) {
  module.def(
      "impression_metrics",
      [](const GivenArray& given_scores, const GivenArray& given_clicked) -> std::optional<nb::dict> {
        const Column<float> scores(given_scores, "scores", 1, NaN::refused, Memory::shared);
        const Column<std::uint8_t> clicked(given_clicked, "clicked");
        check_lengths(scores, clicked);
        check_marks(clicked, "clicked");
        const auto metrics = metrics::impression_metrics(scores.values(), clicked.values());
        return metrics ? std::optional(to_python(*metrics)) : std::nullopt;
      },
      "scores"_a, "clicked"_a,
      nb::sig("def impression_metrics(scores: numpy.typing.NDArray[typing.Any], clicked: "
              "numpy.typing.NDArray[typing.Any]) -> "
              "dict[str, float] | None"),
      "AUC, MRR and nDCG of one impression, ties averaged. None where there is no order to judge.");
  module.def(
      "mean_impression_metrics", &mean_impressions, "scores"_a, "clicked"_a, "offsets"_a,
      nb::sig("def mean_impression_metrics(scores: numpy.typing.NDArray[typing.Any], clicked: "
              "numpy.typing.NDArray[typing.Any], "
              "offsets: numpy.typing.NDArray[typing.Any]) -> dict[str, typing.Any]"),
      "The mean over many impressions, those of impression i at [offsets[i], offsets[i+1]), with standard "
      "errors. Impressions without an order to judge are left out and counted.");
  module.def(
      "mean_held_out_metrics", &mean_held_out, "scores"_a, "excluded"_a, "held_out"_a, "offsets"_a,
      nb::sig("def mean_held_out_metrics(scores: numpy.typing.NDArray[typing.Any], excluded: "
              "numpy.typing.NDArray[typing.Any], "
              "held_out: numpy.typing.NDArray[typing.Any], offsets: numpy.typing.NDArray[typing.Any]) -> "
              "dict[str, typing.Any]"),
      "Hits@k and nDCG@k of held-out items against all items that a user never touched: scores [users, "
      "items], "
      "1 in `excluded` for what was touched; user u's held-out items at [offsets[u], offsets[u+1]).");
}

}  // namespace sotto::python
