#include "base/interrupt.h"
#include "bench/benchmarks.h"
#include "bench/peak_memory.h"
#include "trainer/commands.h"

namespace sotto::trainer {

namespace {

struct BenchChoice {
  std::string name;
  bool list = false;
  bench::BenchArguments arguments;
};

void report(const Output& output, const bench::BenchRow& row) {
  output.event({{"name", row.name},
                {"ours", row.ours},
                {"baseline", row.baseline},
                {"ratio", row.ratio},
                {"unit", row.unit},
                {"against", row.against},
                {"goal", row.goal},
                {"note", row.note},
                {"better", row.worse_when_larger ? "smaller" : "larger"}});
  output.text(
      fmt::format("{:<44} ", row.name),
      fmt::format("{:.4g} {} against {:.4g} ({}): {:.2f} times{}", row.ours, row.unit, row.baseline,
                  row.against, row.ratio, row.goal.empty() ? "" : fmt::format(" (goal: {})", row.goal)));
  if (!row.note.empty()) output.text("  ", row.note);
}

Status run_bench(const BenchChoice& choice, const Output& output) {
  std::vector<std::string> names;
  for (const auto& bench : bench::benchmarks()) {
    names.emplace_back(bench.name);
    if (choice.list) {
      output.event({{"name", bench.name}, {"help", bench.help}});
      output.text(fmt::format("{:<10} ", bench.name), bench.help);
    } else if (choice.name == bench.name) {
      if (choice.arguments.items && !bench.takes_items) {
        return bad_input("--items is for the benchmarks 'serving' and 'blind'");
      }
      if (choice.arguments.device && !bench.takes_device)
        return bad_input("--device is for the benchmarks 'limits', 'private' and 'blind'");
      if (choice.arguments.server && !bench.takes_server)
        return bad_input("--server is for the benchmark 'blind'");
      end_at_interrupt();
      bench::forget_peak_memory();
      SOTTO_TRY(const auto rows, bench.run(choice.arguments));
      for (const auto& row : rows) report(output, row);
      const double peak = bench::peak_memory();
      output.event({{"event", "memory"}, {"peak_bytes", peak}});
      output.text(fmt::format("peak memory: {:.0f} MB, the whole process", peak / 1e6));
      return {};
    }
  }
  if (choice.list) return {};
  if (choice.name.empty()) return bad_input("name a benchmark: 'sotto bench --list' lists them");
  const auto near = nearest(choice.name, names);
  return bad_input("unknown benchmark '{}'; {}'sotto bench --list' names them", choice.name,
                   near ? fmt::format("did you mean '{}'? ", *near) : "");
}

}  // namespace

void add_bench_command(CLI::App& app, Invocation& invocation) {
  auto choice = std::make_shared<BenchChoice>();
  CLI::App* command = add_command(app, "bench");
  command->add_option("name", choice->name, "Which one");
  command->add_flag("--list", choice->list, "Name them all");
  command->add_option("--items", choice->arguments.items,
                      "Items in the pool (serving, blind; default 1000000)");
  command->add_option("--device", choice->arguments.device,
                      "cpu or cuda (limits, private, blind; default cpu)");
  command->add_option("--server", choice->arguments.server,
                      "Address of a running server to ask instead (blind)");
  command->callback([choice, &invocation] {
    invocation.action = [choice, &invocation] { return run_bench(*choice, invocation.output); };
  });
}

}  // namespace sotto::trainer
