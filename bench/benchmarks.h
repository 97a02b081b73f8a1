#pragma once
// Measured ratios: ours and the baseline always run in the same process and give the same answer, or the
// benchmark fails. `benchmarks()` is the registry that `sotto bench` reads.

#include <time.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace sotto::bench {

struct BenchRow {
  std::string name;
  double ours = 0;
  double baseline = 0;
  double ratio =
      0;  // how many times better than the baseline; where worse_when_larger, how many times longer
  std::string unit;
  std::string against;    // what the baseline is
  std::string goal = {};  // what was to be reached, in words; empty: nothing in particular
  std::string note = {};  // a line to print below the row
  bool worse_when_larger = false;
};
using BenchRows = Result<std::vector<BenchRow>>;

struct BenchArguments {
  std::optional<std::size_t> items;   // of the pool; for `serving` and `blind`
  std::optional<std::string> device;  // cpu or cuda; for `limits`, `private` and `blind`
  std::optional<std::string> server;  // address of a running one; for `blind`
};

struct Benchmark {
  const char *name, *help;
  bool takes_items;
  BenchRows (*run)(const BenchArguments& arguments);
  bool takes_device = false, takes_server = false;
};
// Those that this build can run.
std::span<const Benchmark> benchmarks();

inline double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
inline double process_seconds() { return seconds_on(CLOCK_PROCESS_CPUTIME_ID); }
inline double thread_seconds() { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }
inline double wall_seconds() { return seconds_on(CLOCK_MONOTONIC); }

// ---- privacy

struct NoiseBenchRow {
  std::string noise;     // "discrete Gaussian"
  std::string baseline;  // what the ratio compares with
  double sigma = 0;
  double ours = 0;            // samples per second and core, random bits of the secure generator included
  double baseline_rate = 0;   // same unit
  double variance_ratio = 0;  // measured over stated variance: the expected answer is 1
};
// Every noise at σ = 1, 100, 10^4, 10^6 beside a straightforward sampler; about `seconds` of the calling
// thread's processor time per row. Fails when a measured variance is not the stated one.
Result<std::vector<NoiseBenchRow>> bench_noise(double seconds = 0.2);

struct PldBenchSettings {
  double noise_multiplier = 1.0;
  double rate = 0.01;
  std::uint64_t rounds = 1000;
  double delta = 1e-6;
  int repeats = 5;  // ours is the fastest of these
};
struct PldBench {
  double ours_ms = 0;        // bracket: upper and lower bound, both directions
  double ours_upper_ms = 0;  // upper bound alone
  double baseline_ms = 0;    // upper bound alone, round by round
  double ratio = 0;          // baseline_ms / ours_upper_ms
  double ours_epsilon = 0;   // upper bound
  double ours_lower = 0;
  double baseline_epsilon = 0;
};
// The accountant beside the same pessimistic lattice laws with one FFT convolution per round. An error when
// the two upper bounds differ by more than 0.1 %.
Result<PldBench> bench_pld(const PldBenchSettings& settings = {});

// ---- secure aggregation

// The union of item sets over a catalogue of a million items: the sparse forms beside one entry per item, in
// processor time of the calling thread. Fails when an answer differs from the union computed in the clear.
BenchRows bench_union();

// For every word width: bytes of mask added to a vector of 2^20 entries per second of
// processor time, beside the same cipher writing its stream and doing nothing with it. About `seconds` per
// row. Fails when the masked vector is not the one a plain loop over the whole stream gives.
BenchRows bench_masks(double seconds = 0.3);

// Whole rounds beside a textbook implementation and beside fixed targets.
struct SecAggBenchSettings {
  bool small = true;   // 50 clients × 1.1 million entries
  bool medium = true;  // 100 clients × 2^20 entries, 5 lost, beside the textbook
  bool large = true;   // 1,000 clients × 2^17 entries, 100 lost
};
// Entries of 16 bits. Every sum is compared with the plain one; a difference is an error.
BenchRows bench_secagg(const SecAggBenchSettings& settings = {});

// ---- serving

struct ServingBench {
  std::size_t items = 1'000'000;
  std::size_t graph_items = 200'000;  // hnswlib takes minutes to build its graph
};
// Searching the live pool against libraries that search full vectors. Without faiss and hnswlib the baseline
// is an exhaustive scan of the vectors.
BenchRows bench_serving(const ServingBench& settings = {});

// Blind serving of so many made-up items. Fails when a decrypted product is not the plain one.
BenchRows bench_blind(std::size_t items = 1'000'000);

// Questions to a running server, by numbers of connections. Fails when an answer is not the first one.
BenchRows bench_blind_over_http(const std::string& url);

// The server's pass over so many items on a GPU. Fails when an answer differs from the CPU's.
BenchRows bench_blind_on_gpu(std::size_t items = 1'000'000);

// Ranking on the device: what a server returned against the whole pool.
Result<BenchRow> bench_device_ranking();

// ---- training

// What this machine can do at most, on all threads against one: matrix products, reading memory, the secure
// generator. On cuda: the card's matrix products in 16 bits against 32.
BenchRows bench_limits(const std::string& device = "cpu");

// One summed step of FedNewsRec over 50 users: its arithmetic against a bare matrix product, its time against
// the model as one writes it first. On one thread and on all.
BenchRows bench_step();

// Rounds of 50 users against one user after another: summed gradients, each user's own gradient, each user's
// own copy for two local epochs.
BenchRows bench_cohort();

// Peak memory of rounds of 1,000 users.
BenchRows bench_memory();

// Private rounds of 1,000 users, with sums=law and with sums=simulated, against plain rounds of the same
// updates, as five recipes set them up. Here a ratio says how many times longer the private round takes.
BenchRows bench_private(const std::string& device = "cpu");

// Local training of a cohort with copies of touched rows in one batch, against one user after another on
// copies of the whole model. Both give the same mean difference.
BenchRows bench_copies();

}  // namespace sotto::bench
