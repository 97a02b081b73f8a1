// A fixed amount of one kind of work, to be compiled with the compiler's defences and without
// (tools/measure_hardening.sh): prints the seconds of processor time that it took.
//
//   hardening_work noise|masks|training|query REPEATS

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>

#include "base/random.h"
#include "bench/benchmarks.h"
#include "local/local_trainer.h"
#include "privacy/noise/grid_noise.h"
#include "secagg/shared/masks.h"
#include "serving/http/bodies_json.h"
#include "serving/index/live_index.h"
#include "serving/pool/synthetic_pool.h"

namespace sotto::bench {
namespace {

using Work = std::function<Status(std::uint64_t repeats)>;

Status draw_noise(std::uint64_t repeats) {
  SOTTO_TRY(const auto gaussian, privacy::DiscreteGaussian::create(100));
  SOTTO_TRY(const auto skellam, privacy::Skellam::create(1e4));
  SeededRandom random(1, Purpose::test);
  std::vector<std::int32_t> buffer(1 << 16);
  for (std::uint64_t i = 0; i < repeats; ++i) {
    gaussian.fill(std::span(buffer), random);
    skellam.fill(std::span(buffer), random);
  }
  return {};
}

Status add_masks(std::uint64_t repeats) {
  SeededRandom random(1, Purpose::test);
  std::vector<secagg::Mask> masks;
  masks.reserve(16);
  for (int i = 0; i < 16; ++i)
    masks.push_back({secagg::Key::random(privacy::DeviceRandom::simulated(random)), i % 2 == 0});
  std::vector<std::uint32_t> vector(1 << 17);
  for (std::uint64_t i = 0; i < repeats; ++i) SOTTO_CHECK(secagg::apply_masks(masks, 0, std::span(vector)));
  return {};
}

// The user model of the flagship on fifty pages of a reader.
Status train(std::uint64_t repeats) {
  constexpr std::size_t items = 500, dimension = 32, pages = 50;
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"negatives", "4"}, {"vector_size", std::to_string(dimension)}};
  SOTTO_TRY(const auto trainer, local::find_trainer("sotto", settings));
  SeededRandom random(1, Purpose::test);
  const auto numbers = [&](std::size_t count) {
    std::vector<float> made(count);
    for (float& number : made) number = static_cast<float>(random() % 1000) / 1000 - 0.5F;
    return made;
  };
  const auto rows = [&](std::size_t count) {
    std::vector<local::ItemRow> made(count);
    for (auto& row : made) row = static_cast<local::ItemRow>(random() % items);
    return made;
  };
  const std::vector<float> parameters = numbers(trainer->layout().size()), table = numbers(items * dimension);
  const local::RoundInputs inputs{parameters, Eigen::Map<const local::Rows>(table.data(), items, dimension)};
  std::vector<std::vector<local::ItemRow>> histories, shown;
  for (std::size_t i = 0; i < pages; ++i) {
    histories.push_back(rows(20));
    shown.push_back(rows(10));
  }
  const std::vector<std::uint8_t> clicked = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  local::OwnEvents own;
  for (std::size_t i = 0; i < pages; ++i) own.impressions.push_back({histories[i], shown[i], clicked});
  for (std::uint64_t i = 0; i < repeats; ++i)
    SOTTO_CHECK(trainer->train(inputs, own, random, [] { return false; }));
  return {};
}

// From the bytes of a question to those of its answer.
Status answer_queries(std::uint64_t repeats) {
  constexpr std::size_t basis = 5, items = 20'000;
  SOTTO_TRY(const auto index, serving::LiveIndex::create(basis, serving::LiveIndex::Merging::when_asked));
  const serving::SyntheticItems world(serving::SyntheticWorld::clustered, basis);
  SOTTO_CHECK(index->update({{}, world.vectors(0, items)}));
  while (index->merge_once()) {
  }
  SeededRandom random(1, Purpose::test);
  std::vector<std::string> questions;
  for (int i = 0; i < 50; ++i) {
    const auto mixture = serving::synthetic_mixture(basis, random);
    questions.push_back(fmt::format(R"({{"model":"{}","coefficients":[{}],"count":20}})",
                                    std::string(64, 'a'), fmt::join(mixture, ",")));
  }
  for (std::uint64_t i = 0; i < repeats; ++i)
    for (const std::string& question : questions) {
      SOTTO_TRY(const auto request, serving::decode_recommend_json(question));
      const auto* mixture = std::get_if<privacy::BasisWeights>(&request.query);
      if (mixture == nullptr) return failed("the question was read as another one");
      SOTTO_TRY(const auto found, index->search(*mixture, request.count));
      device::RecommendAnswer answer;
      answer.model = request.model;
      for (const serving::ScoredItem& item : found) {
        answer.items.push_back(std::to_string(item.item));
        answer.scores.push_back(static_cast<float>(item.score));
      }
      if (serving::encode_recommend_json(answer).empty()) return failed("nothing was answered");
    }
  return {};
}

}  // namespace
}  // namespace sotto::bench

int main(int argc, char** argv) {
  using namespace sotto::bench;
  const std::map<std::string, Work> all = {
      {"noise", draw_noise}, {"masks", add_masks}, {"training", train}, {"query", answer_queries}};
  const auto chosen = argc == 3 ? all.find(argv[1]) : all.end();
  if (chosen == all.end()) {
    fmt::print(stderr, "hardening_work noise|masks|training|query REPEATS\n");
    return 2;
  }
  const double start = thread_seconds();
  if (const auto done = chosen->second(std::stoull(argv[2])); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  fmt::print("{:.6f}\n", thread_seconds() - start);
  return 0;
}
