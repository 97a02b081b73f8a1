#include <array>
#include <optional>

#include "cli/command.h"
#include "fl/bench/bench_training.h"
#include "fl/bench_copies.h"
#include "model/blas_check.h"
#include "privacy/accounting/bench_pld.h"
#include "privacy/noise/bench_noise.h"
#include "secagg/item_union/bench_union.h"
#include "serving/bench/bench_serving.h"
#ifdef SOTTO_HAVE_PROTOCOL
#include "secagg/bench/bench_masks.h"
#include "secagg/bench/bench_secagg.h"
#endif

namespace sotto::cli {

namespace {

struct BenchArguments {
  std::string name;
  bool list = false;
  std::optional<std::size_t> items;  // of the pool; for serving
};

void report(const Output& output, const BenchRow& row) {
  output.event({{"name", row.name},
                {"ours", row.ours},
                {"baseline", row.baseline},
                {"ratio", row.ratio},
                {"unit", row.unit},
                {"against", row.against},
                {"goal", row.goal}});
  output.text(fmt::format("{:<52} {:>10.4g} {} against {:.4g} ({}): {:.2f} times{}", row.name, row.ours,
                          row.unit, row.baseline, row.against, row.ratio,
                          row.goal.empty() ? "" : fmt::format(" (goal: {})", row.goal)));
}

Status report(const Output& output, const Result<std::vector<BenchRow>>& rows) {
  if (!rows) return tl::unexpected(rows.error());
  for (const auto& row : *rows) report(output, row);
  return {};
}

Status noise(const Output& output, const BenchArguments&) {
  SOTTO_TRY(const auto rows, bench_noise());
  for (const auto& row : rows)
    report(output, {fmt::format("{}, sigma {:g}", row.noise, row.sigma), row.ours, row.baseline_rate,
                    row.ours / row.baseline_rate, "samples/s/core", row.baseline});
  return {};
}

Status pld(const Output& output, const BenchArguments&) {
  SOTTO_TRY(const auto bench, bench_pld());
  report(output, {"pld, 1000 rounds", bench.ours_upper_ms, bench.baseline_ms, bench.ratio, "ms",
                  "one convolution per round"});
  output.text(
      fmt::format("with lower bound {:.1f} ms; epsilon {:.6g} (tight value at least {:.6g}), baseline {:.6g}",
                  bench.ours_ms, bench.ours_epsilon, bench.ours_lower, bench.baseline_epsilon));
  return {};
}

Status step(const Output& output, const BenchArguments&) {
  return prepare_torch(), report(output, bench_step());
}
Status cohort(const Output& output, const BenchArguments&) {
  return prepare_torch(), report(output, bench_cohort());
}
Status memory(const Output& output, const BenchArguments&) {
  return prepare_torch(), report(output, bench_memory());
}
Status copies(const Output& output, const BenchArguments&) {
  return prepare_torch(), report(output, bench_copies());
}
Status item_union(const Output& output, const BenchArguments&) { return report(output, bench_union()); }
Status serving_pool(const Output& output, const BenchArguments& arguments) {
  serving::ServingBench settings;
  if (arguments.items) settings.items = *arguments.items;
  return report(output, serving::bench_serving(settings));
}
#ifdef SOTTO_HAVE_PROTOCOL
Status masks(const Output& output, const BenchArguments&) { return report(output, bench_masks()); }
Status secagg(const Output& output, const BenchArguments&) { return report(output, bench_secagg()); }
#endif

struct Bench {
  const char *name, *help;
  Status (*run)(const Output&, const BenchArguments&);
};
constexpr std::array benches = {
    Bench{"step", "a training step against a bare matrix product and a padded libtorch model", &step},
    Bench{"cohort", "rounds of 50 users against one user after another", &cohort},
    Bench{"memory", "peak memory of rounds of 1,000 users", &memory},
#ifdef SOTTO_HAVE_PROTOCOL
    Bench{"masks", "masking of vectors against the bare cipher", &masks},
    Bench{"secagg", "rounds of secure aggregation against a textbook implementation", &secagg},
#endif
    Bench{"serving", "search of the live pool against searches over full vectors", &serving_pool},
    Bench{"copies", "local training of many users' copies at once against one user after another", &copies},
    Bench{"union", "unions over a million items against one entry per item", &item_union},
    Bench{"noise", "integer-grid noise against straightforward samplers", &noise},
    Bench{"pld", "privacy loss distributions of 1,000 rounds against round-by-round convolution", &pld}};

Status run_bench(const BenchArguments& arguments, const Output& output) {
  std::vector<std::string> names;
  for (const auto& bench : benches) {
    names.emplace_back(bench.name);
    if (arguments.list) {
      output.event({{"name", bench.name}, {"help", bench.help}});
      output.text(fmt::format("{:<10} {}", bench.name, bench.help));
    } else if (arguments.name == bench.name) {
      if (arguments.items && bench.run != &serving_pool) {
        return bad_input("--items is for the benchmark 'serving'");
      }
      return bench.run(output, arguments);
    }
  }
  if (arguments.list) return {};
  const auto near = nearest(arguments.name, names);
  return bad_input("unknown benchmark '{}'; {}'sotto bench --list' names them", arguments.name,
                   near ? fmt::format("did you mean '{}'? ", *near) : "");
}

}  // namespace

void add_bench_command(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command = app.add_subcommand("bench", "Measured ratios, baseline in the same run");
  command->add_option("name", arguments->name, "Which one");
  command->add_flag("--list", arguments->list, "Name them all");
  command->add_option("--items", arguments->items, "Items in the pool (serving; default 1000000)");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] { return run_bench(*arguments, invocation.output); };
  });
}

}  // namespace sotto::cli
