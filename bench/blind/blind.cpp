// Blind serving at a million items: what the server's pass, the device's keys and the hint cost, each beside
// what one would write first, and what is found.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include "base/distributions.h"
#include "bench/benchmarks.h"
#include "bench/blind/paillier.h"
#include "bench/blind/unstructured.h"
#include "blind/quantisation.h"
#include "blind/rotation.h"
#include "device/blind/key_part.h"
#include "device/blind/probes.h"
#include "serving/blind/edition.h"
#include "serving/blind/hint.h"
#include "serving/pool/synthetic_pool.h"

namespace sotto::bench {

using namespace serving;

namespace {

constexpr std::uint32_t dimension = 64;
constexpr int timed_rounds = 15;
constexpr std::size_t batch = 8;
constexpr std::size_t readers = 200;
constexpr std::size_t wanted = 10;
// Henzinger, Dauterman, Corrigan-Gibbs, Zeldovich 2023: 145 core-seconds for 360 million pages of 192
// numbers.
constexpr double tiptoe_seconds_per_item = 145.0 / 360e6;
constexpr double tiptoe_dimension = 192;

// Processor time of the calling thread, the quickest of several: other programs only ever add to it.
template <class Call>
double quickest(const Call& call) {
  double best = HUGE_VAL;
  for (int round = 0; round < timed_rounds; ++round) {
    const double start = thread_seconds();
    call();
    best = std::min(best, thread_seconds() - start);
  }
  return best;
}

// How often all threads together get through a call per second of their own time, side by side.
template <class Call>
double calls_per_second(std::size_t threads, const Call& call) {
  std::vector<double> seconds(threads);
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) running.emplace_back([&, t] { seconds[t] = quickest(call); });
  for (std::thread& thread : running) thread.join();
  double rate = 0;
  for (const double one : seconds) rate += 1 / one;
  return rate;
}

BlindItems synthetic_items(std::size_t count) {
  const SyntheticItems source(SyntheticWorld::clustered, dimension);
  RowBatch rows = source.vectors(0, count);
  BlindItems items{"synthetic", dimension, std::move(rows.items), {}, std::move(rows.values)};
  for (std::size_t i = 0; i < count; ++i) items.ids.push_back(fmt::format("item-{}", i));
  return items;
}

// Readers of three items, the first of which counts most.
std::vector<float> reader(const BlindItems& items, std::uint32_t number) {
  SeededRandom random(77, Purpose::test, 0, number);
  std::vector<float> user(dimension);
  float weight = 1;
  for (int click = 0; click < 3; ++click, weight /= 2) {
    const float* vector = items.vectors.data() + uniform_below(random, items.size()) * dimension;
    for (std::size_t i = 0; i < dimension; ++i) user[i] += weight * vector[i];
  }
  return user;
}

double questions_per_second(const BlindDatabase& database, std::size_t threads, std::size_t together,
                            const std::vector<std::uint32_t>& words) {
  const std::vector<std::span<const std::uint32_t>> queries(together, words);
  return static_cast<double>(together) * calls_per_second(threads, [&] {
           std::vector<std::uint32_t> answers(together * database.parameters().shape.rows);
           database.answer(queries, answers);
         });
}

// Bytes per second of threads that only read.
double read_bandwidth(std::size_t threads, std::size_t bytes) {
  const std::vector<std::uint64_t> memory(bytes / sizeof(std::uint64_t), 1);
  std::atomic<std::uint64_t> sum{0};
  const double rate = calls_per_second(threads, [&] { sum += sum_of(memory); });
  return sum == 0 ? 0 : rate * static_cast<double>(bytes);
}

struct Found {
  double recall = 0, gain = 0;  // of the true ten best; of their scores over those of the average item
};

// What the clusters asked about hold of the best items, scored as a device decrypts them.
Found found_with(const BlindItems& items, const BlindEdition& edition, const blind::Guide& guide) {
  const blind::Parameters& parameters = guide.parameters;
  const std::size_t rows = parameters.shape.rows;
  Found found;
  for (std::uint32_t r = 0; r < readers; ++r) {
    const std::vector<float> user = reader(items, r);
    std::vector<float> scores(items.size());
    score_all(items.vectors, user, scores);
    const double average =
        std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(items.size());
    const auto best_of = [&](std::vector<std::uint32_t> candidates, const auto& score) {
      const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, candidates.size()));
      std::partial_sort(candidates.begin(), end, candidates.end(),
                        [&](std::uint32_t a, std::uint32_t b) { return score(a) > score(b); });
      candidates.erase(end, candidates.end());
      return candidates;
    };
    std::vector<std::uint32_t> all(items.size());
    std::iota(all.begin(), all.end(), 0U);
    const auto truth = best_of(all, [&](std::uint32_t i) { return scores[i]; });
    const std::vector<float> turned = blind::rotated(user, dimension);
    const auto quantised = blind::quantise_user(turned, parameters);
    std::vector<device::ItemScore> decrypted;
    for (const std::uint32_t cluster : device::nearest_clusters(guide, turned)) {
      std::vector<std::int32_t> products(rows);
      for (std::size_t row = 0; row < rows; ++row) {
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < dimension; ++i) {
          const std::size_t column = std::size_t{cluster} * dimension + i;
          sum += quantised.entries[i] * edition.database().entry(row, column);
        }
        products[row] = sum;
      }
      const auto scored = device::cluster_scores(guide, turned, quantised.scale, cluster, products);
      decrypted.insert(decrypted.end(), scored.begin(), scored.end());
    }
    auto shown = device::ranked_once(std::move(decrypted));
    shown.resize(std::min(wanted, shown.size()));
    double reached = 0, possible = 0;
    for (const device::ItemScore& score : shown) {  // counted in the guide's ids, which are the items'
      reached += scores[score.item] - average;
      found.recall += std::count(truth.begin(), truth.end(), score.item) > 0 ? 1 : 0;
    }
    for (const std::uint32_t item : truth) possible += scores[item] - average;
    found.gain += reached / possible;
  }
  found.recall /= static_cast<double>(readers * wanted);
  found.gain /= static_cast<double>(readers);
  return found;
}

