// The whole of blind serving's arithmetic: keys of the device against the database of the server.

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "blind/public_matrix.h"
#include "blind/quantisation.h"
#include "device/blind/key_part.h"
#include "device/blind/probes.h"
#include "privacy/noise/grid_noise.h"
#include "serving/blind_fixture.h"

namespace sotto::serving {
namespace {

using device::KeyPart;
using device::SealedProbe;
using testing::guide_of;
using ::testing::HasSubstr;
using testing::must;
using testing::random_entries;

const blind::Shape small_shape{32, 40, 37, 2};

struct World {
  explicit World(const blind::Shape& shape = small_shape)
      : parameters(must(blind::choose_parameters(shape))),
        entries(random_entries(parameters)),
        database(must(BlindDatabase::create(parameters, entries))),
        hint(must(make_hint(database))) {}

  std::vector<KeyPart> keys(std::size_t count) {
    return must(KeyPart::prepare(parameters, hint, count, secure));
  }
  std::vector<std::int32_t> user(std::uint64_t seed) const {
    SeededRandom random(seed, Purpose::test);
    std::vector<float> numbers(parameters.shape.dimension);
    for (float& number : numbers) number = static_cast<float>(random() % 2001) - 1000;
    return blind::quantise_user(numbers, parameters).entries;
  }
  std::vector<std::uint32_t> answer(const std::vector<std::uint32_t>& words) const {
    const std::span<const std::uint32_t> query(words);
    std::vector<std::uint32_t> answers(parameters.shape.rows);
    database.answer({&query, 1}, answers);
    return answers;
  }
  std::vector<std::int32_t> products(std::span<const std::int32_t> user, std::uint32_t cluster) const {
    const blind::Shape& shape = parameters.shape;
    std::vector<std::int32_t> products(shape.rows);
    for (std::size_t row = 0; row < shape.rows; ++row)
      for (std::size_t i = 0; i < shape.dimension; ++i)
        products[row] += user[i] * entries[(cluster * shape.rows + row) * shape.dimension + i];
    return products;
  }

