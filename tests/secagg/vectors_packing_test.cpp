// Bit packing: equal to a bit-by-bit reference, one encoding per vector, hostile lengths refused.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "secagg/vectors/bit_packing.h"

namespace sotto::secagg {
namespace {

using Bytes = std::vector<std::uint8_t>;

template <class Entry>
Bytes packed_bit_by_bit(const std::vector<Entry>& entries, unsigned bits) {
  Bytes bytes((entries.size() * bits + 7) / 8);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    for (unsigned b = 0; b < bits; ++b) {
      const std::size_t at = i * bits + b;
      bytes[at / 8] |= static_cast<std::uint8_t>((std::uint64_t{entries[i]} >> b & 1) << at % 8);
    }
  }
  return bytes;
}

template <class Entry>
void packs_like_the_reference() {
  SeededRandom random(1, Purpose::test);
  for (unsigned bits = 8; bits <= 64; ++bits) {
    if (!is_wire_width(bits) || bits > 8 * sizeof(Entry)) continue;
    for (const std::size_t length : {0UL, 1UL, 7UL, 8UL, 9UL, 511UL, 512UL, 513UL, 1029UL}) {
      std::vector<Entry> entries(length), reduced(length), back(length);
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
      for (std::size_t i = 0; i < length; ++i) {
        entries[i] = static_cast<Entry>(random());
        reduced[i] = static_cast<Entry>(entries[i] & mask);
      }
      Bytes bytes(packed_bytes(length, bits), 0xAA);
      ASSERT_TRUE(pack(entries, bits, bytes).has_value());
      ASSERT_EQ(bytes, packed_bit_by_bit(entries, bits)) << bits << " bits, " << length << " entries";
      ASSERT_TRUE(unpack(bytes, bits, back).has_value());
      ASSERT_EQ(back, reduced) << bits << " bits, " << length << " entries";
    }
  }
}

TEST(BitPacking, EqualsTheBitByBitReferenceForBytes) { packs_like_the_reference<std::uint8_t>(); }
TEST(BitPacking, EqualsTheBitByBitReferenceFor16BitEntries) { packs_like_the_reference<std::uint16_t>(); }
TEST(BitPacking, EqualsTheBitByBitReferenceFor32BitEntries) { packs_like_the_reference<std::uint32_t>(); }
TEST(BitPacking, EqualsTheBitByBitReferenceFor64BitEntries) { packs_like_the_reference<std::uint64_t>(); }

TEST(BitPacking, BlocksOfAMultipleOfEightEntriesJoinSeamlessly) {
  SeededRandom random(2, Purpose::test);
  std::vector<std::uint32_t> entries(100);
  for (auto& entry : entries) entry = static_cast<std::uint32_t>(random());
  const std::span<const std::uint32_t> all(entries);
  for (unsigned bits = 8; bits <= 32; ++bits) {
    Bytes whole(packed_bytes(100, bits)), joined(packed_bytes(100, bits));
    ASSERT_TRUE(pack(all, bits, whole).has_value());
    const std::size_t middle = packed_bytes(40, bits);
    ASSERT_TRUE(pack(all.first(40), bits, std::span(joined).first(middle)).has_value());
    ASSERT_TRUE(pack(all.subspan(40), bits, std::span(joined).subspan(middle)).has_value());
    ASSERT_EQ(whole, joined) << bits;
  }
}

RC_GTEST_PROP(BitPacking, EveryAcceptedMessageIsTheEncodingOfWhatItDecodesTo, ()) {
  const auto bits = *rc::gen::inRange(8U, 33U);
  const auto length = *rc::gen::inRange<std::size_t>(0, 70);
  const auto bytes =
      *rc::gen::container<Bytes>(packed_bytes(length, bits), rc::gen::arbitrary<std::uint8_t>());
  std::vector<std::uint32_t> entries(length);
  if (!unpack(bytes, bits, entries)) RC_DISCARD("padding bits set");
  Bytes again(bytes.size());
  RC_ASSERT(pack(entries, bits, again).has_value());
  RC_ASSERT(again == bytes);
}

TEST(BitPacking, RefusesWrongLengths) {
  std::vector<std::uint32_t> entries(5);
  for (const std::size_t bytes : {0UL, 7UL, 9UL, 20UL}) {  // 5 entries of 12 bits are 8 bytes
    const auto status = unpack(Bytes(bytes), 12, entries);
    ASSERT_FALSE(status.has_value());
    EXPECT_NE(status.error().message.find("take 8 bytes"), std::string::npos) << status.error().message;
    Bytes out(bytes);
    EXPECT_FALSE(pack(entries, 12, out).has_value());
  }
}

TEST(BitPacking, RefusesPaddingBitsThatAreNotZero) {
  std::vector<std::uint32_t> entries(5);
  Bytes bytes(8);
  bytes[7] = 0x0F;
  EXPECT_TRUE(unpack(bytes, 12, entries).has_value());
  for (const std::uint8_t set : {0x10, 0x20, 0x40, 0x80}) {
    bytes[7] = set;
    EXPECT_FALSE(unpack(bytes, 12, entries).has_value());
  }
}

TEST(BitPacking, RefusesWidthsThatTheWireOrTheEntryTypeDoesNotHave) {
  std::vector<std::uint64_t> wide(3);
  Bytes out(64);
  for (const unsigned bits : {0U, 1U, 7U, 33U, 48U, 63U, 65U, 128U}) {
    EXPECT_FALSE(pack(wide, bits, out).has_value()) << bits;
    EXPECT_FALSE(unpack(out, bits, wide).has_value()) << bits;
  }
  std::vector<std::uint8_t> narrow(8);
  EXPECT_FALSE(unpack(Bytes(9), 9, narrow).has_value());
  std::vector<std::uint32_t> middle(1);
  EXPECT_FALSE(unpack(Bytes(8), 64, middle).has_value());
}

TEST(BitPacking, AnImpossibleCountHasAnImpossibleSize) {
  EXPECT_EQ(packed_bytes(SIZE_MAX, 64), SIZE_MAX);
  EXPECT_EQ(packed_bytes(SIZE_MAX / 4, 64), SIZE_MAX);
  EXPECT_EQ(packed_bytes(SIZE_MAX, 8), SIZE_MAX);
  EXPECT_EQ(packed_bytes(3, 9), 4U);
}

}  // namespace
}  // namespace sotto::secagg