std::string bytes_in_words(std::size_t bytes) {
  return bytes < 1'000'000 ? fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// With a database that is made for so many probes, as a server chooses its shape: at a given number of bytes
// fewer probes leave room for more clusters.
Result<BenchRow> found_row(const BlindItems& items, std::uint32_t probes, const char* goal) {
  blind::ShapeBudget budget;
  budget.probes = probes;
  SOTTO_TRY(const auto edition, BlindEdition::make(items, budget));
  SOTTO_TRY(const blind::Guide guide, blind::decode_guide(edition->guide_bytes()));
  const Found found = found_with(items, *edition, guide);
  BenchRow row{fmt::format("share of the score of the ten best, {} probe(s)", probes),
               found.gain,
               1,
               found.gain,
               "share",
               "exact search of the pool",
               goal};
  const auto cost = cost_of(edition->shape());
  row.note =
      fmt::format("recall of the ten best {:.3f}; {} clusters of {}; bytes of a refresh {}", found.recall,
                  edition->shape().clusters, edition->shape().rows, bytes_in_words(cost.up + cost.down));
  return row;
}

// Decrypted products of real ciphertexts, or the benchmark fails.
Status check_answers(const BlindItems& items, const BlindEdition& edition, const blind::Guide& guide) {
  SecureRandom random;
  const std::vector<float> user = blind::rotated(reader(items, 0), dimension);
  const auto quantised = blind::quantise_user(user, guide.parameters);
  SOTTO_TRY(auto keys, device::KeyPart::prepare(guide.parameters, guide.hint, 1, random));
  const std::uint32_t cluster = device::nearest_clusters(guide, user).front();
  SOTTO_TRY(auto sealed, std::move(keys[0]).seal(quantised.entries, cluster));
  const std::span<const std::uint32_t> query(sealed.words);
  std::vector<std::uint32_t> answer(guide.parameters.shape.rows);
  edition.database().answer({&query, 1}, answer);
  const auto products = std::move(sealed.opening).open(answer);
  for (std::size_t row = 0; row < products.size(); ++row) {
    std::int32_t expected = 0;
    for (std::size_t i = 0; i < dimension; ++i)
      expected += quantised.entries[i] * edition.database().entry(row, std::size_t{cluster} * dimension + i);
    if (products[row] != expected)
      return failed("product {} is decrypted as {}, not {}", row, products[row], expected);
  }
  return {};
}

// What a probe takes of one core with a database of this shape. Its entries are random: the pass takes as
// long with any, and clusters of ten million items would take an hour to find.
Result<double> probe_seconds(const blind::Shape& shape) {
  SOTTO_TRY(const blind::Parameters parameters, blind::choose_parameters(shape));
  SeededRandom random(5, Purpose::test);
  std::vector<std::int8_t> drawn(std::size_t{1} << 16);
  for (std::int8_t& entry : drawn)
    entry = static_cast<std::int8_t>(static_cast<int>(uniform_below(random, 5)) - 2);
  std::vector<std::int8_t> entries(shape.slots() * shape.dimension);
  for (std::size_t first = 0; first < entries.size(); first += drawn.size())
    std::copy_n(drawn.begin(), std::min(drawn.size(), entries.size() - first),
                entries.begin() + static_cast<std::ptrdiff_t>(first));
  SOTTO_TRY(const BlindDatabase database, BlindDatabase::create(parameters, entries));
  std::vector<std::uint32_t> words(shape.columns());
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return 1 / questions_per_second(database, 1, 1, words);
}

// The choice of clusters from 10^4 to 10^8 items, and what a probe takes; of the largest by the measured
// bytes per second of one core.
Result<std::vector<BenchRow>> growth(double bytes_per_second) {
  constexpr std::size_t most_measured = 10'000'000;
  std::vector<BenchRow> rows;
  for (const std::size_t items : {10'000UL, 100'000UL, 1'000'000UL, 10'000'000UL, 100'000'000UL}) {
    blind::ShapeBudget budget;
    budget.refresh_bytes = std::size_t{16} << 20;
    SOTTO_TRY(const auto shape, blind::choose_shape(items, dimension, budget));
    const auto cost = cost_of(shape);
    const auto per_probe = static_cast<double>(cost.up + cost.down) / shape.probes;
    BenchRow row{fmt::format("bytes of a probe among {} items", items),
                 per_probe,
                 97.0 * static_cast<double>(items),
                 97.0 * static_cast<double>(items) / per_probe,
                 "bytes",
                 "the whole pool on the device, 97 bytes an item"};
    double seconds = static_cast<double>(cost.database) / bytes_per_second;
    if (items <= most_measured) {
      SOTTO_TRY(seconds, probe_seconds(shape));
    }
    row.note = fmt::format(
        "{} clusters of {}; up {}, down {}, hint {}, server {} and {:.2f} ms a probe and core, {}",
        shape.clusters, shape.rows, bytes_in_words(cost.up / shape.probes),
        bytes_in_words(cost.down / shape.probes), bytes_in_words(cost.hint), bytes_in_words(cost.database),
        1e3 * seconds, items <= most_measured ? "measured" : "by the bytes");
    rows.push_back(row);
  }
  return rows;
}

Result<BenchRow> against_paillier(const BlindEdition& edition, double our_seconds_per_item) {
  constexpr int modulus_bits = 3072;
  constexpr std::size_t scored = 16;
  SOTTO_TRY(const Paillier paillier, Paillier::create(modulus_bits));
  std::vector<std::int32_t> user(dimension);
  for (std::size_t i = 0; i < dimension; ++i) user[i] = static_cast<std::int32_t>(i % 61) - 30;
  SOTTO_TRY(const auto question, paillier.ask(user));
  double seconds = 0;
  for (std::size_t row = 0; row < scored; ++row) {
    std::vector<std::int8_t> item(dimension);
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < dimension; ++i) {
      item[i] = static_cast<std::int8_t>(edition.database().entry(row, i));
      expected += std::int64_t{item[i]} * user[i];
    }
    const double start = thread_seconds();
    SOTTO_TRY(const auto score, paillier.score(question, item));
    seconds += thread_seconds() - start;
    SOTTO_TRY(const std::int64_t product, paillier.decrypt(*score));
    if (product != expected) return failed("Paillier's product is {}, not {}", product, expected);
  }
  const double theirs = seconds / scored;
  return BenchRow{"server's time per item of the pool",
                  1e9 * our_seconds_per_item,
                  1e9 * theirs,
                  theirs / our_seconds_per_item,
                  "ns/core",
                  "Paillier, 3,072 bits, one product per item"};
}

}  // namespace

