// Known answers and properties of what the protocol is built from.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/random.h"
#include "secagg/shared/key_exchange.h"
#include "secagg/shared/masks.h"
#include "secagg/shared/sealed_shares.h"
#include "secagg/shared/shamir.h"

namespace sotto::secagg {
namespace {

Bytes from_hex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(16 * digit(hex[i]) + digit(hex[i + 1])));
  }
  return bytes;
}

std::string to_hex(ByteView bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

Seed seed_of(std::uint8_t value) {
  Seed seed;
  seed.data()[0] = value;
  return seed;
}

// Serves the words it was given, then zeros.
class FixedWords final : public RandomSource {
 public:
  explicit FixedWords(std::vector<std::uint64_t> words) : words_(std::move(words)) {}
  void fill(std::span<std::uint64_t> out) override {
    for (auto& word : out) word = at_ < words_.size() ? words_[at_++] : 0;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t at_ = 0;
};

SharePoint at(const SecretPolynomial& polynomial, std::uint32_t point) {
  SharePoint result{point, {}};
  const Share share = polynomial.share_at(point);
  std::copy(share.view().begin(), share.view().end(), result.share.begin());
  return result;
}

TEST(Hkdf, GivesTheAnswersOfRfc5869) {
  Bytes out(42);
  hkdf_sha256(Bytes(22, 0x0b), from_hex("000102030405060708090a0b0c"), from_hex("f0f1f2f3f4f5f6f7f8f9"), out);
  EXPECT_EQ(to_hex(out),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  hkdf_sha256(Bytes(22, 0x0b), {}, {}, out);
  EXPECT_EQ(to_hex(out),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(MaskStream, IsThePublishedOneOfTheZeroKey) {
  std::array<std::uint8_t, 128> chacha{};
  read_stream(Key{}, 0, chacha);
  EXPECT_EQ(to_hex(chacha),
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
            "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
            "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f");
}

TEST(MaskStream, ContinuesTheSameFromAnyBlock) {
  SeededRandom random(1, Purpose::test);
  const Key key = Key::random(privacy::DeviceRandom::simulated(random));
  std::array<std::uint8_t, 4096> whole{}, part{};
  read_stream(key, 0, whole);
  for (const std::uint32_t block : {1U, 16U, 17U, 63U}) {
    const std::size_t position = block * stream_block_bytes;
    const auto rest = std::span(part).first(whole.size() - position);
    read_stream(key, block, rest);
    EXPECT_TRUE(std::equal(rest.begin(), rest.end(), whole.begin() + static_cast<std::ptrdiff_t>(position)));
  }
}

// Of every length around the sixteen blocks that are made at once, from blocks around the end of the
// counter's low bytes.
TEST(MaskStream, IsThatOfLibsodium) {
  SeededRandom random(2, Purpose::test);
  const std::array<std::uint8_t, crypto_stream_chacha20_ietf_NONCEBYTES> nonce{};
  for (const std::uint32_t block : {0U, 1U, 250U, 65530U, 0xfffffff0U - 40U}) {
    for (const std::size_t length : {1U, 64U, 1023U, 1024U, 1025U, 2048U + 65U}) {
      const Key key = Key::random(privacy::DeviceRandom::simulated(random));
      Bytes expected(length), ours(length, 0xaa);
      crypto_stream_chacha20_ietf_xor_ic(expected.data(), expected.data(), length, nonce.data(), block,
                                         key.data());
      read_stream(key, block, ours);
      EXPECT_EQ(ours, expected) << length << " bytes from block " << block;
    }
  }
}

TEST(SecretSharing, EvaluatesTheKnownPolynomial) {
  // f(x) = 200 + 5x + 7x²: the coefficients are 64 random bytes each, lowest first.
  FixedWords words({5, 0, 0, 0, 0, 0, 0, 0, 7});
  const SecretPolynomial polynomial(seed_of(200), 3, privacy::DeviceRandom::simulated(words));
  const auto share = polynomial.share_at(10);
  EXPECT_EQ(to_hex(share.view()), "b603" + std::string(60, '0'));  // 950
  const auto seed = combine(std::vector{at(polynomial, 1), at(polynomial, 9), at(polynomial, 65535)});
  ASSERT_TRUE(seed) << seed.error().message;
  EXPECT_TRUE(seed->equals(seed_of(200)));
  // A fourth value follows from three.
  const auto fourth = interpolate(std::vector{at(polynomial, 1), at(polynomial, 2), at(polynomial, 3)}, 10);
  ASSERT_TRUE(fourth);
  EXPECT_TRUE(fourth->equals(share));
}

RC_GTEST_PROP(SecretSharing, AnyThresholdManySharesGiveTheSecretAndOneFewerAnother, ()) {
  SeededRandom random(*rc::gen::arbitrary<std::uint64_t>(), Purpose::test);
  const auto device = privacy::DeviceRandom::simulated(random);
  const auto threshold = *rc::gen::inRange<std::uint32_t>(2, 20);
  const Seed secret = Seed::random(device);
  const SecretPolynomial polynomial(secret, threshold, device);
  const auto chosen = *rc::gen::unique<std::vector<std::uint32_t>>(
      threshold, rc::gen::inRange<std::uint32_t>(1, max_share_point + 1));
  std::vector<SharePoint> shares;
  shares.reserve(chosen.size());
  for (const std::uint32_t point : chosen) shares.push_back(at(polynomial, point));
  const auto seed = combine(shares);
  RC_ASSERT(seed.has_value());
  RC_ASSERT(seed->equals(secret));
  shares.pop_back();
  const auto wrong = combine(shares);
  RC_ASSERT(!wrong || !wrong->equals(secret));
}

TEST(SecretSharing, RefusesWhatIsNoShare) {
  SharePoint zero{0, {}}, one{1, {}}, large{65536, {}}, not_reduced{2, {}};
  not_reduced.share.fill(0xff);
  EXPECT_FALSE(combine(std::vector<SharePoint>{}));
  EXPECT_FALSE(combine(std::vector{zero}));
  EXPECT_FALSE(combine(std::vector{large}));
  EXPECT_FALSE(combine(std::vector{one, one}));
  EXPECT_FALSE(combine(std::vector{one, not_reduced}));
}

// With one share fewer than the threshold every secret is equally possible: the shares of two different
// secrets are the same random numbers. Checked on the lowest byte of one share (chi-square with 255 degrees
// of freedom; a false alarm once in 10^6 seeds, and the seed is fixed).
TEST(SecretSharing, OneShareBelowTheThresholdIsUniform) {
  SeededRandom random(5, Purpose::test);
  constexpr int draw_count = 25600;
  std::array<int, 256> counts{};
  for (int i = 0; i < draw_count; ++i) {
    const SecretPolynomial polynomial(seed_of(1), 2, privacy::DeviceRandom::simulated(random));
    ++counts[polynomial.share_at(3).data()[0]];
  }
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 100.0) * (count - 100.0) / 100.0;
  EXPECT_LT(chi_square, 377);
}

struct Pair {
  KeyPair a, b;
};

Pair pair_of(KeyUse use) {
  SeededRandom random(9, Purpose::test);
  const auto device = privacy::DeviceRandom::simulated(random);
  auto a = KeyPair::from_seed(Seed::random(device), use, {});
  auto b = KeyPair::from_seed(Seed::random(device), use, {});
  EXPECT_TRUE(a && b);
  return {std::move(*a), std::move(*b)};
}

TEST(KeyExchange, GivesBothSidesTheSameMaskKeyBoundToAllOfItsContext) {
  const auto [a, b] = pair_of(KeyUse::mask);
  const Digest transcript{1}, other{2};
  const auto one = pair_mask_key(a, 3, {8, b.public_key()}, transcript);
  const auto two = pair_mask_key(b, 8, {3, a.public_key()}, transcript);
  ASSERT_TRUE(one && two);
  EXPECT_TRUE(one->equals(*two));
  EXPECT_FALSE(one->equals(*pair_mask_key(a, 3, {8, b.public_key()}, other)));
  EXPECT_FALSE(one->equals(*pair_mask_key(a, 3, {9, b.public_key()}, transcript)));
  EXPECT_FALSE(one->equals(*pair_mask_key(a, 4, {8, b.public_key()}, transcript)));
}

TEST(KeyExchange, RefusesKeysOfSmallOrder) {
  const auto [a, b] = pair_of(KeyUse::mask);
  PublicKey one{1};
  for (const PublicKey& worthless : {PublicKey{}, one}) {
    EXPECT_TRUE(has_small_order(worthless));
    EXPECT_FALSE(a.agree(worthless));
  }
  EXPECT_FALSE(has_small_order(b.public_key()));
}

TEST(SealedShares, OpenOnlyForTheReceiverAndOnlyInOneDirection) {
  const auto [a, b] = pair_of(KeyUse::channel);
  const Digest transcript{1};
  const auto from_a = share_keys_between(a, 0, {1, b.public_key()}, transcript);
  const auto from_b = share_keys_between(b, 1, {0, a.public_key()}, transcript);
  ASSERT_TRUE(from_a && from_b);
  SharePair shares;
  shares.mask_key.data()[0] = 7;
  shares.self_mask.data()[5] = 9;
  auto sealed = seal(shares, from_a->sending);
  ASSERT_TRUE(sealed);
  const auto opened = open(*sealed, from_b->receiving);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->mask_key.equals(shares.mask_key));
  EXPECT_TRUE(opened->self_mask.equals(shares.self_mask));
  EXPECT_FALSE(open(*sealed, from_b->sending));
  (*sealed)[40] ^= 1;
  EXPECT_FALSE(open(*sealed, from_b->receiving));
}

TEST(Identity, SignsWhatOnlyItsPublicKeyVerifies) {
  SeededRandom random(3, Purpose::test);
  const auto one = Identity::create(privacy::DeviceRandom::simulated(random));
  const auto two = Identity::create(privacy::DeviceRandom::simulated(random));
  const Digest statement{4}, another{5};
  const auto signature = one.sign(statement);
  EXPECT_TRUE(verify(signature, statement, one.public_key()));
  EXPECT_FALSE(verify(signature, another, one.public_key()));
  EXPECT_FALSE(verify(signature, statement, two.public_key()));
}

}  // namespace
}  // namespace sotto::secagg
