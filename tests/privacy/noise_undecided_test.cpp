// The rare draws that double precision cannot settle. Chance reaches them once in 2^36 samples, so random
// words are scripted.
#include <gtest/gtest.h>

#include <deque>

#include "privacy/noise/binned_sampler.h"

namespace sotto::privacy {
namespace {

// Serves the script, then zeros.
class ScriptedWords final : public RandomSource {
 public:
  explicit ScriptedWords(std::deque<std::uint64_t> script) : script_(std::move(script)) {}
  void fill(std::span<std::uint64_t> out) override {
    for (std::uint64_t& word : out) {
      word = script_.empty() ? 0 : script_.front();
      if (!script_.empty()) script_.pop_front();
    }
  }

 private:
  std::deque<std::uint64_t> script_;
};

class CountingLaw final : public LatticeLaw {
 public:
  double weight(std::int64_t x) const override { return law_.weight(x); }
  DoubleDouble precise_weight(std::int64_t x) const override {
    ++precise_calls;
    return law_.precise_weight(x);
  }
  std::int64_t reach() const override { return law_.reach(); }
  mutable int precise_calls = 0;

 private:
  DiscreteGaussianLaw law_{4.0};
};

std::uint64_t word(std::uint64_t slot, std::uint64_t accept_bits) {
  return slot | 1ULL << 11 | accept_bits << 27;
}

class UndecidedDraws : public ::testing::Test {
 protected:
  std::int32_t sample(std::deque<std::uint64_t> script) {
    ScriptedWords random(std::move(script));
    std::int32_t value = 0;
    law->precise_calls = 0;
    sampler.fill(std::span(&value, 1), random);
    return value;
  }
  // A slot whose plainly accepted word gives this value.
  std::uint64_t slot_of(std::int32_t value) {
    for (std::uint64_t slot = 0; slot < 2048; ++slot) {
      if (sample({word(slot, 0)}) == value) return slot;
    }
    ADD_FAILURE() << "no slot gives " << value;
    return 0;
  }

  std::shared_ptr<CountingLaw> law = std::make_shared<CountingLaw>();
  BinnedSampler sampler{law};
};

TEST_F(UndecidedDraws, PlainDrawsNeedNoWeight) {
  const std::uint64_t slot = slot_of(2);
  EXPECT_EQ(sample({word(slot, 100)}), 2);
  EXPECT_EQ(law->precise_calls, 0);
}

TEST_F(UndecidedDraws, JustBelowTheBoundIsAccepted) {
  // U = 1 - 2^-52: too near to A·w/W = 1 - (less than 2^-55) for double, and below it.
  const std::uint64_t slot = slot_of(0);
  EXPECT_EQ(sample({word(slot, 0xffff), ~0ULL - (1ULL << 28)}), 0);
  EXPECT_EQ(law->precise_calls, 1);
}

TEST_F(UndecidedDraws, JustAboveTheBoundStartsAgain) {
  // U = 1 - 2^-144: above every A·w/W. The next word gives 3.
  const std::uint64_t slot = slot_of(0), next = slot_of(3);
  EXPECT_EQ(sample({word(slot, 0xffff), ~0ULL, ~0ULL, word(next, 0)}), 3);
  EXPECT_EQ(law->precise_calls, 1);
}

TEST_F(UndecidedDraws, MostAcceptanceBitsSettleItInDouble) {
  const std::uint64_t slot = slot_of(0);
  EXPECT_EQ(sample({word(slot, 0xffff), 0}), 0);
  EXPECT_EQ(law->precise_calls, 0);
}

}  // namespace
}  // namespace sotto::privacy
