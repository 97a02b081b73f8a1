#include "privacy/accounting/real_transform.h"

#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace sotto::privacy {

RealTransform::RealTransform(std::size_t points)
    : half_(points / 2), circle_(half_), turns_(half_), work_(half_), other_(half_) {
  for (std::size_t k = 0; k < half_; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(points);
    turns_.real[k] = std::cos(angle);
    turns_.imaginary[k] = std::sin(angle);
  }
  for (std::size_t k = 0; k < half_; ++k) {
    const bool first = 2 * k < half_;
    const std::size_t at = first ? 2 * k : 2 * k - half_;
    circle_.real[k] = first ? turns_.real[at] : -turns_.real[at];
    circle_.imaginary[k] = first ? turns_.imaginary[at] : -turns_.imaginary[at];
  }
}

RealTransform& RealTransform::of(std::size_t points) {
  thread_local std::array<std::unique_ptr<RealTransform>, std::countr_zero(most_kept) + 1> kept;
  auto& transform = kept.at(static_cast<std::size_t>(std::countr_zero(points)));
  if (!transform) transform = std::make_unique<RealTransform>(points);
  return *transform;
}

SplitNumbers RealTransform::transform(SplitNumbers from, SplitNumbers to) {
  std::size_t length = half_;
  for (; length >= 4; length /= 4, std::swap(from, to))
    transform_by_four(from, to, circle_.parts(), length / 4, half_ / length);
  if (length == 2) {
    transform_by_two(from, to, half_ / 2);
    std::swap(from, to);
  }
  return from;
}

void RealTransform::forward(std::span<const double> values, std::vector<std::complex<double>>& spectrum) {
  for (std::size_t k = 0; k < half_; ++k) {
    work_.real[k] = values[2 * k];
    work_.imaginary[k] = values[2 * k + 1];
  }
  const SplitNumbers packed = transform(work_.parts(), other_.parts());
  spectrum.resize(half_ + 1);
  spectrum[0] = packed.real[0] + packed.imaginary[0];
  spectrum[half_] = packed.real[0] - packed.imaginary[0];
  for (std::size_t k = 1; k < half_; ++k) {
    // Of the even places, and of the odd ones times i.
    const std::size_t mirror = half_ - k;
    const double even_x = (packed.real[k] + packed.real[mirror]) / 2;
    const double even_y = (packed.imaginary[k] - packed.imaginary[mirror]) / 2;
    const double odd_x = (packed.imaginary[k] + packed.imaginary[mirror]) / 2;
    const double odd_y = (packed.real[mirror] - packed.real[k]) / 2;
    const double c = turns_.real[k], s = turns_.imaginary[k];
    spectrum[k] = {even_x + c * odd_x - s * odd_y, even_y + c * odd_y + s * odd_x};
  }
}

void RealTransform::inverse(std::span<const std::complex<double>> spectrum, std::vector<double>& values) {
  const double scale = 1 / static_cast<double>(half_);
  for (std::size_t k = 0; k < half_; ++k) {
    const std::complex<double> low = spectrum[k];
    const std::complex<double> high = spectrum[half_ - k];
    const double even_x = (low.real() + high.real()) / 2, even_y = (low.imag() - high.imag()) / 2;
    const double apart_x = (low.real() - high.real()) / 2, apart_y = (low.imag() + high.imag()) / 2;
    const double c = turns_.real[k], s = -turns_.imaginary[k];
    const double odd_x = c * apart_x - s * apart_y, odd_y = c * apart_y + s * apart_x;
    work_.real[k] = scale * (even_x - odd_y);
    work_.imaginary[k] = scale * (even_y + odd_x);
  }
  // Real and imaginary parts exchanged, the transform is its own inverse.
  const SplitNumbers answer = transform(work_.swapped(), other_.swapped());
  values.resize(points());
  for (std::size_t k = 0; k < half_; ++k) {
    values[2 * k] = answer.imaginary[k];
    values[2 * k + 1] = answer.real[k];
  }
}

}  // namespace sotto::privacy
