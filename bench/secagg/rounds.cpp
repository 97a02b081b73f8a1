#include <sys/resource.h>

#include <algorithm>

#include "base/random.h"
#include "bench/benchmarks.h"
#include "bench/secagg/textbook_round.h"
#include "bench/secagg/timed_round.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::bench {

namespace {

constexpr unsigned entry_bits = 16;

// Vectors that can be made again instead of being kept.
std::vector<std::uint16_t> input_of(std::uint32_t client, std::size_t entries) {
  std::vector<std::uint64_t> words((entries + 3) / 4);
  SeededRandom(7, Purpose::test, 0, client).fill(words);
  std::vector<std::uint16_t> result(entries);
  for (std::size_t i = 0; i < entries; ++i) {
    result[i] = static_cast<std::uint16_t>(words[i / 4] >> (16 * (i % 4)));
  }
  return result;
}

struct Case {
  secagg::ThreatModel threat;
  std::size_t entries = 0;
  std::uint32_t lost = 0;
};

struct Measured {
  secagg::GroupParameters group;
  RoundTiming timing;
};

std::vector<std::uint64_t> plain_sum(const Case& of) {
  std::vector<std::uint64_t> sum(of.entries);
  for (std::uint32_t client = of.lost; client < of.threat.clients; ++client) {
    const auto input = input_of(client, of.entries);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = (sum[i] + input[i]) & 0xffff;
  }
  return sum;
}

Result<Measured> measure(const Case& of, const std::vector<std::uint64_t>& expected) {
  SOTTO_TRY(const auto group, secagg::find_parameters(of.threat));
  SOTTO_TRY(auto timing, time_round(group, {of.entries, entry_bits}, of.lost,
                                    [&](std::uint32_t client) -> Result<secagg::RingVector> {
                                      const auto input = input_of(client, of.entries);
                                      const std::vector<std::uint32_t> wide(input.begin(), input.end());
                                      return secagg::RingVector::of(std::span(wide), entry_bits);
                                    }));
  if (timing.sum != expected) return failed("the secure sum differs from the plain sum");
  return Measured{group, std::move(timing)};
}

std::string title(const Case& of, const Measured& measured, std::string_view what) {
  return fmt::format("{}, {} clients x {}, {}{} neighbours", what, of.threat.clients.value, of.entries,
                     of.threat.server == secagg::ServerModel::active ? "active server, " : "",
                     measured.group.degree);
}

BenchRow seconds_row(std::string name, double ours, double baseline, std::string against) {
  return {std::move(name), ours, baseline, baseline / ours, "s", std::move(against)};
}

BenchRow bytes_row(const Case& of, const Measured& measured) {
  const double ours = measured.timing.bytes_up + measured.timing.bytes_down;
  const auto plain = static_cast<double>(secagg::packed_bytes(of.entries, entry_bits));
  return {title(of, measured, "bytes of a client, both ways"),
          ours,
          plain,
          plain / ours,
          "bytes",
          "the packed vector alone"};
}

Status small(std::vector<BenchRow>& rows) {
  for (const secagg::ServerModel server : {secagg::ServerModel::active, secagg::ServerModel::semi_honest}) {
    const Case of{{.clients = 50, .corrupted = 0.1, .dropping = 0.1, .server = server}, 1'100'000, 0};
    SOTTO_TRY(const auto measured, measure(of, plain_sum(of)));
    rows.push_back(
        seconds_row(title(of, measured, "client"), measured.timing.client_seconds, 0.05, "target"));
  }
  return {};
}

Status medium(std::vector<BenchRow>& rows) {
  Case of{{.clients = 100, .corrupted = 0.1, .dropping = 0.1, .server = secagg::ServerModel::active},
          std::size_t{1} << 20,
          5};
  const auto expected = plain_sum(of);
  SOTTO_TRY(const auto textbook, run_textbook({100, 55, of.lost, of.entries}, [&](std::uint32_t client) {
              return input_of(client, of.entries);
            }));
  if (!std::equal(expected.begin(), expected.end(), textbook.sum.begin(), textbook.sum.end())) {
    return failed("the textbook's sum differs from the plain sum");
  }
  for (const secagg::ServerModel server : {secagg::ServerModel::active, secagg::ServerModel::semi_honest}) {
    of.threat.server = server;
    SOTTO_TRY(const auto measured, measure(of, expected));
    rows.push_back(seconds_row(title(of, measured, "client"), measured.timing.client_seconds,
                               textbook.client_seconds, "textbook, complete graph"));
    rows.push_back(seconds_row(title(of, measured, "server"), measured.timing.server_seconds,
                               textbook.server_seconds, "textbook, complete graph"));
    rows.push_back(bytes_row(of, measured));
  }
  return {};
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

Status large(std::vector<BenchRow>& rows) {
  const Case of{
      {.clients = 1000, .corrupted = 0.1, .dropping = 0.1, .server = secagg::ServerModel::semi_honest},
      std::size_t{1} << 17,
      100};
  const auto expected = plain_sum(of);
  SOTTO_TRY(const auto measured, measure(of, expected));
  rows.push_back(seconds_row(title(of, measured, "server"), measured.timing.server_seconds, 30, "target"));
  rows.push_back(seconds_row(title(of, measured, "client"), measured.timing.client_seconds, 0.05, "target"));
  const double all = 1000 * static_cast<double>(secagg::packed_bytes(of.entries, entry_bits)) / (1 << 20);
  const double peak = peak_megabytes();
  rows.push_back({title(of, measured, "memory of server and all clients"), peak, all, all / peak, "MiB",
                  "keeping all vectors"});
  return {};
}

}  // namespace

Result<std::vector<BenchRow>> bench_secagg(const SecAggBenchSettings& settings) {
  std::vector<BenchRow> rows;
  // The large round first: the peak of memory is the process's.
  if (settings.large) SOTTO_CHECK(large(rows));
  if (settings.small) SOTTO_CHECK(small(rows));
  if (settings.medium) SOTTO_CHECK(medium(rows));
  return rows;
}

}  // namespace sotto::bench
