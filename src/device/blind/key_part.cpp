#include "device/blind/key_part.h"

#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "blind/public_matrix.h"
#include "privacy/noise/grid_noise.h"

namespace sotto::device {

namespace {

using blind::ring_degree;

// A secret polynomial in the two forms that are needed, gone with the object.
struct Secret {
  std::array<std::int32_t, ring_degree> numbers{};
  blind::RingTransform transformed{};
  Secret() = default;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() {
    sodium_memzero(numbers.data(), sizeof numbers);
    sodium_memzero(transformed.data(), sizeof transformed);
  }
};

// zero[k] += matrix · secret, for all keys at once: a block of the matrix is transformed once.
Status add_matrix_times_secrets(const blind::Shape& shape, std::span<const std::unique_ptr<Secret>> secrets,
                                std::span<SecretWords> zeros) {
  SOTTO_TRY(const auto matrix, blind::public_matrix(shape));
  blind::RingTransform block, product;
  blind::RingWords words;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    blind::transform(std::span<const std::uint32_t>(matrix[i]), block);
    for (std::size_t k = 0; k < secrets.size(); ++k) {
      product.fill(0);
      blind::add_product(product, block, secrets[k]->transformed);
      blind::transform_back(product, words);
      const auto zero = zeros[k].words().subspan(i * ring_degree);
      for (std::size_t j = 0; j < std::min(zero.size(), ring_degree); ++j) zero[j] += words[j];
    }
  }
  sodium_memzero(product.data(), sizeof product);
  sodium_memzero(words.data(), sizeof words);
  return {};
}

}  // namespace

void SecretWords::wipe() {
  if (!words_.empty()) sodium_memzero(words_.data(), words_.size() * sizeof(std::uint32_t));
}

std::vector<std::int32_t> Opening::open(std::span<const std::uint32_t> answer) && {
  const SecretWords masks = std::move(masks_);
  const std::size_t rows = std::min(masks.words().size(), answer.size());
  std::vector<std::int32_t> products(rows);
  const std::uint32_t half = std::uint32_t{1} << (step_bits_ - 1);
  for (std::size_t row = 0; row < rows; ++row) {
    // The nearest multiple of the step; the shift keeps the sign.
    products[row] = static_cast<std::int32_t>(answer[row] - masks.words()[row] + half) >> step_bits_;
  }
  return products;
}

KeyPart::KeyPart(const blind::Parameters& parameters, SecretWords zero, SecretWords masks)
    : parameters_(parameters), zero_(std::move(zero)), masks_(std::move(masks)), owner_(getpid()) {}

Result<std::vector<KeyPart>> KeyPart::prepare(const blind::Parameters& parameters,
                                              std::span<const std::uint32_t> hint, std::size_t count,
                                              privacy::DeviceRandom random) {
  const blind::Shape& shape = parameters.shape;
  SOTTO_CHECK(check(shape));
  if (hint.size() != shape.rows * ring_degree)
    return bad_input("the hint has {} numbers, not {} rows of {}", hint.size(), shape.rows, ring_degree);
  SOTTO_TRY(const auto noise, privacy::DiscreteGaussian::create(blind::error_sigma));
  std::vector<std::unique_ptr<Secret>> secrets;
  std::vector<SecretWords> zeros, masks;
  for (std::size_t k = 0; k < count; ++k) {
    secrets.push_back(std::make_unique<Secret>());
    noise.fill(std::span<std::int32_t>(secrets[k]->numbers), random.source());
    blind::transform(std::span<const std::int32_t>(secrets[k]->numbers), secrets[k]->transformed);
    zeros.emplace_back(shape.columns());
    // The error. A word modulo 2^32 is the same number, signed or not.
    const auto zero = zeros[k].words();
    noise.fill(std::span(reinterpret_cast<std::int32_t*>(zero.data()), zero.size()), random.source());
    masks.emplace_back(shape.rows);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      const auto of_row = hint.subspan(row * ring_degree, ring_degree);
      std::uint32_t sum = 0;
      for (std::size_t j = 0; j < ring_degree; ++j)
        sum += of_row[j] * static_cast<std::uint32_t>(secrets[k]->numbers[j]);
      masks[k].words()[row] = sum;
    }
  }
  SOTTO_CHECK(add_matrix_times_secrets(shape, secrets, zeros));
  std::vector<KeyPart> keys;
  for (std::size_t k = 0; k < count; ++k)
    keys.push_back(KeyPart(parameters, std::move(zeros[k]), std::move(masks[k])));
  return keys;
}

Result<SealedProbe> KeyPart::seal(std::span<const std::int32_t> user, std::uint32_t cluster) && {
  SecretWords zero = std::move(zero_);
  Opening opening(std::move(masks_), parameters_.step_bits);
  const blind::Shape& shape = parameters_.shape;
  if (zero.words().empty()) return bad_input("this key was used already: prepare another one");
  if (owner_ != getpid()) return bad_input("this key was prepared in another process: prepare one here");
  if (user.size() != shape.dimension)
    return bad_input("the user vector has {} numbers, not {}", user.size(), shape.dimension);
  SealedProbe sealed{{zero.words().begin(), zero.words().end()}, std::move(opening)};
  std::uint32_t* word = sealed.words.data();
  for (std::uint32_t block = 0; block < shape.clusters; ++block) {
    // All ones in the one block, zero elsewhere: every word is written, and no address tells which it is.
    const std::uint32_t difference = block ^ cluster;
    const std::uint32_t chosen = ((difference | (0U - difference)) >> 31) - 1;
    for (const std::int32_t entry : user)
      *word++ += (static_cast<std::uint32_t>(entry) & chosen) << parameters_.step_bits;
  }
  return sealed;
}

privacy::PrivacyEvent blind_event(const blind::Shape& shape) {
  privacy::PrivacyEvent event{privacy::ApproximateDp{0, 0x1p-100}, privacy::Adjacency::replace_one,
                              privacy::Unit::user};
  const double drawn = static_cast<double>(shape.probes) * static_cast<double>(shape.columns() + ring_degree);
  // All of the sampler's distance as δ: an ε of 0 stays one.
  event.total_variation = drawn * (privacy::GridNoise::total_variation + privacy::GridNoise::log_ratio);
  return event;
}

}  // namespace sotto::device
