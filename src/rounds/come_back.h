#pragma once
// When devices are to ask for an order again: what a coordinator says to all of them alike, so that nobody
// can be told by when it was sent away. Pure functions.
//
//   spread  each at a time of its own between half and one and a half times as long from now, which it draws
//           itself: a large population comes evenly
//   meet    all at one moment, as long from now: a small one would otherwise never be there together

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"

namespace sotto::rounds {

struct ComeBack {
  enum class How : std::uint8_t { spread, meet };
  How how = How::spread;
  std::chrono::milliseconds time{0};
  bool operator==(const ComeBack&) const = default;
};
inline constexpr std::chrono::milliseconds latest_come_back = std::chrono::hours(24);

// "spread=12000", in a header of the answer to GET /v1/order.
inline constexpr std::string_view come_back_header = "Sotto-Come-Back";
std::string to_text(const ComeBack& come_back);
// None for what nobody writes, and for times beyond a day: a device is not sent away for good.
std::optional<ComeBack> parse_come_back(std::string_view text);

// How long one device stays away.
std::chrono::milliseconds draw(const ComeBack& come_back, RandomSource& random);

// What to say, so that about 1.3 cohorts come in each period: T = devices · period / (1.3 · cohort). A
// population that would come more than half as often as rounds are is asked to meet at the next one; nothing
// is said to it while one is open.
struct Crowd {
  std::uint64_t devices = 0, cohort = 0;
  std::chrono::milliseconds period{0};              // from order to order
  std::optional<std::chrono::milliseconds> next{};  // until an order is expected; none: one is open
};
std::optional<ComeBack> steer(const Crowd& crowd);

}  // namespace sotto::rounds