BenchRows bench_blind(std::size_t count) {
  const BlindItems items = synthetic_items(count);
  const double began = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  SOTTO_TRY(const auto edition, BlindEdition::make(items, {}));
  const double made = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - began;
  SOTTO_TRY(const blind::Guide guide, blind::decode_guide(edition->guide_bytes()));
  SOTTO_CHECK(check_answers(items, *edition, guide));
  const BlindDatabase& database = edition->database();
  const blind::Shape& shape = edition->shape();
  std::vector<BenchRow> rows;
  const auto milliseconds = [&](std::string name, double ours, double theirs, std::string against,
                                std::string goal) -> BenchRow& {
    return rows.emplace_back(BenchRow{std::move(name), 1e3 * ours, 1e3 * theirs, theirs / ours, "ms",
                                      std::move(against), std::move(goal)});
  };

  // The server's pass.
  SeededRandom random(3, Purpose::test);
  std::vector<std::uint32_t> words(shape.columns());
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  const std::vector<std::int8_t> bytes = row_major(database);
  const auto expected = database.plain_answer(words);
  std::vector<std::uint32_t> plain(shape.rows);
  const double plain_seconds = quickest([&] { plain_product(bytes, words, plain); });
  if (plain != expected) return failed("the plain product differs");
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const double alone = 1 / questions_per_second(database, 1, 1, words);
  milliseconds("a question, one core", alone, plain_seconds, "plain product with the same matrix in bytes",
               "")
      .note = fmt::format(
      "{} clusters of {}, database {} ({:.1f} bytes an item), edition made in {:.1f} core-seconds",
      shape.clusters, shape.rows, bytes_in_words(database.bytes()),
      static_cast<double>(database.bytes()) / static_cast<double>(count), made);
  const double one_by_one = 1 / questions_per_second(database, cores, 1, words);
  const double batched = 1 / questions_per_second(database, cores, batch, words);
  rows.push_back({"questions one by one, all cores", 1 / one_by_one, 1 / plain_seconds,
                  plain_seconds / one_by_one, "1/s", "plain product, one core", "150"});
  rows.push_back({fmt::format("questions, {} in a pass, all cores", batch), 1 / batched, 1 / plain_seconds,
                  plain_seconds / batched, "1/s", "plain product, one core", "400"});
  const double bandwidth = read_bandwidth(cores, database.bytes());
  const double streamed = static_cast<double>(database.bytes()) / one_by_one;
  rows.push_back({"memory read by a pass, all cores", streamed / 1e9, bandwidth / 1e9, streamed / bandwidth,
                  "GB/s", "threads that only read", "0.7"});

  // The device.
  SecureRandom secure;
  const std::vector<float> user = reader(items, 1);
  double sealing = HUGE_VAL, preparing = HUGE_VAL;
  std::vector<std::uint32_t> answer(shape.rows);
  for (int round = 0; round < timed_rounds; ++round) {
    double start = thread_seconds();
    SOTTO_TRY(auto keys, device::KeyPart::prepare(guide.parameters, guide.hint, 1, secure));
    preparing = std::min(preparing, thread_seconds() - start);
    start = thread_seconds();
    const std::vector<float> turned = blind::rotated(user, dimension);
    const auto quantised = blind::quantise_user(turned, guide.parameters);
    const std::uint32_t cluster = device::nearest_clusters(guide, turned).front();
    SOTTO_TRY(auto sealed, std::move(keys[0]).seal(quantised.entries, cluster));
    const auto products = std::move(sealed.opening).open(answer);
    const auto scores =
        device::ranked_once(device::cluster_scores(guide, turned, quantised.scale, cluster, products));
    if (scores.empty()) return failed("a cluster without items was asked about");
    sealing = std::min(sealing, thread_seconds() - start);
  }
  const double keystream = unstructured_key_seconds(shape);
  milliseconds("device: asking and opening, key prepared", sealing, sealing + keystream,
               "the same with a key made meanwhile, matrix without structure", "30 ms");
  milliseconds("device: preparing a key", preparing, keystream,
               "a matrix without structure: its key stream and its products", "")
      .note =
      fmt::format("{} of key stream against {}", bytes_in_words(4 * (shape.columns() + 1023) / 1024 * 1024),
                  bytes_in_words(std::size_t{4096} * shape.columns()));
  const double hint_start = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  SOTTO_TRY(const auto hint, make_hint(database));
  const double hint_seconds = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - hint_start;
  if (hint != guide.hint) return failed("the hint differs from the guide's");
  milliseconds("server: the hint, core time", hint_seconds, unstructured_hint_seconds(database),
               "a matrix without structure, from two rows", "");

  // Others.
  const double per_item = alone / static_cast<double>(count);
  SOTTO_TRY(const auto paillier, against_paillier(*edition, per_item));
  rows.push_back(paillier);
  rows.push_back({"server's time per number of the pool", 1e9 * per_item / dimension,
                  1e9 * tiptoe_seconds_per_item / tiptoe_dimension,
                  tiptoe_seconds_per_item / tiptoe_dimension / (per_item / dimension), "ns/core",
                  "Tiptoe as published: 145 core-s for 360 million pages of 192 numbers", "10"});

  // What is found, each number of probes with an edition that is made for it.
  SOTTO_TRY(const BenchRow with_one, found_row(items, 1, "0.95"));
  SOTTO_TRY(const BenchRow with_three, found_row(items, 3, "0.98"));
  rows.insert(rows.end(), {with_one, with_three});
  SOTTO_TRY(const auto sizes, growth(static_cast<double>(database.bytes()) / alone));
  rows.insert(rows.end(), sizes.begin(), sizes.end());
  return rows;
}

}  // namespace sotto::bench
