#include <gtest/gtest.h>

#include "base/settings.h"

namespace sotto {
namespace {

const std::vector<std::string> words = {"rounds", "clients_per_round", "learning_rate", "lr", "seed"};

TEST(Nearest, FindsTheWordBehindASlip) {
  EXPECT_EQ(nearest("roundz", words), "rounds");  // wrong
  EXPECT_EQ(nearest("rund", words), "rounds");    // missing
  EXPECT_EQ(nearest("seeed", words), "seed");     // doubled
  EXPECT_EQ(nearest("rl", words), "lr");          // swapped
  EXPECT_EQ(nearest("learning-rate", words), "learning_rate");
  EXPECT_EQ(nearest("seed", words), "seed");
  EXPECT_EQ(nearest("trane", {"train"}), "train");  // as it sounds
}

TEST(Nearest, OffersNothingForAnotherWord) {
  EXPECT_EQ(nearest("epsilon", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest("xy", words), std::nullopt);
  EXPECT_EQ(nearest("rounds", {}), std::nullopt);
}

TEST(Nearest, PrefersTheCloserCandidateAndThenTheFirst) {
  EXPECT_EQ(nearest("abcdef", {"abcxyf", "abcdeg"}), "abcdeg");
  EXPECT_EQ(nearest("cat", {"bat", "car"}), "bat");
}

TEST(Nearest, IsQuickOnAHugeWord) { EXPECT_EQ(nearest(std::string(10'000'000, 'x'), words), std::nullopt); }

}  // namespace
}  // namespace sotto
