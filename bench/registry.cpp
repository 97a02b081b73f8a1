#include <fmt/format.h>

#include <array>

#include "bench/benchmarks.h"
#ifdef SOTTO_HAVE_TORCH
#include "model/tensor.h"
#endif

namespace sotto::bench {

namespace {

BenchRows noise(const BenchArguments&) {
  SOTTO_TRY(const auto measured, bench_noise());
  std::vector<BenchRow> rows;
  for (const auto& row : measured)
    rows.push_back({fmt::format("{}, sigma {:g}", row.noise, row.sigma), row.ours, row.baseline_rate,
                    row.ours / row.baseline_rate, "samples/s/core", row.baseline});
  return rows;
}

BenchRows pld(const BenchArguments&) {
  SOTTO_TRY(const auto bench, bench_pld());
  BenchRow row{"pld, 1000 rounds",         bench.ours_upper_ms, bench.baseline_ms, bench.ratio, "ms",
               "one convolution per round"};
  row.note =
      fmt::format("with lower bound {:.1f} ms; epsilon {:.6g} (tight value at least {:.6g}), baseline {:.6g}",
                  bench.ours_ms, bench.ours_epsilon, bench.ours_lower, bench.baseline_epsilon);
  return std::vector{row};
}

BenchRows serving_pool(const BenchArguments& arguments) {
  ServingBench settings;
  if (arguments.items) settings.items = *arguments.items;
  return bench_serving(settings);
}

BenchRows blind_pool(const BenchArguments& arguments) {
#ifdef SOTTO_HAVE_NET
  if (arguments.server) {
    if (arguments.items || arguments.device)
      return bad_input("--server measures the server as it runs: leave --items and --device out");
    return bench_blind_over_http(*arguments.server);
  }
#else
  if (arguments.server) return bad_input("this build has no HTTP: --server needs Boost and OpenSSL");
#endif
#ifdef SOTTO_HAVE_TORCH
  if (arguments.device == "cuda") return bench_blind_on_gpu(arguments.items.value_or(1'000'000));
#endif
  if (arguments.device && arguments.device != "cpu")
    return bad_input("--device {}: blind serving is measured on cpu, and on cuda by a build with libtorch",
                     *arguments.device);
#ifdef SOTTO_HAVE_NET
  return arguments.items ? bench_blind(*arguments.items) : bench_blind();
#else
  return bad_input(
      "this build has no libsodium, FlatBuffers, Boost or OpenSSL: it measures blind serving with --device "
      "cuda alone");
#endif
}

#ifdef SOTTO_HAVE_TORCH
template <BenchRows (*bench)()>
BenchRows with_torch(const BenchArguments&) {
  model::prepare_torch();
  return bench();
}

BenchRows limits(const BenchArguments& arguments) {
  model::prepare_torch();
  return bench_limits(arguments.device.value_or("cpu"));
}

BenchRows private_rounds(const BenchArguments& arguments) {
  model::prepare_torch();
  return bench_private(arguments.device.value_or("cpu"));
}
#endif

constexpr std::array registry = {
#ifdef SOTTO_HAVE_TORCH
    Benchmark{"limits", "what this machine can do at most: all threads against one", false, &limits, true},
    Benchmark{"step", "a training step against a bare matrix product and a padded libtorch model", false,
              &with_torch<bench_step>},
    Benchmark{"cohort", "rounds of 50 users against one user after another", false,
              &with_torch<bench_cohort>},
    Benchmark{"memory", "peak memory of rounds of 1,000 users", false, &with_torch<bench_memory>},
    Benchmark{"private", "private rounds of 1,000 users against plain ones of the same updates", false,
              &private_rounds, true},
#endif
#ifdef SOTTO_HAVE_PROTOCOL
    Benchmark{"masks", "masking of vectors against the bare cipher", false,
              [](const BenchArguments&) { return bench_masks(); }},
    Benchmark{"secagg", "rounds of secure aggregation against a textbook implementation", false,
              [](const BenchArguments&) { return bench_secagg(); }},
#endif
    Benchmark{"blind", "ranking of encrypted questions against plain products, Paillier and Tiptoe", true,
              &blind_pool, true, true},
    Benchmark{"serving", "search of the live pool against searches over full vectors", true, &serving_pool},
#ifdef SOTTO_HAVE_TORCH
    Benchmark{"copies", "local training of many users' copies at once against one user after another", false,
              &with_torch<bench_copies>},
#endif
    Benchmark{"union", "unions over a million items against one entry per item", false,
              [](const BenchArguments&) { return bench_union(); }},
    Benchmark{"noise", "integer-grid noise against straightforward samplers", false, &noise},
    Benchmark{"pld", "privacy loss distributions of 1,000 rounds against round-by-round convolution", false,
              &pld}};

}  // namespace

std::span<const Benchmark> benchmarks() { return registry; }

}  // namespace sotto::bench