  blind::Parameters parameters;
  std::vector<std::int8_t> entries;
  BlindDatabase database;
  std::vector<std::uint32_t> hint;
  SecureRandom secure;
};

TEST(BlindEncryption, DecryptedScoresAreThePlainProducts) {
  World world;
  for (const std::uint32_t cluster : {0U, 1U, 17U, 39U}) {
    const auto user = world.user(cluster);
    auto keys = world.keys(2);
    for (KeyPart& key : keys) {
      SealedProbe sealed = must(std::move(key).seal(user, cluster));
      EXPECT_EQ(std::move(sealed.opening).open(world.answer(sealed.words)), world.products(user, cluster));
    }
  }
}

TEST(BlindEncryption, DecryptsLongVectorsToo) {
  for (const blind::Shape& shape : {blind::Shape{1024, 6, 19, 1}, blind::Shape{4096, 3, 5, 1}}) {
    World world(shape);
    auto keys = world.keys(1);
    const auto user = world.user(3);
    SealedProbe sealed = must(std::move(keys[0]).seal(user, 2));
    EXPECT_EQ(std::move(sealed.opening).open(world.answer(sealed.words)), world.products(user, 2));
  }
}

// End to end: what comes back says nothing to whoever has not the secret that it was asked under.
TEST(BlindEncryption, WithoutItsSecretAnAnswerIsNoise) {
  World world({32, 40, 500, 1});
  const auto user = world.user(1);
  const auto exact = world.products(user, 17);
  auto keys = world.keys(3);
  SealedProbe asked = must(std::move(keys[0]).seal(user, 17));
  SealedProbe another = must(std::move(keys[1]).seal(user, 17));
  const auto answer = world.answer(asked.words);
  const auto right = [&](const std::vector<std::int32_t>& opened) {
    std::size_t same = 0;
    for (std::size_t row = 0; row < exact.size(); ++row) same += opened[row] == exact[row] ? 1 : 0;
    return same;
  };
  // With another key's secret, and with no secret at all: a product is one of thousands, so a few fit by
  // luck.
  EXPECT_LE(right(std::move(another.opening).open(answer)), 20U);
  const unsigned step = world.parameters.step_bits;
  std::vector<std::int32_t> unopened;
  for (const std::uint32_t word : answer)
    unopened.push_back(static_cast<std::int32_t>(word + (1U << (step - 1))) >> step);
  EXPECT_LE(right(unopened), 20U);
  // With a hint of another database: what it takes off is not what the answer carries.
  const BlindDatabase other =
      must(BlindDatabase::create(world.parameters, random_entries(world.parameters, 2)));
  auto foreign = must(KeyPart::prepare(world.parameters, must(make_hint(other)), 1, world.secure));
  SealedProbe mixed = must(std::move(foreign[0]).seal(user, 17));
  EXPECT_LE(right(std::move(mixed.opening).open(world.answer(mixed.words))), 20U);
  EXPECT_EQ(right(std::move(asked.opening).open(answer)), exact.size());
}

TEST(BlindEncryption, TheHintIsTheDatabaseTimesThePublicMatrix) {
  // Without errors and with a known secret everything can be computed by hand: an encryption of zero under s
  // is matrix·s, and its answer hint·s. Here s = 1, so that matrix·s is the matrix's first column.
  World world({8, 5, 3, 1});
  const auto query = [&] {
    std::vector<std::uint32_t> column;
    const auto matrix = must(blind::public_matrix(world.parameters.shape));
    for (std::size_t i = 0; i < world.parameters.shape.columns(); ++i)
      column.push_back(matrix[i / blind::ring_degree][i % blind::ring_degree]);
    return column;
  }();
  const auto answer = world.database.plain_answer(query);
  for (std::size_t row = 0; row < answer.size(); ++row)
    EXPECT_EQ(answer[row], world.hint[row * blind::ring_degree]);
}

// Smaller steps make decryption fail: as often as the law of the errors says, and no more often than the
// bound by which parameters are chosen.
TEST(BlindEncryption, FailsAsOftenAsTheFormulaSaysWhenParametersAreWeakened) {
  World world({32, 64, 64, 1});
  std::vector<double> noise;  // standard deviation of a row's
  for (std::size_t row = 0; row < 64; ++row) {
    double squares = 0;
    for (std::size_t column = 0; column < world.parameters.shape.columns(); ++column)
      squares += std::pow(world.database.entry(row, column), 2);
    noise.push_back(blind::error_sigma * std::sqrt(squares));
  }
  int measured = 0;
  for (blind::Parameters weak = world.parameters; weak.step_bits > 1; --weak.step_bits) {
    const double half_step = std::ldexp(0.5, static_cast<int>(weak.step_bits));
    double expected = 0, bound = 0;  // wrong products of one refresh
    for (const double deviation : noise) {
      expected += std::erfc(half_step / deviation / std::sqrt(2.0));
      bound += 2 * std::exp(-std::pow(half_step / deviation, 2) / 2);
    }
    if (expected < 0.05) continue;
    if (expected > 20) break;
    constexpr int refreshes = 300;
    double wrong = 0;
    for (int refresh = 0; refresh < refreshes; ++refresh) {
      const auto user = world.user(static_cast<std::uint64_t>(refresh));
      auto keys = must(KeyPart::prepare(weak, world.hint, 1, world.secure));
      SealedProbe sealed = must(std::move(keys[0]).seal(user, 3));
      const auto found = std::move(sealed.opening).open(world.answer(sealed.words));
      const auto exact = world.products(user, 3);
      for (std::size_t row = 0; row < exact.size(); ++row) wrong += found[row] == exact[row] ? 0 : 1;
    }
    expected *= refreshes;
    EXPECT_NEAR(wrong, expected, 6 * std::sqrt(expected) + 2) << "steps of 2^" << weak.step_bits;
    EXPECT_LE(wrong, bound * refreshes + 6 * std::sqrt(expected));
    // What the parameters are chosen by is for the longest items and all rows at once.
    EXPECT_GE(blind::failure_bound(weak.shape, weak.step_bits, std::sqrt(64.0) * weak.item_norm),
              std::min(1.0, expected / refreshes));
    ++measured;
  }
  EXPECT_GE(measured, 2);
}

// ---- one secret per ciphertext

TEST(BlindEncryption, TwoCiphertextsUnderOneSecretWouldRevealTheBlock) {
  World world;
  // The same random words twice: the same secret and the same errors.
  const auto sealed_with = [&](std::uint64_t seed, std::uint32_t cluster) {
    SeededRandom random(seed, Purpose::test);
    auto keys =
        must(KeyPart::prepare(world.parameters, world.hint, 1, privacy::DeviceRandom::simulated(random)));
    return must(std::move(keys[0]).seal(world.user(1), cluster)).words;
  };
  const auto blocks_that_differ = [&](const std::vector<std::uint32_t>& a,
                                      const std::vector<std::uint32_t>& b) {
    std::set<std::size_t> blocks;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) blocks.insert(i / world.parameters.shape.dimension);
    return blocks;
  };
  const std::set<std::size_t> revealed = {4, 9};
  EXPECT_EQ(blocks_that_differ(sealed_with(7, 4), sealed_with(7, 9)), revealed);
  EXPECT_EQ(blocks_that_differ(sealed_with(7, 4), sealed_with(8, 9)).size(), world.parameters.shape.clusters);
}

TEST(BlindEncryption, NoTwoKeysShareASecretOrAnError) {
  World world;
  auto keys = world.keys(6);
  for (KeyPart& more : world.keys(2)) keys.push_back(std::move(more));
  const std::vector<std::int32_t> nothing(world.parameters.shape.dimension, 0);
  std::vector<std::vector<std::uint32_t>> zeros;
  for (KeyPart& key : keys) zeros.push_back(must(std::move(key).seal(nothing, 0)).words);
  for (std::size_t a = 0; a < zeros.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      // Under one secret the difference would be that of two errors: small everywhere.
      double small = 0;
      for (std::size_t i = 0; i < zeros[a].size(); ++i) {
        const auto difference = static_cast<std::int32_t>(zeros[a][i] - zeros[b][i]);
        small += std::abs(static_cast<double>(difference)) < 1000 ? 1 : 0;
      }
      EXPECT_LT(small, 5) << "of " << zeros[a].size();
    }
  }
}

