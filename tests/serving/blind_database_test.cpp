#include <gmock/gmock.h>

#include "serving/blind/database.h"
#include "serving/blind_fixture.h"

namespace sotto::serving {
namespace {

using ::testing::HasSubstr;
using testing::must;
using testing::random_entries;

std::vector<std::uint32_t> random_query(std::size_t columns, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::test);
  std::vector<std::uint32_t> words(columns);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return words;
}

// Every kernel of this machine, alone and in batches, beside the loop one writes down; shapes that fill no
// tile, no chunk and no group of rows.
TEST(BlindDatabase, EveryFastPathGivesTheAnswerOfThePlainOne) {
  for (const blind::Shape& shape :
       {blind::Shape{64, 130, 21, 1}, blind::Shape{7, 11, 5, 1}, blind::Shape{2, 1, 1, 1},
        blind::Shape{64, 64, 64, 1}, blind::Shape{100, 41, 34, 1}}) {
    const auto parameters = must(blind::choose_parameters(shape));
    const auto database = must(BlindDatabase::create(parameters, random_entries(parameters)));
    for (const std::size_t count : {1U, 3U}) {
      std::vector<std::vector<std::uint32_t>> queries;
      std::vector<std::uint32_t> expected;
      for (std::size_t q = 0; q < count; ++q) {
        queries.push_back(random_query(shape.columns(), q));
        if (q == 1) queries.back().assign(shape.columns(), 0xffffffff);
        const auto plain = database.plain_answer(queries.back());
        expected.insert(expected.end(), plain.begin(), plain.end());
      }
      const std::vector<std::span<const std::uint32_t>> asked(queries.begin(), queries.end());
      for (const ProductKernel kernel : {ProductKernel::plain, ProductKernel::avx2, ProductKernel::avx512}) {
        if (!supported(kernel)) continue;
        std::vector<std::uint32_t> answers(count * shape.rows);
        database.answer(asked, answers, kernel);
        EXPECT_EQ(answers, expected) << static_cast<int>(kernel);
      }
    }
  }
}

TEST(BlindDatabase, RefusesItemsThatDecryptionIsNotProvedFor) {
  const auto parameters = must(blind::choose_parameters({64, 100, 4, 1}));
  std::vector<std::int8_t> entries(parameters.shape.slots() * 64);
  EXPECT_TRUE(BlindDatabase::create(parameters, entries));
  std::vector<std::int8_t> wide = entries;
  wide[70] = 8;
  EXPECT_THAT(BlindDatabase::create(parameters, wide).error().message, HasSubstr("between -7 and 7"));
  std::vector<std::int8_t> longer = entries;
  std::fill_n(longer.begin() + 64, 64, std::int8_t{7});
  EXPECT_THAT(BlindDatabase::create(parameters, longer).error().message,
              HasSubstr("slot 1 has a squared norm of 3136"));
  EXPECT_FALSE(BlindDatabase::create(parameters, std::span(entries).first(64)));
}

TEST(BlindDatabase, TakesHalfAByteForANumber) {
  const auto parameters = must(blind::choose_parameters({64, 128, 128, 1}));
  const auto database = must(BlindDatabase::create(parameters, random_entries(parameters)));
  EXPECT_EQ(database.bytes(), 128U * 128 * 64 / 2);
}

}  // namespace
}  // namespace sotto::serving
