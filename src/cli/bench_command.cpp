#include <array>

#include "cli/command.h"
#include "privacy/accounting/bench_pld.h"
#include "privacy/noise/bench_noise.h"

namespace sotto::cli {

namespace {

// One measured comparison: ours and the baseline ran in the same process and gave the same answer.
void report(const Output& output, const std::string& name, double ours, double baseline, double ratio,
            const std::string& unit, const std::string& against) {
  output.event({{"name", name},
                {"ours", ours},
                {"baseline", baseline},
                {"ratio", ratio},
                {"unit", unit},
                {"against", against}});
  output.text(fmt::format("{:<34} {:>12.4g} {} against {:.4g} ({}): {:.1f} times", name, ours, unit, baseline,
                          against, ratio));
}

Status noise(const Output& output) {
  SOTTO_TRY(const auto rows, bench_noise());
  for (const auto& row : rows)
    report(output, fmt::format("{}, sigma {:g}", row.noise, row.sigma), row.ours, row.baseline_rate,
           row.ours / row.baseline_rate, "samples/s/core", row.baseline);
  return {};
}

Status pld(const Output& output) {
  SOTTO_TRY(const auto bench, bench_pld());
  report(output, "pld, 1000 rounds", bench.ours_upper_ms, bench.baseline_ms, bench.ratio, "ms",
         "one convolution per round");
  output.text(
      fmt::format("with lower bound {:.1f} ms; epsilon {:.6g} (tight value at least {:.6g}), baseline {:.6g}",
                  bench.ours_ms, bench.ours_epsilon, bench.ours_lower, bench.baseline_epsilon));
  return {};
}

struct Bench {
  const char *name, *help;
  Status (*run)(const Output&);
};
constexpr std::array benches = {
    Bench{"noise", "integer-grid noise against straightforward samplers", &noise},
    Bench{"pld", "privacy loss distributions of 1,000 rounds against round-by-round convolution", &pld}};

Status run_bench(const std::string& name, bool list, const Output& output) {
  std::vector<std::string> names;
  for (const auto& bench : benches) {
    names.emplace_back(bench.name);
    if (list) {
      output.event({{"name", bench.name}, {"help", bench.help}});
      output.text(fmt::format("{:<10} {}", bench.name, bench.help));
    } else if (name == bench.name) {
      return bench.run(output);
    }
  }
  if (list) return {};
  const auto near = nearest(name, names);
  return bad_input("unknown benchmark '{}'; {}'sotto bench --list' names them", name,
                   near ? fmt::format("did you mean '{}'? ", *near) : "");
}

}  // namespace

void add_bench_command(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string name;
    bool list = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("bench", "Measured ratios, baseline in the same run");
  command->add_option("name", arguments->name, "Which one");
  command->add_flag("--list", arguments->list, "Name them all");
  command->callback([arguments, &invocation] {
    invocation.action = [arguments, &invocation] {
      return run_bench(arguments->name, arguments->list, invocation.output);
    };
  });
}

}  // namespace sotto::cli