TEST(BlindEncryption, TheErrorIsThereAndHasItsSize) {
  // With secret and error in one's hands the error can be taken out again: the same generator tells the
  // secret.
  World world;
  SeededRandom first(11, Purpose::test), second(11, Purpose::test);
  auto keys =
      must(KeyPart::prepare(world.parameters, world.hint, 1, privacy::DeviceRandom::simulated(first)));
  const auto noise = must(privacy::DiscreteGaussian::create(blind::error_sigma));
  std::vector<std::int32_t> secret(blind::ring_degree);
  noise.fill(std::span<std::int32_t>(secret), second);
  double secret_squares = 0;
  for (const std::int32_t number : secret) secret_squares += static_cast<double>(number) * number;
  EXPECT_NEAR(std::sqrt(secret_squares / blind::ring_degree), blind::error_sigma, 3);
  const std::vector<std::int32_t> nothing(world.parameters.shape.dimension, 0);
  const auto words = must(std::move(keys[0]).seal(nothing, 0)).words;
  const auto matrix = must(blind::public_matrix(world.parameters.shape));
  double squares = 0;
  for (std::size_t block = 0; block < matrix.size(); ++block) {
    blind::RingTransform a, s, sum{};
    blind::transform(std::span<const std::uint32_t>(matrix[block]), a);
    blind::transform(std::span<const std::int32_t>(secret), s);
    blind::add_product(sum, a, s);
    blind::RingWords product;
    blind::transform_back(sum, product);
    for (std::size_t j = 0; j < blind::ring_degree && block * blind::ring_degree + j < words.size(); ++j) {
      const auto error = static_cast<std::int32_t>(words[block * blind::ring_degree + j] - product[j]);
      squares += static_cast<double>(error) * error;
    }
  }
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(words.size())), blind::error_sigma, 2.5);
}

