// Masks and the vectors they are put on.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sodium.h>

#include <cmath>

#include "base/random.h"
#include "base/thread_pool.h"
#include "secagg/protocol_harness.h"
#include "secagg/shared/masks.h"
#include "secagg/shared/ring_vector.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg {
namespace {

std::vector<Mask> some_masks(std::size_t count, RandomSource& random) {
  std::vector<Mask> masks;
  for (std::size_t i = 0; i < count; ++i) {
    masks.push_back({Key::random(privacy::DeviceRandom::simulated(random)), random() % 2 == 0});
  }
  return masks;
}

// The definition: the whole stream of every mask, read as little-endian words, in plain loops.
template <class Word>
std::vector<Word> slow_masks(const std::vector<Mask>& masks, std::vector<Word> entries) {
  for (const Mask& mask : masks) {
    Bytes stream(entries.size() * sizeof(Word));
    const std::array<std::uint8_t, crypto_stream_chacha20_ietf_NONCEBYTES> nonce{};
    crypto_stream_chacha20_ietf(stream.data(), stream.size(), nonce.data(), mask.key.data());
    auto byte = stream.begin();
    for (Word& entry : entries) {
      Word word = 0;
      for (std::size_t i = 0; i < sizeof(Word); ++i) {
        word = static_cast<Word>(word | static_cast<Word>(static_cast<Word>(*byte++) << (8 * i)));
      }
      entry = static_cast<Word>(mask.subtract ? entry - word : entry + word);
    }
  }
  return entries;
}

template <class Word>
void expect_equal_to_the_definition() {
  SeededRandom random(sizeof(Word), Purpose::test);
  for (const std::size_t entries :
       {std::size_t{1}, std::size_t{63}, std::size_t{1041}, std::size_t{8192}, mask_slice_entries + 77}) {
    const auto masks = some_masks(3, random);
    std::vector<Word> vector(entries);
    for (Word& entry : vector) entry = static_cast<Word>(random());
    const auto expected = slow_masks(masks, vector);
    ASSERT_TRUE(apply_masks(masks, 0, std::span(vector)));
    EXPECT_EQ(vector, expected);
  }
}

TEST(Masks, AreTheStreamReadAsLittleEndianWords) {
  expect_equal_to_the_definition<std::uint8_t>();
  expect_equal_to_the_definition<std::uint16_t>();
  expect_equal_to_the_definition<std::uint32_t>();
  expect_equal_to_the_definition<std::uint64_t>();
}

TEST(Masks, HaveKnownValues) {
  // The first words of ChaCha20 under the zero key.
  std::vector<std::uint32_t> chacha(2, 0);
  std::vector<Mask> removed(1);
  removed[0].subtract = true;
  ASSERT_TRUE(apply_masks(removed, 0, std::span(chacha)));
  EXPECT_EQ(chacha, (std::vector<std::uint32_t>{0U - 0xade0b876U, 0U - 0x903df1a0U}));
}

TEST(RingVector, MasksTheSameOnOneThreadAndOnMany) {
  SeededRandom random(11, Purpose::test);
  const auto masks = some_masks(5, random);
  for (const unsigned bits : {8U, 14U, 32U, 64U}) {
    auto one = RingVector::zeros(3 * mask_slice_entries + 5, bits);
    auto many = RingVector::zeros(3 * mask_slice_entries + 5, bits);
    ASSERT_TRUE(one && many);
    ASSERT_TRUE(one->apply(masks));
    set_thread_count(4);
    ASSERT_TRUE(many->apply_in_parallel(masks));
    set_thread_count(0);
    EXPECT_EQ(one->entries(), many->entries());
  }
}

RC_GTEST_PROP(RingVector, AddsPackedVectorsModuloItsWidth, ()) {
  const unsigned bits = *rc::gen::element(8U, 11U, 16U, 19U, 25U, 32U, 64U);
  const std::uint64_t largest = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  SeededRandom random(*rc::gen::arbitrary<std::uint64_t>(), Purpose::test);
  std::vector<std::uint64_t> a(*rc::gen::inRange<std::size_t>(0, 5000)), expected(a.size());
  auto sum = RingVector::zeros(a.size(), bits);
  RC_ASSERT(sum.has_value());
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = random() & largest;
      expected[i] = (expected[i] + a[i]) & largest;
    }
    const auto vector = RingVector::of(std::span<const std::uint64_t>(a), bits);
    RC_ASSERT(vector.has_value());
    Bytes packed(packed_bytes(a.size(), bits));
    RC_ASSERT(vector->pack_into(packed).has_value());
    RC_ASSERT(sum->add_packed(packed).has_value());
  }
  RC_ASSERT(sum->entries() == expected);
}

TEST(RingVector, RefusesEntriesAndBytesThatDoNotFit) {
  const std::vector<std::uint32_t> entries{1, 4096};
  EXPECT_FALSE(RingVector::of(std::span(entries), 12));
  EXPECT_FALSE(RingVector::of(std::span(entries), 33));
  auto vector = RingVector::of(std::span(entries), 13);
  ASSERT_TRUE(vector);
  EXPECT_FALSE(vector->add_packed(Bytes(3)));
  EXPECT_FALSE(vector->add_packed(Bytes{0, 0, 0, 0x80}));  // 26 bits used: a bit behind the last entry
  EXPECT_EQ(vector->entries(), (std::vector<std::uint64_t>{1, 4096}));
}

// What the server sees of one client. 2^18 entries of 8 bits: counts of 256 values, chi-square with 255
// degrees of freedom; above 377 once in 10^6 seeds, and the seed is fixed. The input is constant, which
// without masks would be one value only.
TEST(MaskedVector, IsUniformToWhoeverCannotRemoveTheMasks) {
  const VectorShape shape{1 << 18, 8};
  testing_round::Devices devices(4, shape, 21);
  for (auto& input : devices.inputs) std::fill(input.begin(), input.end(), 42);
  const auto group =
      find_parameters({.clients = 4, .corrupted = 0, .dropping = 0.25, .server = ServerModel::semi_honest});
  ASSERT_TRUE(group);
  const auto outcome = testing_round::run_round(devices, {.group = *group});
  const auto message = decode_masked_vector(outcome.sent.at({2, ServerPhase::uploading}), shape);
  ASSERT_TRUE(message);
  std::array<double, 256> counts{}, steps{};
  for (std::size_t i = 0; i < message->packed.size(); ++i) {
    ++counts[message->packed[i]];
    if (i > 0) ++steps[static_cast<std::uint8_t>(message->packed[i] - message->packed[i - 1])];
  }
  double chi_values = 0, chi_steps = 0;
  for (std::size_t value = 0; value < 256; ++value) {
    chi_values += (counts[value] - 1024) * (counts[value] - 1024) / 1024;
    chi_steps += (steps[value] - 1024) * (steps[value] - 1024) / 1024;
  }
  EXPECT_LT(chi_values, 377);
  EXPECT_LT(chi_steps, 377);
}

}  // namespace
}  // namespace sotto::secagg
