#include "data/newsroom/shelf.h"

#include <algorithm>
#include <cmath>

#include "base/distributions.h"

namespace sotto::newsroom {
namespace {

constexpr Seconds fresh_for = 24 * 3600;
constexpr std::size_t least_scale = 10;
constexpr std::size_t shelf_length = 4;  // in scales: exp(-4) is where freshness has faded
constexpr std::uint32_t tries_per_item = 12;

}  // namespace

std::size_t Shelf::published_before(Seconds time) const {
  const auto end = std::lower_bound(items_.begin(), items_.end(), time,
                                    [](const Item& item, Seconds t) { return item.published < t; });
  return static_cast<std::size_t>(end - items_.begin());
}

void Shelf::draw(Seconds now, std::uint32_t wanted, RandomSource& random, std::vector<std::uint32_t>& out) {
  out.clear();
  ++draw_;
  const std::size_t end = published_before(now);
  const std::size_t scale = std::max(least_scale, end - published_before(now - fresh_for));
  const std::size_t length = std::min(end, shelf_length * scale);
  const std::size_t count = std::min<std::size_t>(wanted, length / 2);
  const double reach = 1 - std::exp(-static_cast<double>(length) / static_cast<double>(scale));
  for (std::size_t tries = tries_per_item * count; tries > 0 && out.size() < count; --tries) {
    // Inverse of the truncated exponential distribution of the age rank.
    const double rank = -static_cast<double>(scale) * std::log1p(-reach * uniform01(random));
    const std::size_t item = end - 1 - std::min(static_cast<std::size_t>(rank), length - 1);
    if (read_by_[item] == reader_ || drawn_in_[item] == draw_) continue;
    drawn_in_[item] = draw_;
    out.push_back(static_cast<std::uint32_t>(item));
  }
}

}  // namespace sotto::newsroom