TEST(BlindEncryption, AKeyServesOnceAndNotInAChild) {
  World world;
  auto keys = world.keys(2);
  const auto user = world.user(1);
  SealedProbe sealed = must(std::move(keys[0]).seal(user, 1));
  EXPECT_THAT(std::move(keys[0]).seal(user, 1).error().message, HasSubstr("used already"));
  EXPECT_EQ(std::move(sealed.opening).open(world.answer(sealed.words)).size(), world.parameters.shape.rows);
  EXPECT_TRUE(std::move(sealed.opening).open(world.answer(sealed.words)).empty());
  const pid_t child = fork();
  if (child == 0) _exit(std::move(keys[1]).seal(user, 1) ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(std::move(keys[1]).seal(user, 1));
}

// ---- what a server sees

// Ciphertexts of two readers as different as can be, as bytes: every bit is set half of the time in each
// block, whoever asks, and whatever the words of one reader do, those of the other do.
TEST(BlindEncryption, CiphertextsOfTwoHistoriesLookAlike) {
  World world;
  constexpr int asked = 400;
  const auto counts = [&](std::uint32_t cluster, const std::vector<std::int32_t>& user) {
    std::vector<std::array<int, 32>> set(world.parameters.shape.columns());
    for (auto& key : world.keys(asked)) {
      const auto words = must(std::move(key).seal(user, cluster)).words;
      for (std::size_t i = 0; i < words.size(); ++i)
        for (unsigned bit = 0; bit < 32; ++bit) set[i][bit] += static_cast<int>(words[i] >> bit & 1U);
    }
    return set;
  };
  const auto one = counts(3, world.user(1)),
             other = counts(30, std::vector<std::int32_t>(world.parameters.shape.dimension, 0));
  // χ² of all bits against one half, and of the two against each other: sums of many squares of about 1.
  double against_half = 0, against_other = 0, bits = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (unsigned bit = 0; bit < 32; ++bit) {
      against_half += std::pow(one[i][bit] - asked / 2.0, 2) / (asked / 4.0);
      against_other += std::pow(one[i][bit] - other[i][bit], 2) / (asked / 2.0);
      ++bits;
    }
  }
  const double tolerance = 6 * std::sqrt(2 / bits);
  EXPECT_NEAR(against_half / bits, 1, tolerance);
  EXPECT_NEAR(against_other / bits, 1, tolerance);
}

TEST(BlindEncryption, WhateverAServerAnswersSoManyNumbersComeOut) {
  World world;
  for (const std::size_t count : {0U, 5U, 37U}) {
    auto keys = world.keys(1);
    SealedProbe sealed = must(std::move(keys[0]).seal(world.user(1), 1));
    EXPECT_EQ(std::move(sealed.opening).open(std::vector<std::uint32_t>(count, 0xdeadbeef)).size(), count);
  }
}

TEST(BlindProbes, AreTheClustersWithTheBestCentroids) {
  World world;
  const blind::Guide guide = guide_of(world.database);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    SeededRandom random(seed, Purpose::test);
    std::vector<float> user(32);
    for (float& number : user) number = static_cast<float>(random() % 2001) / 1000 - 1;
    std::vector<std::pair<float, std::uint32_t>> scores;
    for (std::uint32_t c = 0; c < 40; ++c) {
      float score = 0;
      for (std::size_t i = 0; i < 32; ++i) score += user[i] * guide.centroids[c * 32 + i];
      scores.emplace_back(-score, c);
    }
    std::sort(scores.begin(), scores.end());
    EXPECT_EQ(device::nearest_clusters(guide, user),
              (std::vector<std::uint32_t>{scores[0].second, scores[1].second}));
  }
}

TEST(BlindProbes, AnItemOfSeveralClustersIsListedOnceWithTheMeanOfItsScores) {
  const float infinite = std::numeric_limits<float>::infinity();
  const auto ranked = device::ranked_once({{7, 1}, {3, 2}, {7, 4}, {9, infinite}, {1, 2}, {9, 0.5F}});
  ASSERT_EQ(ranked.size(), 4U);
  const std::vector<std::uint32_t> order = {ranked[0].item, ranked[1].item, ranked[2].item, ranked[3].item};
  EXPECT_EQ(order, (std::vector<std::uint32_t>{7, 1, 3, 9}));
  EXPECT_EQ(ranked[0].score, 2.5F);
  EXPECT_EQ(ranked[3].score, 0.5F);
  EXPECT_TRUE(device::ranked_once({}).empty());
}

TEST(BlindProbes, ScoresAreOfTheItemsThatStandInTheSlots) {
  World world({8, 3, 4, 1});
  blind::Guide guide = guide_of(world.database);
  guide.places = {0, 1, 2, blind::no_item, 2, 0, blind::no_item, blind::no_item, 1, 2, 3, 0};
  const std::vector<float> user(8, 0.5F);
  const std::vector<std::int32_t> products = {1, 2, 3, 4};
  const auto items_of = [&](std::uint32_t cluster) {
    std::vector<std::uint32_t> items;
    for (const auto& score : device::cluster_scores(guide, user, 1, cluster, products))
      items.push_back(score.item);
    return items;
  };
  EXPECT_EQ(items_of(0), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(items_of(1), (std::vector<std::uint32_t>{2, 0}));
  EXPECT_EQ(items_of(2), (std::vector<std::uint32_t>{1, 2, 3, 0}));
}

}  // namespace
}  // namespace sotto::serving
